#include "core/ir/builder_terms.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/text/parse.h"

namespace stave::build {

Term::Term(bool v) : Term(stave::build::name(v ? "true" : "false")) {}

Term::Term(double v) {
  Node node;
  node.kind = ExprKind::Float;
  node.bits = std::bit_cast<std::uint64_t>(std::fabs(v));
  *this = std::signbit(v) ? -make(std::move(node)) : make(std::move(node));
}

// A minus is a node of its own; what has no positive decimal form is written as a pattern.
Term Term::from_integer(std::uint64_t bits, bool negative) {
  Node node;
  node.bits = negative ? 0 - bits : bits;
  const bool fits = node.bits <= 0x7fffffffffffffff;
  node.hex = !fits;
  if (!fits && negative) node.bits = bits;
  const Term magnitude = make(std::move(node));
  return negative && fits ? -magnitude : magnitude;
}

Term Term::make(Node node) {
  node.height = 1;
  for (const Term& child : node.children) {
    if (child.too_deep()) return Term(std::shared_ptr<const Node>());
    node.height = std::max(node.height, child.node_->height + 1);
  }
  if (node.height > max_nesting) return Term(std::shared_ptr<const Node>());
  return Term(std::make_shared<const Node>(std::move(node)));
}

bool Term::is_number() const { return node_ && (node_->kind == ExprKind::Integer || node_->kind == ExprKind::Float); }

ExprId Term::write(Module& module) const {
  if (!node_) return module.exprs.add(Expr::text(ExprKind::Name, module.strings.intern("")));
  const Node& node = *node_;
  std::vector<ExprId> children;
  for (const Term& child : node.children) children.push_back(child.write(module));
  switch (node.kind) {
    case ExprKind::Integer:
      return module.exprs.add(Expr::integer(static_cast<std::int64_t>(node.bits), no_loc, node.hex));
    case ExprKind::Float: return module.exprs.add(Expr::number(std::bit_cast<double>(node.bits)));
    case ExprKind::String:
    case ExprKind::Symbol:
    case ExprKind::Name: return module.exprs.add(Expr::text(node.kind, module.strings.intern(node.text)));
    case ExprKind::Typed:
      return module.exprs.add(Expr::pair(node.kind, module.strings.intern(node.text).value, children[0].value));
    case ExprKind::Negate: return module.exprs.add(Expr::pair(node.kind, children[0].value, 0));
    case ExprKind::Binary:
    case ExprKind::Arrow:
    case ExprKind::Span:
      return module.exprs.add(Expr::pair(node.kind, children[0].value, children[1].value, no_loc, node.op));
    case ExprKind::Apply:
    case ExprKind::Tuple:
    case ExprKind::List:
    case ExprKind::Record:
    case ExprKind::Lambda: break;
  }
  const std::size_t first = module.expr_lists.size();
  for (const ExprId child : children) module.expr_lists.add(child);
  return module.exprs.add(Expr::list(node.kind, module.expr_lists.range_from(first)));
}

Term binary(BinaryOp op, const Term& a, const Term& b) {
  return Term::make({ExprKind::Binary, op, false, 0, {}, {a, b}, 1});
}
Term operator-(const Term& a) { return Term::make({ExprKind::Negate, BinaryOp::Add, false, 0, {}, {a}, 1}); }
Term name(std::string_view text) {
  return Term::make({ExprKind::Name, BinaryOp::Add, false, 0, std::string(text), {}, 1});
}
Term text(std::string_view text) {
  return Term::make({ExprKind::String, BinaryOp::Add, false, 0, std::string(text), {}, 1});
}
Term symbol(std::string_view text) {
  return Term::make({ExprKind::Symbol, BinaryOp::Add, false, 0, std::string(text), {}, 1});
}
Term typed(std::string_view type, const Term& number) {
  if (!number.is_number()) return apply(type, {number});
  return Term::make({ExprKind::Typed, BinaryOp::Add, false, 0, std::string(type), {number}, 1});
}
Term apply(std::string_view function, std::vector<Term> arguments) {
  arguments.insert(arguments.begin(), name(function));
  return Term::make({ExprKind::Apply, BinaryOp::Add, false, 0, {}, std::move(arguments), 1});
}
Term tuple(std::vector<Term> items) {
  if (items.size() == 1) return items.front();
  return Term::make({ExprKind::Tuple, BinaryOp::Add, false, 0, {}, std::move(items), 1});
}
Term list(std::vector<Term> items) {
  return Term::make({ExprKind::List, BinaryOp::Add, false, 0, {}, std::move(items), 1});
}
Term record(const std::vector<std::pair<std::string, Term>>& fields) {
  std::vector<Term> children;
  for (const auto& [key, value] : fields) {
    children.push_back(name(key));
    children.push_back(value);
  }
  return Term::make({ExprKind::Record, BinaryOp::Add, false, 0, {}, std::move(children), 1});
}
Term lambda(const std::vector<std::string>& arguments, const Term& body) {
  std::vector<Term> children;
  for (const std::string& argument : arguments) children.push_back(name(argument));
  children.push_back(body);
  return Term::make({ExprKind::Lambda, BinaryOp::Add, false, 0, {}, std::move(children), 1});
}
Term arrow(const Term& from, const Term& to) {
  return Term::make({ExprKind::Arrow, BinaryOp::Add, false, 0, {}, {from, to}, 1});
}
Term span(const Term& from, const Term& to) {
  return Term::make({ExprKind::Span, BinaryOp::Add, false, 0, {}, {from, to}, 1});
}

Value Value::with(Part part) const {
  Value value = *this;
  value.parts_.push_back(std::move(part));
  return value;
}

Value Value::as(Dtype dtype, std::vector<Int> shape) const {
  Value value = *this;
  value.as_.emplace(dtype, std::move(shape));
  return value;
}

bool Value::too_deep() const {
  const auto deep = [](const Part& part) {
    return (part.begin && part.begin->too_deep()) || (part.end && part.end->too_deep());
  };
  return std::any_of(parts_.begin(), parts_.end(), deep) ||
         (as_ && std::any_of(as_->second.begin(), as_->second.end(), [](const Int& dim) { return dim.too_deep(); }));
}

ViewRef Value::write(Module& module) const {
  ViewRef view;
  view.value = module.strings.intern(name_);
  std::vector<Index> indices;
  for (const Part& part : parts_) {
    Index index;
    index.kind = part.kind;
    if (part.begin) index.begin = part.begin->write(module);
    if (part.end) index.end = part.end->write(module);
    indices.push_back(index);
  }
  const std::size_t first = module.indices.size();
  for (const Index& index : indices) module.indices.add(index);
  view.indices = module.indices.range_from(first);
  if (as_) {
    std::vector<ExprId> dims;
    for (const Int& dim : as_->second) dims.push_back(dim.write(module));
    TypeExpr type;
    type.dtype = as_->first;
    const std::size_t start = module.expr_lists.size();
    for (const ExprId dim : dims) module.expr_lists.add(dim);
    type.dims = module.expr_lists.range_from(start);
    view.as = module.types.add(type);
  }
  return view;
}

}  // namespace stave::build
