#include "core/lower/issue_names.h"

#include <map>
#include <unordered_map>

namespace stave {

namespace {

// Binding strength of an operation, as in the grammar: sums below products.
int strength(CoordExpr::Op op) {
  switch (op) {
    case CoordExpr::Op::Add:
    case CoordExpr::Op::Sub: return 1;
    case CoordExpr::Op::Mul:
    case CoordExpr::Op::Div:
    case CoordExpr::Op::Mod: return 2;
    case CoordExpr::Op::Constant:
    case CoordExpr::Op::Axis: break;
  }
  return 3;
}

std::string_view spelling(CoordExpr::Op op) {
  switch (op) {
    case CoordExpr::Op::Add: return "+";
    case CoordExpr::Op::Sub: return "-";
    case CoordExpr::Op::Mul: return "*";
    case CoordExpr::Op::Div: return "div";
    case CoordExpr::Op::Mod: return "mod";
    case CoordExpr::Op::Constant:
    case CoordExpr::Op::Axis: break;
  }
  return "";
}

std::string expression(const Expanded& expanded, CoordExprId id, int outer) {
  const CoordExpr& e = expanded.coord_exprs[id];
  if (e.op == CoordExpr::Op::Constant) return std::to_string(e.value);
  if (e.op == CoordExpr::Op::Axis) return fmt::format("axis_index({})", expanded.mesh.axes[e.axis]);
  const int own = strength(e.op);
  std::string text = fmt::format("{} {} {}", expression(expanded, e.a, own), spelling(e.op),
                                 expression(expanded, e.b, own + 1));  // all are left-associative
  return own < outer ? fmt::format("({})", text) : text;
}

}  // namespace

std::string to_text(StreamRef stream) {
  if (stream.kind == StreamRef::Kind::Main) return "main";
  return fmt::format("{} {}", stream.kind == StreamRef::Kind::Computation ? "computation" : "communication",
                     stream.number);
}

std::vector<std::string> buffer_names(const Expanded& expanded) {
  std::vector<std::string> names;
  std::map<StringId, int> uses;
  for (const Buffer& buffer : expanded.buffers) {
    std::string name(expanded.module->text(buffer.name));
    if (const int use = ++uses[buffer.name]; use > 1) name += fmt::format(".{}", use);
    names.push_back(std::move(name));
  }
  return names;
}

std::string to_text(const Expanded& expanded, CoordInt value) {
  return value.varying ? expression(expanded, value.varying, 0) : std::to_string(value.constant);
}

std::string view_text(const Expanded& expanded, const std::vector<std::string>& names, ViewId id) {
  const View& view = expanded[id];
  const Buffer& buffer = expanded.buffers[view.buffer];
  const auto shape = expanded.shape(view);
  const std::string& name = names[view.buffer.value];
  const bool same_type =
      view.dtype == buffer.dtype && std::equal(shape.begin(), shape.end(), buffer.shape.begin(), buffer.shape.end());
  if (same_type && view.bytes == buffer.bytes) return fmt::format("%{}", name);
  return fmt::format("%{}[{}:+{}] as {}[{}]", name, to_text(expanded, view.offset), view.bytes, name_of(view.dtype),
                     fmt::join(shape, ", "));
}

}  // namespace stave
