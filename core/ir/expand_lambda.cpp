#include "core/ir/expand_lambda.h"

#include <array>
#include <cmath>
#include <optional>

namespace stave {
namespace {

using NodeOp = LambdaNode::Op;

struct LambdaFunction {
  std::string_view name;
  NodeOp op;
  std::size_t arguments;
  bool floats_only;
};
constexpr std::array<LambdaFunction, 12> functions = {{{"abs", NodeOp::Abs, 1, false},
                                                       {"exp", NodeOp::Exp, 1, true},
                                                       {"log", NodeOp::Log, 1, true},
                                                       {"sin", NodeOp::Sin, 1, true},
                                                       {"cos", NodeOp::Cos, 1, true},
                                                       {"tanh", NodeOp::Tanh, 1, true},
                                                       {"sqrt", NodeOp::Sqrt, 1, true},
                                                       {"rsqrt", NodeOp::Rsqrt, 1, true},
                                                       {"erf", NodeOp::Erf, 1, true},
                                                       {"min", NodeOp::Min, 2, false},
                                                       {"max", NodeOp::Max, 2, false},
                                                       {"select", NodeOp::Select, 3, false}}};

NodeOp node_op(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return NodeOp::Add;
    case BinaryOp::Sub: return NodeOp::Sub;
    case BinaryOp::Mul: return NodeOp::Mul;
    case BinaryOp::Div: return NodeOp::Div;
    case BinaryOp::FloorDiv: return NodeOp::FloorDiv;
    case BinaryOp::Mod: return NodeOp::Mod;
    case BinaryOp::Lt: return NodeOp::Lt;
    case BinaryOp::Le: return NodeOp::Le;
    case BinaryOp::Eq: return NodeOp::Eq;
    case BinaryOp::Ne: return NodeOp::Ne;
    case BinaryOp::Gt: return NodeOp::Gt;
    case BinaryOp::Ge: return NodeOp::Ge;
  }
  return NodeOp::Add;
}

// A node, or a number that has no dtype yet.
struct Term {
  bool typed = false;
  std::uint32_t node = 0;
  Value literal;
};

class Compiler {
 public:
  Compiler(Evaluation& names, std::span<const Dtype> operands, Dtype otherwise)
      : names_(names), operands_(operands), otherwise_(otherwise) {}

  Result<Lambda> run(ExprId id) {
    ExprId body = id;
    if (names_.expr(id).kind == ExprKind::Lambda) {
      const auto parts = names_.children(names_.expr(id));
      body = parts.back();
      for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
        const StringId name = names_.expr(parts[i]).string();
        for (const StringId other : arguments_)
          if (other == name)
            return names_.fail(names_.expr(parts[i]).loc, "STV0260", "the lambda names `{}` twice",
                               names_.module().text(name));
        arguments_.push_back(name);
        LambdaNode node;
        node.op = NodeOp::Argument;
        node.dtype = i < operands_.size() ? operands_[i] : otherwise_;
        node.a = static_cast<std::uint32_t>(i);
        add(node);
      }
    } else if (!operands_.empty()) {
      return names_.fail(names_.expr(id).loc, "STV0261", "expected a lambda of {} name(s), got {}", operands_.size(),
                         kind_text(names_.expr(id).kind));
    }
    out_.arity = static_cast<std::uint32_t>(arguments_.size());
    const Expr top = names_.expr(body);
    if (top.kind == ExprKind::Tuple) {
      for (const ExprId part : names_.children(top)) {
        TRY(const std::uint32_t node, result(part));
        out_.results.push_back(node);
      }
    } else {
      TRY(const std::uint32_t node, result(body));
      out_.results.push_back(node);
    }
    return std::move(out_);
  }

 private:
  std::uint32_t add(const LambdaNode& node) {
    out_.nodes.push_back(node);
    return static_cast<std::uint32_t>(out_.nodes.size() - 1);
  }
  Term term(const LambdaNode& node) { return {true, add(node), {}}; }
  Dtype dtype(const Term& t) const { return out_.nodes[t.node].dtype; }

