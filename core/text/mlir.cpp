#include "core/text/mlir.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <iterator>

#include "core/text/print.h"

namespace stave {
namespace {

std::string string_attr(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f || c == '"' || c == '\\') {
      out += fmt::format("\\{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string float_attr(double v) {
  if (!std::isfinite(v)) return fmt::format("{:#018x} : f64", std::bit_cast<std::uint64_t>(v));
  return float_text(v);
}

std::string_view mlir_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::Bool: return "i1";
    case Dtype::S4: return "si4";
    case Dtype::U4: return "ui4";
    case Dtype::S8: return "si8";
    case Dtype::U8: return "ui8";
    case Dtype::S16: return "si16";
    case Dtype::U16: return "ui16";
    case Dtype::S32: return "si32";
    case Dtype::U32: return "ui32";
    case Dtype::S64: return "si64";
    case Dtype::U64: return "ui64";
    case Dtype::F8E4M3: return "f8E4M3FN";
    case Dtype::F8E5M2: return "f8E5M2";
    case Dtype::F16: return "f16";
    case Dtype::BF16: return "bf16";
    case Dtype::F32: return "f32";
    case Dtype::F64: return "f64";
  }
  return "f32";
}

std::string scalar_attr(const Scalar& scalar) {
  if (scalar.dtype == Dtype::Bool) return scalar.integer != 0 ? "true" : "false";
  if (is_float(scalar.dtype)) {
    if (!std::isfinite(scalar.number)) return float_attr(scalar.number);
    return fmt::format("{} : {}", float_text(scalar.number), mlir_type(scalar.dtype));
  }
  if (info_of(scalar.dtype).kind == DtypeKind::Unsigned)
    return fmt::format("{} : {}", static_cast<std::uint64_t>(scalar.integer), mlir_type(scalar.dtype));
  return fmt::format("{} : {}", scalar.integer, mlir_type(scalar.dtype));
}

std::string scalar_text(const Scalar& scalar) {
  if (is_float(scalar.dtype)) return fmt::format("{} {}", name_of(scalar.dtype), float_text(scalar.number));
  return fmt::format("{} {}", name_of(scalar.dtype), scalar.integer);
}

template <class T, class Print>
std::string list_attr(const std::vector<T>& items, const Print& print) {
  std::string out = "[";
  for (const T& item : items) {
    if (out.size() > 1) out += ", ";
    out += print(item);
  }
  return out + "]";
}

class MlirPrinter {
 public:
  MlirPrinter(const Expanded& e, Rank rank)
      : e_(e), rank_(rank), buffers_(e.buffers.size()), tokens_(e.tokens.size()) {}

