#include "core/ir/expand_values.h"

#include <algorithm>
#include <cmath>

namespace stave {
namespace {

using Kind = Value::Kind;

bool is_numeric(const Value& v) { return v.kind == Kind::Integer || v.kind == Kind::Number; }
double as_number(const Value& v) {
  return v.kind == Kind::Integer ? static_cast<double>(v.integer.constant) : v.number;
}

template <class T>
bool holds(BinaryOp op, T a, T b) {
  switch (op) {
    case BinaryOp::Lt: return a < b;
    case BinaryOp::Le: return a <= b;
    case BinaryOp::Eq: return a == b;
    case BinaryOp::Ne: return a != b;
    case BinaryOp::Gt: return a > b;
    default: return a >= b;
  }
}

CoordExpr::Op coord_op(BinaryOp op) {
  switch (op) {
    case BinaryOp::Add: return CoordExpr::Op::Add;
    case BinaryOp::Sub: return CoordExpr::Op::Sub;
    case BinaryOp::Mul: return CoordExpr::Op::Mul;
    case BinaryOp::Mod: return CoordExpr::Op::Mod;
    default: return CoordExpr::Op::Div;
  }
}

bool is_type_word(std::string_view word) {
  return dtype_named(word) || word == "computation" || word == "communication" || word == "in" || word == "out" ||
         word == "tensor_map";
}

}  // namespace

namespace {

std::string number_text(double v) {
  std::string out = fmt::format("{}", v);
  return out.find_first_not_of("-0123456789") == std::string::npos ? out + ".0" : out;
}

}  // namespace

std::string to_text(const Value& v) {
  switch (v.kind) {
    case Kind::Integer:
      return v.integer.varying ? "a value that depends on axis_index" : std::to_string(v.integer.constant);
    case Kind::Number: return number_text(v.number);
    case Kind::Boolean: return v.boolean ? "true" : "false";
    case Kind::Word: return std::string(v.word);
    case Kind::Typed:
      return v.whole ? fmt::format("{} {}", v.word, v.integer.constant)
                     : fmt::format("{} {}", v.word, number_text(v.number));
  }
  return "";
}

bool same_value(const Value& a, const Value& b) {
  if (a.is_plain_integer() && b.is_plain_integer()) return a.integer.constant == b.integer.constant;
  if (is_numeric(a) && is_numeric(b)) return as_number(a) == as_number(b);
  return a.kind == b.kind && to_text(a) == to_text(b);
}

std::string_view kind_text(ExprKind kind) {
  switch (kind) {
    case ExprKind::Integer: return "an integer";
    case ExprKind::Float: return "a number";
    case ExprKind::String: return "a string";
    case ExprKind::Symbol: return "a symbol";
    case ExprKind::Name: return "a name";
    case ExprKind::Typed: return "a typed number";
    case ExprKind::Apply: return "an application";
    case ExprKind::Negate:
    case ExprKind::Binary: return "an expression";
    case ExprKind::Tuple: return "a tuple";
    case ExprKind::List: return "a list";
    case ExprKind::Record: return "a record";
    case ExprKind::Lambda: return "a lambda";
    case ExprKind::Arrow: return "an arrow";
    case ExprKind::Span: return "a span";
  }
  return "a value";
}

Evaluation::Evaluation(const Module& module, const Mesh& mesh, CoordPool* coords)
    : module_(&module), mesh_(&mesh), coords_(coords) {
  names_.resize(module.strings.size());
  for (std::size_t i = 0; i < module.mesh.size(); ++i)
    names_[module.mesh[i].name.value] = {Binding::Kind::Axis, static_cast<std::uint32_t>(i), 0};
}

void Evaluation::set_param(StringId name, Value value) {
  names_[name.value] = {Binding::Kind::Param, static_cast<std::uint32_t>(params_.size()), 0};
  params_.push_back(value);
}

Evaluation::Binding Evaluation::exchange(StringId name, Binding binding) {
  return std::exchange(names_[name.value], binding);
}

Evaluation::Binding Evaluation::binding(StringId name) const {
  const Binding& b = names_[name.value];
  if (b.kind == Binding::Kind::Index && b.slot != level_) return {};
  return b;
}

Failure Evaluation::expected(ExprId id, std::string_view what) const {
  return fail(expr(id).loc, "STV0245", "expected {}, got {}", what, kind_text(expr(id).kind));
}

Failure Evaluation::expected(ExprId id, std::string_view what, const Value& got) const {
  if (got.kind == Kind::Word) {
    if (expr(id).kind == ExprKind::Name && binding(expr(id).string()).kind == Binding::Kind::None)
      return fail(expr(id).loc, "STV0240", "unknown name `{}`: no axis, param or index has it here", got.word);
    return fail(expr(id).loc, "STV0245", "expected {}, got the word `{}`", what, got.word);
  }
  if (got.kind == Kind::Integer && got.integer.varying)
    return fail(expr(id).loc, "STV0241",
                "axis_index may stand in view offsets and `peer` only; ranks whose programs differ need entries of "
                "their own");
  return fail(expr(id).loc, "STV0245", "expected {}, got {}", what, to_text(got));
}

bool Evaluation::plain_integer(ExprId id, std::int64_t& out, int depth) const {
  const Expr& e = expr(id);
  switch (e.kind) {
    case ExprKind::Integer: out = e.as_integer(); return !e.hex || out >= 0;
    case ExprKind::Name: {
      const Binding& b = names_[e.string().value];
      if (b.kind == Binding::Kind::Index && b.slot == level_) {
        out = b.value;
        return true;
      }
      if (b.kind != Binding::Kind::Param || !params_[b.slot].is_plain_integer()) return false;
      out = params_[b.slot].integer.constant;
      return true;
    }
    case ExprKind::Binary: {
      std::int64_t a = 0, b = 0;
      if (depth > 16 || !plain_integer(e.a(), a, depth + 1) || !plain_integer(e.b(), b, depth + 1)) return false;
      switch (e.op) {
        case BinaryOp::Add: return !__builtin_add_overflow(a, b, &out);
        case BinaryOp::Sub: return !__builtin_sub_overflow(a, b, &out);
        case BinaryOp::Mul: return !__builtin_mul_overflow(a, b, &out);
        case BinaryOp::FloorDiv: return b > 0 ? (out = floor_div(a, b), true) : false;
        case BinaryOp::Mod: return b > 0 ? (out = floor_mod(a, b), true) : false;
        default: return false;
      }
    }
    default: return false;
  }
}

Result<Value> Evaluation::value(ExprId id) {
  if (std::int64_t plain = 0; plain_integer(id, plain, 0)) return Value::of(plain);
  if (depth_ >= max_expand_nesting)
    return fail(expr(id).loc, "STV0219", "an expression is nested more than {} deep", max_expand_nesting);
  ++depth_;
  Result<Value> out = nested_value(id);
  --depth_;
  return out;
}

Result<Value> Evaluation::nested_value(ExprId id) {
  const Expr e = expr(id);
  switch (e.kind) {
    case ExprKind::Integer: {
      Value v = Value::of(e.as_integer());
      v.unsigned64 = e.hex && e.as_integer() < 0;
      return v;
    }
    case ExprKind::Float: return Value::of_number(e.as_number());
    case ExprKind::Name: return name(e);
    case ExprKind::Apply: return apply(e);
    case ExprKind::Binary: return binary(e);
    case ExprKind::Typed: {
      TRY(Value inner, value(e.b()));
      if (!is_numeric(inner)) return expected(e.b(), "a number", inner);
      if (inner.kind == Kind::Integer && inner.integer.varying) return expected(e.b(), "a number", inner);
      inner.word = module_->text(StringId{e.a().value});
      inner.whole = inner.kind == Kind::Integer;
      inner.kind = Kind::Typed;
      return inner;
    }
    case ExprKind::Negate: {
      TRY(Value v, value(e.a()));
      if (v.kind == Kind::Number) return Value::of_number(-v.number);
      if (v.kind != Kind::Integer) return expected(e.a(), "a number", v);
      v.unsigned64 = false;
      if (v.integer.varying) {
        const auto [negated, problem] = coords_->combine(CoordExpr::Op::Sub, {}, v.integer);
        if (!problem.empty()) return fail(e.loc, "STV0242", "the negative value {}", problem);
        v.integer = negated;
        return v;
      }
      if (__builtin_sub_overflow(std::int64_t{0}, v.integer.constant, &v.integer.constant))
        return fail(e.loc, "STV0242", "-({}) does not fit 64 bits", v.integer.constant);
      return v;
    }
    default: return expected(id, "a number");
  }
}

Result<Value> Evaluation::name(const Expr& e) {
  const Binding b = binding(e.string());
  const std::string_view text = module_->text(e.string());
  switch (b.kind) {
    case Binding::Kind::Index: return Value::of(b.value);
    case Binding::Kind::Param: return params_[b.slot];
    case Binding::Kind::Axis:
      return fail(e.loc, "STV0245", "expected a number, got the axis `{}`: axis_size({}) is its size", text, text);
    case Binding::Kind::None: break;
  }
  if (text == "true" || text == "false") return Value::of_boolean(text == "true");
  return Value::of_word(text);
}

Result<std::uint32_t> Evaluation::axis(ExprId id) {
  const Expr& e = expr(id);
  if (e.kind != ExprKind::Name) return expected(id, "the name of a mesh axis");
  const Binding b = binding(e.string());
  if (b.kind == Binding::Kind::Axis) return b.slot;
  std::string known;
  for (const MeshAxis& a : module_->mesh)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", module_->text(a.name));
  return fail(e.loc, "STV0248", "unknown mesh axis `{}`; the mesh has {}", module_->text(e.string()),
              known.empty() ? "no axes" : known);
}

Result<Value> Evaluation::apply(const Expr& e) {
  const std::span<const ExprId> parts = children(e);
  const Expr& head = expr(parts[0]);
  const std::string_view function = module_->text(head.string());
  const auto arguments = parts.subspan(1);
  if (function == "axis_size" || function == "axis_index") {
    Value out = Value::of(function == "axis_size" ? 1 : 0);
    for (const ExprId argument : arguments) {
      TRY(const std::uint32_t a, axis(argument));
      const auto [scaled, problem] = coords_->combine(CoordExpr::Op::Mul, out.integer, {mesh_->sizes[a], {}});
      if (!problem.empty()) return fail(e.loc, "STV0242", "{} {}", function, problem);
      out.integer = scaled;
      if (function != "axis_index") continue;
      const auto [sum, sum_problem] = coords_->combine(CoordExpr::Op::Add, scaled, coords_->axis(a));
      if (!sum_problem.empty()) return fail(e.loc, "STV0242", "{} {}", function, sum_problem);
      out.integer = sum;
    }
    return out;
  }
  std::vector<Value> values;
  for (const ExprId argument : arguments) {
    TRY(Value v, value(argument));
    if (!is_numeric(v) || (v.kind == Kind::Integer && v.integer.varying)) return expected(argument, "a number", v);
    values.push_back(v);
  }
  if (is_type_word(function) && values.size() == 1) {
    Value v = values[0];
    v.whole = v.kind == Kind::Integer;
    v.kind = Kind::Typed;
    v.word = function;
    return v;
  }
  if ((function == "min" || function == "max") && values.size() == 2) {
    const bool first =
        holds(function == "min" ? BinaryOp::Le : BinaryOp::Ge, as_number(values[0]), as_number(values[1]));
    if (values[0].kind == values[1].kind && values[0].kind == Kind::Integer)
      return Value::of(function == "min" ? std::min(values[0].integer.constant, values[1].integer.constant)
                                         : std::max(values[0].integer.constant, values[1].integer.constant));
    return Value::of_number(as_number(values[first ? 0 : 1]));
  }
  return fail(e.loc, "STV0247",
              "unknown function `{}` of {} value(s); outside lambdas there are axis_size, axis_index, min and max",
              function, values.size());
}

Result<Value> Evaluation::compare(const Expr& e, const Value& a, const Value& b) {
  if (a.kind == Kind::Integer && a.integer.varying) return expected(e.a(), "a number", a);
  if (b.kind == Kind::Integer && b.integer.varying) return expected(e.b(), "a number", b);
  const bool equality = e.op == BinaryOp::Eq || e.op == BinaryOp::Ne;
  if (a.is_plain_integer() && b.is_plain_integer())
    return Value::of_boolean(holds(e.op, a.integer.constant, b.integer.constant));
  if (is_numeric(a) && is_numeric(b)) return Value::of_boolean(holds(e.op, as_number(a), as_number(b)));
  if (equality && a.kind == b.kind) return Value::of_boolean(same_value(a, b) == (e.op == BinaryOp::Eq));
  return expected(is_numeric(a) ? e.b() : e.a(), "a number", is_numeric(a) ? b : a);
}

Result<Value> Evaluation::binary(const Expr& e) {
  TRY(const Value a, value(e.a()));
  TRY(const Value b, value(e.b()));
  if (e.op >= BinaryOp::Lt) return compare(e, a, b);
  if (!is_numeric(a)) return expected(e.a(), "a number", a);
  if (!is_numeric(b)) return expected(e.b(), "a number", b);
  if (a.kind == Kind::Integer && b.kind == Kind::Integer) {
    if (e.op == BinaryOp::Div) {
      if (a.integer.varying || b.integer.varying)
        return fail(e.loc, "STV0244", "`/` is not defined for values that depend on axis_index; use div");
      if (b.integer.constant == 0) return fail(e.loc, "STV0243", "{} / 0 divides by zero", a.integer.constant);
      if (floor_mod(a.integer.constant, b.integer.constant) != 0)
        return fail(e.loc, "STV0244", "{} / {} is not an integer; use div to round down", a.integer.constant,
                    b.integer.constant);
    }
    const auto [out, problem] = coords_->combine(coord_op(e.op), a.integer, b.integer);
    if (!problem.empty())
      return fail(e.loc, problem == "divides by zero" ? "STV0243" : "STV0242", "{} {} {} {}",
                  coord_text(coords_->exprs(), *mesh_, a.integer), name_of(e.op),
                  coord_text(coords_->exprs(), *mesh_, b.integer), problem);
    Value v;
    v.integer = out;
    return v;
  }
  if (a.kind == Kind::Integer && a.integer.varying) return expected(e.a(), "a number", a);
  if (b.kind == Kind::Integer && b.integer.varying) return expected(e.b(), "a number", b);
  const double x = as_number(a), y = as_number(b);
  switch (e.op) {
    case BinaryOp::Add: return Value::of_number(x + y);
    case BinaryOp::Sub: return Value::of_number(x - y);
    case BinaryOp::Mul: return Value::of_number(x * y);
    case BinaryOp::Div: return Value::of_number(x / y);
    case BinaryOp::FloorDiv: return Value::of_number(std::floor(x / y));
    default: return Value::of_number(x - std::floor(x / y) * y);
  }
}

Result<std::int64_t> Evaluation::integer(ExprId id) {
  if (std::int64_t plain = 0; plain_integer(id, plain, 0)) return plain;
  TRY(const Value v, value(id));
  if (!v.is_plain_integer()) return expected(id, "an integer", v);
  return v.integer.constant;
}

Result<CoordInt> Evaluation::coord_integer(ExprId id) {
  if (std::int64_t plain = 0; plain_integer(id, plain, 0)) return CoordInt{plain, {}};
  TRY(const Value v, value(id));
  if (v.kind != Kind::Integer) return expected(id, "an integer", v);
  return v.integer;
}

Result<double> Evaluation::number(ExprId id) {
  TRY(const Value v, value(id));
  if (v.kind == Kind::Number) return v.number;
  if (!v.is_plain_integer()) return expected(id, "a number", v);
  return static_cast<double>(v.integer.constant);
}

Result<bool> Evaluation::boolean(ExprId id) {
  TRY(const Value v, value(id));
  if (v.kind != Kind::Boolean) return expected(id, "true, false or a comparison", v);
  return v.boolean;
}

Result<Value> Evaluation::typed(ExprId id, std::string_view what) {
  TRY(const Value v, value(id));
  if (v.kind == Kind::Word) return fail(expr(id).loc, "STV0245", "expected {}, got the word `{}`", what, v.word);
  if (v.kind != Kind::Typed) return expected(id, what, v);
  return v;
}

Result<Scalar> Evaluation::scalar_of(const Value& v, Dtype dtype, Loc where) const {
  Scalar out;
  out.dtype = dtype;
  const bool whole = v.kind == Kind::Integer || v.kind == Kind::Boolean || (v.kind == Kind::Typed && v.whole);
  const std::int64_t integer = v.kind == Kind::Boolean ? v.boolean : v.integer.constant;
  if (is_float(dtype)) {
    if (v.kind == Kind::Boolean || v.kind == Kind::Word)
      return fail(where, "STV0245", "expected a number of type {}, got {}", name_of(dtype), to_text(v));
    out.number = whole ? static_cast<double>(integer) : v.number;
    return out;
  }
  if (!whole || (v.kind == Kind::Boolean && dtype != Dtype::Bool))
    return fail(where, "STV0245", "expected a number of type {}, got {}", name_of(dtype), to_text(v));
  const DtypeInfo& info = info_of(dtype);
  std::int64_t low = 0, high = 1;
  if (info.kind == DtypeKind::Signed) {
    low = info.bits == 64 ? INT64_MIN : -(std::int64_t{1} << (info.bits - 1));
    high = info.bits == 64 ? INT64_MAX : (std::int64_t{1} << (info.bits - 1)) - 1;
  } else if (info.kind == DtypeKind::Unsigned) {
    high = info.bits == 64 ? INT64_MAX : (std::int64_t{1} << info.bits) - 1;
  }
  const bool fits = (v.unsigned64 && dtype == Dtype::U64) || (integer >= low && integer <= high);
  if (!fits)
    return fail(where, "STV0246", "{} does not fit {}, which holds {} to {}", integer, info.name, low,
                dtype == Dtype::U64 ? "18446744073709551615" : std::to_string(high));
  out.integer = integer;
  return out;
}

}  // namespace stave