  Result<std::uint32_t> result(ExprId id) {
    TRY(const Term t, compile(id));
    return typed(t, otherwise_, id);
  }

  Result<std::uint32_t> typed(const Term& t, Dtype as, ExprId where) {
    if (t.typed) return t.node;
    LambdaNode node;
    node.op = NodeOp::Constant;
    node.dtype = as;
    TRY(node.value, names_.scalar_of(t.literal, as, names_.expr(where).loc));
    return add(node);
  }

  // Both with one dtype: literals take the other's.
  Result<Dtype> unify(Term& a, ExprId a_id, Term& b, ExprId b_id, ExprId whole) {
    const Dtype as = a.typed ? dtype(a) : b.typed ? dtype(b) : otherwise_;
    TRY(a.node, typed(a, as, a_id));
    TRY(b.node, typed(b, as, b_id));
    a.typed = b.typed = true;
    if (dtype(a) != dtype(b))
      return names_.fail(names_.expr(whole).loc, "STV0262",
                         "both sides need one dtype, got {} and {}; there is no promotion, cast one as {}(...)",
                         name_of(dtype(a)), name_of(dtype(b)), name_of(dtype(a)));
    return as;
  }

  Result<Term> compile(ExprId id) {
    if (depth_ >= max_expand_nesting)
      return names_.fail(names_.expr(id).loc, "STV0219", "an expression is nested more than {} deep",
                         max_expand_nesting);
    ++depth_;
    Result<Term> out = nested(id);
    --depth_;
    return out;
  }

  Result<Term> nested(ExprId id) {
    const Expr e = names_.expr(id);
    switch (e.kind) {
      case ExprKind::Name:
        for (std::size_t i = 0; i < arguments_.size(); ++i)
          if (arguments_[i] == e.string()) return Term{true, static_cast<std::uint32_t>(i), {}};
        return constant(id);
      case ExprKind::Integer:
      case ExprKind::Float:
      case ExprKind::Typed: return constant(id);
      case ExprKind::Negate: {
        TRY(Term a, compile(e.a()));
        if (!a.typed) {
          if (a.literal.kind == Value::Kind::Number) {
            a.literal.number = -a.literal.number;
            return a;
          }
          if (!__builtin_sub_overflow(std::int64_t{0}, a.literal.integer.constant, &a.literal.integer.constant))
            return a;
          return names_.fail(e.loc, "STV0242", "the negated number does not fit 64 bits");
        }
        if (dtype(a) == Dtype::Bool) return no_arithmetic(id, "-");
        LambdaNode node;
        node.op = NodeOp::Neg;
        node.dtype = dtype(a);
        node.a = a.node;
        return term(node);
      }
      case ExprKind::Binary: return binary(id, e);
      case ExprKind::Apply: return apply(id, e);
      default: return names_.expected(id, "a value of a lambda");
    }
  }

  Failure no_arithmetic(ExprId id, std::string_view what) {
    return names_.fail(names_.expr(id).loc, "STV0263", "`{}` is not defined for bool; use select or a cast", what);
  }

  // What does not depend on arguments.
  Result<Term> constant(ExprId id) {
    TRY(const Value v, names_.value(id));
    if (v.kind == Value::Kind::Word || (v.kind == Value::Kind::Integer && v.integer.varying))
      return names_.expected(id, "a number", v);
    if (v.kind == Value::Kind::Integer || v.kind == Value::Kind::Number) return Term{false, 0, v};
    LambdaNode node;
    node.op = NodeOp::Constant;
    const auto named = v.kind == Value::Kind::Typed ? dtype_named(v.word) : std::optional<Dtype>(Dtype::Bool);
    if (!named) return names_.expected(id, "a number", v);
    node.dtype = *named;
    TRY(node.value, names_.scalar_of(v, *named, names_.expr(id).loc));
    return term(node);
  }

  Result<Term> literal_binary(ExprId id, const Expr& e, const Term& a, const Term& b) {
    const auto number = [](const Value& v) {
      return v.kind == Value::Kind::Number ? v.number : static_cast<double>(v.integer.constant);
    };
    const Value &x = a.literal, &y = b.literal;
    if (e.op == BinaryOp::Div && is_float(otherwise_)) return Term{false, 0, Value::of_number(number(x) / number(y))};
    return constant(id);
  }