  std::string run() {
    out_ = "\"stave.func\"() ({\n";
    std::vector<std::string> arguments;
    for (const BufferId id : e_.parameters) {
      const Buffer& buffer = e_.buffers[id];
      buffers_[id.value] = fmt::format("%{}", next_++);
      arguments.push_back(fmt::format("{}: {}", buffers_[id.value], type(buffer)));
    }
    if (!arguments.empty()) put("^bb0({}):\n", fmt::join(arguments, ", "));
    for (const BufferId id : e_.buffers.all()) {
      const Buffer& buffer = e_.buffers[id];
      if (buffer.kind == Buffer::Kind::Parameter) continue;
      buffers_[id.value] = fmt::format("%{}", next_++);
      std::string attrs = fmt::format("name = {}", string_attr(text(buffer.name)));
      if (buffer.kind == Buffer::Kind::Constant) attrs += fmt::format(", value = {}", attr(buffer.literals));
      put("  {} = \"stave.{}\"() {{{}}} : () -> {}\n", buffers_[id.value],
          buffer.kind == Buffer::Kind::Constant ? "constant" : "scratch", attrs, type(buffer));
    }
    commands(e_.regions[e_.body], "  ");
    std::vector<std::string> mesh;
    for (std::size_t i = 0; i < e_.mesh.axes.size(); ++i)
      mesh.push_back(fmt::format("{} = {}", e_.mesh.axes[i], e_.mesh.sizes[i]));
    put("}}) {{mesh = {{{}}}, rank = {}, sym_name = {}}} : () -> ()\n", fmt::join(mesh, ", "), rank_,
        string_attr(text(e_.module->functions[e_.entry].name)));
    return std::move(out_);
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  std::string_view text(StringId id) const { return id ? e_.module->text(id) : std::string_view(); }

  std::string type(const Buffer& buffer) const {
    return fmt::format("!stave.buffer<{}, {}[{}]>", name_of(buffer.space), name_of(buffer.dtype),
                       fmt::join(buffer.shape, ", "));
  }
  std::string type(const View& view) const {
    const auto shape = e_.shape(view);
    return fmt::format("!stave.buffer<{}, {}[{}]>", name_of(e_.buffers[view.buffer].space), name_of(view.dtype),
                       fmt::join(shape.begin(), shape.end(), ", "));
  }

  // ---- attributes: one overload a field type; none is an empty text ----

  std::string attr(bool v) const { return v ? "true" : "false"; }
  std::string attr(std::int32_t v) const { return fmt::format("{} : i32", v); }
  std::string attr(std::int64_t v) const { return fmt::format("{}", v); }
  std::string attr(std::optional<std::int32_t> v) const { return v ? attr(*v) : ""; }
  std::string attr(double v) const { return float_attr(v); }
  std::string attr(const Scalar& v) const { return scalar_attr(v); }
  std::string attr(Reduction v) const { return string_attr(name_of(v)); }
  std::string attr(Epilogue v) const { return string_attr(name_of(v)); }
  std::string attr(Algorithm v) const { return string_attr(name_of(v)); }
  std::string attr(SymbolRef v) const { return v.name ? fmt::format("@{}", string_attr(text(v.name))) : ""; }
  std::string attr(NameRef v) const { return v.name ? string_attr(text(v.name)) : ""; }
  std::string attr(StringId v) const { return v ? string_attr(text(v)) : ""; }
  std::string attr(Dim3 v) const { return fmt::format("[{}, {}, {}]", v.x, v.y, v.z); }
  std::string attr(CoordInt v) const { return fmt::format("{}", e_.at(v, rank_)); }

  std::string attr(StreamRef v) const {
    switch (v.kind) {
      case StreamRef::Kind::Main: return "\"main\"";
      case StreamRef::Kind::Computation: return fmt::format("\"computation {}\"", v.number);
      case StreamRef::Kind::Communication: return fmt::format("\"communication {}\"", v.number);
    }
    return "\"main\"";
  }

  std::string attr(AxesId id) const {
    if (!id) return "";
    return list_attr(e_.axes[id], [&](std::uint32_t axis) { return string_attr(e_.mesh.axes[axis]); });
  }
  std::string attr(GroupsId id) const {
    if (!id) return "";
    return list_attr(e_.groups[id], [](const auto& group) { return fmt::format("[{}]", fmt::join(group, ", ")); });
  }
  std::string attr(PairsId id) const {
    if (!id) return "";
    return list_attr(e_.pairs[id], [](const auto& pair) { return fmt::format("[{}, {}]", pair.first, pair.second); });
  }
  std::string attr(IntsId id) const {
    return id ? list_attr(e_.ints[id], [](std::int64_t v) { return fmt::format("{}", v); }) : "";
  }
  std::string attr(LiteralsId id) const { return id ? list_attr(e_.literals[id], scalar_attr) : ""; }

  std::string attr(ArgsId id) const {
    if (!id) return "";
    return list_attr(e_.args[id], [](const KernelArg& arg) {
      switch (arg.kind) {
        case KernelArg::Kind::In: return fmt::format("\"in {}\"", arg.index);
        case KernelArg::Kind::Out: return fmt::format("\"out {}\"", arg.index);
        case KernelArg::Kind::TensorMap: return fmt::format("\"tensor_map {}\"", arg.index);
        case KernelArg::Kind::Value: break;
      }
      return scalar_attr(arg.value);
    });
  }

  std::string attr(RecordId id) const {
    if (!id) return "";
    std::string out = "{";
    for (const RecordField& field : e_.records[id]) {
      if (out.size() > 1) out += ", ";
      const std::string v = std::visit([&](const auto& x) { return record_value(x); }, field.value);
      fmt::format_to(std::back_inserter(out), "{} = {}", text(field.name), v);
    }
    return out + "}";
  }
  template <class T>
  std::string record_value(const T& v) const {
    return attr(v);
  }
  std::string record_value(const Ints& v) const {
    return list_attr(v, [](std::int64_t x) { return fmt::format("{}", x); });
  }

  // A list of nodes, each named by its position, because nodes may be shared.
  std::string attr(LambdaId id) const {
    if (!id) return "";
    const Lambda& lambda = e_.lambdas[id];
    const std::string nodes = list_attr(lambda.nodes, [](const LambdaNode& node) {
      std::string line(name_of(node.op));
      switch (node.op) {
        case LambdaNode::Op::Argument: line += fmt::format(" {}", node.a); break;
        case LambdaNode::Op::Constant: line = scalar_text(node.value); break;
        case LambdaNode::Op::Select: line += fmt::format(" %{} %{} %{}", node.a, node.b, node.c); break;
        case LambdaNode::Op::Add:
        case LambdaNode::Op::Sub:
        case LambdaNode::Op::Mul:
        case LambdaNode::Op::Div:
        case LambdaNode::Op::FloorDiv:
        case LambdaNode::Op::Mod:
        case LambdaNode::Op::Lt:
        case LambdaNode::Op::Le:
        case LambdaNode::Op::Eq:
        case LambdaNode::Op::Ne:
        case LambdaNode::Op::Gt:
        case LambdaNode::Op::Ge:
        case LambdaNode::Op::Min:
        case LambdaNode::Op::Max: line += fmt::format(" %{} %{}", node.a, node.b); break;
        default: line += fmt::format(" %{}", node.a); break;
      }
      return string_attr(fmt::format("{} : {}", line, name_of(node.dtype)));
    });
    return fmt::format("{{arity = {}, nodes = {}, results = [{}]}}", lambda.arity, nodes,
                       fmt::join(lambda.results, ", "));
  }

  std::string attr(CostId id) const {
    if (!id) return "";
    const Cost& cost = e_.costs[id];
    std::vector<std::string> fields;
    const auto add = [&](std::string_view name, const auto& v) {
      if (v) fields.push_back(fmt::format("{} = {}", name, attr(*v)));
    };
    add("flops", cost.flops);
    add("bytes", cost.bytes);
    if (cost.time) fields.push_back(fmt::format("time = {}", cost.time->count()));
    add("ctas", cost.ctas);
    add("tiles", cost.tiles);
    add("persistent", cost.persistent);
    add("trips", cost.trips);
    add("taken", cost.taken);
    return fmt::format("{{{}}}", fmt::join(fields, ", "));
  }

  std::vector<std::string> attributes(const Command& command) const {
    std::vector<std::string> attrs;
    const auto add = [&](std::string_view name, const std::string& v) {
      if (!v.empty()) attrs.push_back(fmt::format("{} = {}", name, v));
    };
    std::visit(
        [&](const auto& op) {
          std::apply([&](const auto&... field) { (add(field.name, attr(op.*field.member)), ...); }, op.fields());
        },
        command.payload);
    const ExprId name = command.op ? e_.module->attr(e_.module->ops[command.op], "name") : ExprId{};
    if (name && e_.module->exprs[name].kind == ExprKind::String)
      add("name", string_attr(text(e_.module->exprs[name].string())));
    add("cost", attr(command.cost));
    if (!command.operands.empty() || !command.results.empty())
      attrs.push_back(
          fmt::format("operand_segment_sizes = array<i32: {}, {}>", command.operands.size(), command.results.size()));
    return attrs;
  }

  // ---- commands ----

  // The SSA value of a view: the buffer itself if it is all of it.
  std::string view(ViewId id, const std::string& indent) {
    const View& view = e_.views[id];
    const Buffer& buffer = e_.buffers[view.buffer];
    const std::int64_t offset = e_.at(view.offset, rank_);
    if (offset == 0 && type(view) == type(buffer)) return buffers_[view.buffer.value];
    std::string name = fmt::format("%{}", next_++);
    put("{}{} = \"stave.view\"({}) {{offset = {}}} : ({}) -> {}\n", indent, name, buffers_[view.buffer.value], offset,
        type(buffer), type(view));
    return name;
  }

  void commands(const CommandRegion& region, const std::string& indent) {
    for (const CommandId id : region.commands) command(e_.commands[id], indent);
  }

  void command(const Command& command, const std::string& indent) {
    std::vector<std::string> operands;
    std::vector<std::string> types;
    for (const auto views : {command.operands, command.results}) {
      for (const ViewId id : views) {
        operands.push_back(view(id, indent));
        types.push_back(type(e_.views[id]));
      }
    }
    const bool starts = std::holds_alternative<AsyncStart>(command.payload);
    out_ += indent;
    if (command.token && starts) {
      tokens_[command.token.value] = fmt::format("%{}", next_++);
      put("{} = ", tokens_[command.token.value]);
    } else if (command.token) {
      operands.push_back(tokens_[command.token.value]);
      types.emplace_back("!stave.token");
    }
    put("\"stave.{}\"({})", info_of(kind_of_payload(command.payload)).name, fmt::join(operands, ", "));
    for (std::size_t i = 0; i < command.regions.size(); ++i) {
      out_ += i == 0 ? " ({\n" : ", {\n";
      commands(e_.regions[command.regions[i]], indent + "  ");
      put("{}}}", indent);
    }
    if (!command.regions.empty()) out_ += ')';
    const std::vector<std::string> attrs = attributes(command);
    if (!attrs.empty()) put(" {{{}}}", fmt::join(attrs, ", "));
    put(" : ({}) -> {}\n", fmt::join(types, ", "), starts ? "!stave.token" : "()");
  }

  const Expanded& e_;
  const Rank rank_;
  std::string out_;
  std::uint32_t next_ = 0;
  std::vector<std::string> buffers_;  // SSA names, by BufferId
  std::vector<std::string> tokens_;   // by TokenId
};

}  // namespace

std::string print_mlir(const Expanded& expanded, Rank rank) { return MlirPrinter(expanded, rank).run(); }

}  // namespace stave
