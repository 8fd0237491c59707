#include <array>
#include <unordered_map>
#include <utility>

#include "core/ir/module.h"
#include "core/ir/ops.h"

namespace stave {

std::string_view name_of(OpFamily family) {
  switch (family) {
    case OpFamily::Static: return "static";
    case OpFamily::Buffer: return "buffer";
    case OpFamily::Memory: return "memory";
    case OpFamily::Compute: return "compute";
    case OpFamily::Control: return "control";
    case OpFamily::Stream: return "stream";
    case OpFamily::Collective: return "collective";
    case OpFamily::Mark: return "mark";
  }
  return "static";
}

std::string_view name_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum: return "sum";
    case Reduction::Prod: return "prod";
    case Reduction::Min: return "min";
    case Reduction::Max: return "max";
  }
  return "sum";
}

std::string_view name_of(Epilogue epilogue) {
  switch (epilogue) {
    case Epilogue::None: return "none";
    case Epilogue::Relu: return "relu";
    case Epilogue::Gelu: return "gelu";
    case Epilogue::Bias: return "bias";
  }
  return "none";
}

std::string_view name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::Automatic: return "automatic";
    case Algorithm::Ring: return "ring";
    case Algorithm::Tree: return "tree";
    case Algorithm::Nvls: return "nvls";
    case Algorithm::CopyEngine: return "copy_engine";
  }
  return "automatic";
}

std::string_view name_of(LambdaNode::Op op) {
  constexpr std::array<std::string_view, 28> names = {"argument", "constant", "neg", "+",   "-",   "*",      "/",
                                                      "div",      "mod",      "<",   "<=",  "==",  "!=",     ">",
                                                      ">=",       "abs",      "exp", "log", "sin", "cos",    "tanh",
                                                      "sqrt",     "rsqrt",    "erf", "min", "max", "select", "cast"};
  return names[static_cast<std::size_t>(op)];
}

std::string_view name_of(BinaryOp op) {
  constexpr std::array<std::string_view, 12> names = {"+", "-",  "*",  "/",  "div", "mod",
                                                      "<", "<=", "==", "!=", ">",   ">="};
  return names[static_cast<std::size_t>(op)];
}

std::string_view name_of(Direction direction) {
  switch (direction) {
    case Direction::In: return "in";
    case Direction::Out: return "out";
    case Direction::InOut: return "inout";
  }
  return "in";
}

namespace {

// What the reference calls a type; a field type without a name does not compile.
template <class T>
inline constexpr std::string_view type_name = T::add_its_name_to_core_ir_op_table_cpp;
template <>
inline constexpr std::string_view type_name<bool> = "bool";
template <>
inline constexpr std::string_view type_name<std::int32_t> = "integer";
template <>
inline constexpr std::string_view type_name<std::int64_t> = "integer";
template <>
inline constexpr std::string_view type_name<std::optional<std::int32_t>> = "integer";
template <>
inline constexpr std::string_view type_name<double> = "number";
template <>
inline constexpr std::string_view type_name<Scalar> = "typed number";
template <>
inline constexpr std::string_view type_name<StreamRef> = "stream";
template <>
inline constexpr std::string_view type_name<Reduction> = "reduction";
template <>
inline constexpr std::string_view type_name<Epilogue> = "epilogue";
template <>
inline constexpr std::string_view type_name<Algorithm> = "algorithm";
template <>
inline constexpr std::string_view type_name<SymbolRef> = "symbol";
template <>
inline constexpr std::string_view type_name<NameRef> = "name";
template <>
inline constexpr std::string_view type_name<StringId> = "string";
template <>
inline constexpr std::string_view type_name<Dim3> = "three integers";
template <>
inline constexpr std::string_view type_name<CoordInt> = "integer";
template <>
inline constexpr std::string_view type_name<AxesId> = "axes";
template <>
inline constexpr std::string_view type_name<GroupsId> = "groups";
template <>
inline constexpr std::string_view type_name<PairsId> = "pairs";
template <>
inline constexpr std::string_view type_name<LambdaId> = "lambda";
template <>
inline constexpr std::string_view type_name<ArgsId> = "arguments";
template <>
inline constexpr std::string_view type_name<RecordId> = "record";
template <>
inline constexpr std::string_view type_name<LiteralsId> = "numbers";
template <>
inline constexpr std::string_view type_name<IntsId> = "integers";

template <class Op>
OpEntry entry_of() {
  OpEntry entry{Op::info, {}};
  std::apply(
      [&](const auto&... field) {
        (entry.fields.push_back(
             {field.name, type_name<typename std::decay_t<decltype(field)>::type>, field.summary, field.required}),
         ...);
      },
      Op::fields());
  return entry;
}

template <class... Ops>
std::vector<OpEntry> entries_of(TypeList<Ops...>) {
  return {entry_of<Ops>()...};
}

}  // namespace

const std::vector<OpEntry>& op_table() {
  static const std::vector<OpEntry> table = entries_of(OpTypes{});
  return table;
}

std::optional<OpKind> op_named(std::string_view name) {
  static const std::unordered_map<std::string_view, OpKind> kinds = [] {
    std::unordered_map<std::string_view, OpKind> made;
    for (std::size_t i = 0; i < op_table().size(); ++i) made.emplace(op_table()[i].info.name, static_cast<OpKind>(i));
    return made;
  }();
  const auto found = kinds.find(name);
  if (found == kinds.end()) return std::nullopt;
  return found->second;
}

std::span<const FieldInfo> common_fields() {
  static constexpr std::array<FieldInfo, 2> fields = {
      {{"name", "string", "the command's name in paths, timelines and reports; unique in its function", false},
       {"cost", "record",
        "what the command costs, instead of what the model derives: flops, bytes, time (ps), ctas, tiles, persistent; "
        "trips of a while, taken branch of a cond or switch",
        false}}};
  return fields;
}

OpKind kind_of_payload(const Payload& payload) {
  return std::visit([](const auto& op) { return kind_of<std::decay_t<decltype(op)>>; }, payload);
}

}  // namespace stave