  Result<Term> binary(ExprId id, const Expr& e) {
    TRY(Term a, compile(e.a()));
    TRY(Term b, compile(e.b()));
    const bool compares = e.op >= BinaryOp::Lt;
    if (!a.typed && !b.typed && !compares) return literal_binary(id, e, a, b);
    TRY(const Dtype both, unify(a, e.a(), b, e.b(), id));
    if (both == Dtype::Bool && e.op != BinaryOp::Eq && e.op != BinaryOp::Ne) return no_arithmetic(id, name_of(e.op));
    LambdaNode node;
    node.op = node_op(e.op);
    node.dtype = compares ? Dtype::Bool : both;
    node.a = a.node;
    node.b = b.node;
    return term(node);
  }

  Result<Term> apply(ExprId id, const Expr& e) {
    const auto parts = names_.children(e);
    const std::string_view name = names_.module().text(names_.expr(parts[0]).string());
    if (name == "axis_size" || name == "axis_index") return constant(id);
    LambdaNode node;
    if (const auto to = dtype_named(name); to && parts.size() == 2) {
      TRY(const Term a, compile(parts[1]));
      node.dtype = *to;
      if (!a.typed) {
        node.op = NodeOp::Constant;
        TRY(node.value, names_.scalar_of(a.literal, *to, e.loc));
        return term(node);
      }
      node.op = NodeOp::Cast;
      node.a = a.node;
      return term(node);
    }
    for (const LambdaFunction& f : functions) {
      if (f.name != name) continue;
      if (parts.size() != f.arguments + 1)
        return names_.fail(e.loc, "STV0264", "`{}` takes {} value(s), got {}", name, f.arguments, parts.size() - 1);
      node.op = f.op;
      TRY(Term first, compile(parts[1]));
      if (f.op == NodeOp::Select) return select(id, parts, first);
      if (f.arguments == 2) {
        TRY(Term second, compile(parts[2]));
        TRY(node.dtype, unify(first, parts[1], second, parts[2], id));
        node.b = second.node;
      } else {
        TRY(first.node, typed(first, otherwise_, parts[1]));
        first.typed = true;
        node.dtype = dtype(first);
      }
      node.a = first.node;
      if (node.dtype == Dtype::Bool) return no_arithmetic(id, name);
      if (f.floats_only && !is_float(node.dtype))
        return names_.fail(e.loc, "STV0265", "`{}` is defined for floats, got {}", name, name_of(node.dtype));
      return term(node);
    }
    std::string known;
    for (const LambdaFunction& f : functions) known += fmt::format("{}{}", known.empty() ? "" : " ", f.name);
    return names_.fail(e.loc, "STV0264", "unknown function `{}`; lambdas have {} and casts such as f32(x)", name,
                       known);
  }

  Result<Term> select(ExprId id, std::span<const ExprId> parts, const Term& test) {
    if (!test.typed || dtype(test) != Dtype::Bool)
      return names_.fail(names_.expr(parts[1]).loc, "STV0265",
                         "select takes a bool first, such as a comparison, got {}",
                         test.typed ? name_of(dtype(test)) : "a number");
    TRY(Term yes, compile(parts[2]));
    TRY(Term no, compile(parts[3]));
    LambdaNode node;
    node.op = NodeOp::Select;
    TRY(node.dtype, unify(yes, parts[2], no, parts[3], id));
    node.a = test.node;
    node.b = yes.node;
    node.c = no.node;
    return term(node);
  }

  Evaluation& names_;
  std::span<const Dtype> operands_;
  Dtype otherwise_;
  std::vector<StringId> arguments_;
  Lambda out_;
  int depth_ = 0;
};

}  // namespace

Result<Lambda> compile_lambda(Evaluation& names, ExprId body, std::span<const Dtype> operands, Dtype otherwise) {
  return Compiler(names, operands, otherwise).run(body);
}

}  // namespace stave
