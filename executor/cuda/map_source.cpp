#include "executor/cuda/map_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/ir/interpret/number.h"
#include "core/ir/interpret/reduction.h"
#include "executor/cuda/device_source.h"

namespace stave::cuda {
namespace {

using NodeOp = LambdaNode::Op;

int number_of(Dtype dtype) { return static_cast<int>(dtype); }

std::string real_literal(Dtype dtype, double value) {
  if (dtype == Dtype::F64) return fmt::format("__longlong_as_double({:#x}ll)", std::bit_cast<std::uint64_t>(value));
  return fmt::format("__uint_as_float({:#x}u)", std::bit_cast<std::uint32_t>(static_cast<float>(value)));
}

std::string constant(const LambdaNode& node) {
  const Scalar& s = node.value;
  const Dtype to = node.dtype;
  const auto bits = static_cast<std::uint64_t>(s.integer);
  if (is_float(to)) return real_literal(to, is_float(s.dtype) ? round_to(to, s.number) : float_of(to, s.dtype, bits));
  return fmt::format("(Elem<{}>::Value){:#x}ull", number_of(to),
                     is_float(s.dtype) ? integer_of(to, s.number) : wrapped(to, bits));
}

std::string real_value(const LambdaNode& node, const std::string& a, const std::string& b) {
  const bool wide = node.dtype == Dtype::F64;
  const std::string_view f = wide ? "" : "f";
  switch (node.op) {
    case NodeOp::Neg: return "-" + a;
    case NodeOp::Add: return a + " + " + b;
    case NodeOp::Sub: return a + " - " + b;
    case NodeOp::Mul: return a + " * " + b;
    case NodeOp::Div: return a + " / " + b;
    case NodeOp::FloorDiv: return fmt::format("floor{}({} / {})", f, a, b);
    case NodeOp::Mod: return fmt::format("float_mod({}, {})", a, b);
    case NodeOp::Abs: return fmt::format("fabs{}({})", f, a);
    case NodeOp::Exp: return fmt::format("exp{}({})", f, a);
    case NodeOp::Log: return fmt::format("log{}({})", f, a);
    case NodeOp::Sin: return fmt::format("sin{}({})", f, a);
    case NodeOp::Cos: return fmt::format("cos{}({})", f, a);
    case NodeOp::Tanh: return fmt::format("tanh{}({})", f, a);
    case NodeOp::Sqrt: return fmt::format("sqrt{}({})", f, a);
    case NodeOp::Rsqrt: return fmt::format("{} / sqrt{}({})", wide ? "1.0" : "1.0f", f, a);
    case NodeOp::Erf: return fmt::format("erf{}({})", f, a);
    case NodeOp::Min: return fmt::format("min_of({}, {})", a, b);
    case NodeOp::Max: return fmt::format("max_of({}, {})", a, b);
    default: return a;
  }
}

// In u64: the caller wraps.
std::string integer_value(const LambdaNode& node, const std::string& a, const std::string& b) {
  const bool with_sign = is_signed(node.dtype);
  switch (node.op) {
    case NodeOp::Neg: return fmt::format("0ull - (u64){}", a);
    case NodeOp::Add: return fmt::format("(u64){} + (u64){}", a, b);
    case NodeOp::Sub: return fmt::format("(u64){} - (u64){}", a, b);
    case NodeOp::Mul: return fmt::format("(u64){} * (u64){}", a, b);
    case NodeOp::Div:
    case NodeOp::FloorDiv:
    case NodeOp::Mod:
      return fmt::format("(u64)divided<{}, {}>({}, {})",
                         node.op == NodeOp::Div        ? 0
                         : node.op == NodeOp::FloorDiv ? 1
                                                       : 2,
                         with_sign, a, b);
    case NodeOp::Abs: return with_sign ? fmt::format("{0} < 0 ? 0ull - (u64){0} : (u64){0}", a) : "(u64)" + a;
    case NodeOp::Min: return fmt::format("(u64)min_of({}, {})", a, b);
    case NodeOp::Max: return fmt::format("(u64)max_of({}, {})", a, b);
    default: return a;
  }
}

std::string_view comparison(NodeOp op) {
  switch (op) {
    case NodeOp::Lt: return "<";
    case NodeOp::Le: return "<=";
    case NodeOp::Eq: return "==";
    case NodeOp::Ne: return "!=";
    case NodeOp::Gt: return ">";
    case NodeOp::Ge: return ">=";
    default: return {};
  }
}

std::string node_value(const Lambda& f, const LambdaNode& node) {
  const std::string a = fmt::format("n{}", node.a), b = fmt::format("n{}", node.b);
  const int to = number_of(node.dtype);
  if (const std::string_view sign = comparison(node.op); !sign.empty())
    return fmt::format("(u32)({} {} {})", a, sign, b);
  switch (node.op) {
    case NodeOp::Argument: return fmt::format("x{}.e[j]", node.a);
    case NodeOp::Constant: return constant(node);
    case NodeOp::Cast: return fmt::format("cast<{}, {}>({})", to, number_of(f.nodes[node.a].dtype), a);
    case NodeOp::Select: return fmt::format("{} != 0 ? {} : n{}", a, b, node.c);
    default: break;
  }
  if (!is_float(node.dtype)) return fmt::format("wrap<{}>({})", to, integer_value(node, a, b));
  const std::string value = real_value(node, a, b);
  return bits_of(node.dtype) < 32 ? fmt::format("rounded<{}>({})", to, value) : value;
}

// Values of `width` elements from `p`, into `name`.
std::string load(const MapOperand& operand, std::int64_t elements, std::uint32_t width, const std::string& p,
                 const std::string& name) {
  const int d = number_of(operand.dtype);
  std::string out = fmt::format("  Values<{}, {}> {};\n", d, width, name);
  if (operand.elements == 1 && elements != 1)
    return out + fmt::format("  for (int j = 0; j < {}; ++j) {}.e[j] = get<{}>({}, 0);\n", width, name, d, p);
  const bool repeats = operand.elements != elements;
  const std::string at = repeats ? fmt::format("i % {}ull", operand.elements) : std::string("i");
  const bool packs = bits_of(operand.dtype) >= 8 && operand.aligned && operand.elements % width == 0;
  if (packs && !repeats && elements % width == 0) return out + fmt::format("  {}.pack({}, i);\n", name, p);
  if (packs)
    return out + fmt::format("  if (i + {} <= {}ull) {}.pack({}, {}); else {}.each({}, i, {}ull, {}ull);\n", width,
                             elements, name, p, at, name, p, elements, operand.elements);
  return out + fmt::format("  {}.each({}, i, {}ull, {}ull);\n", name, p, elements, operand.elements);
}

constexpr std::string_view values_source = R"cuda(
template <int D, int N> struct Values {
  using Raw = typename Elem<D>::Raw;
  typename Elem<D>::Value e[N];
  __device__ inline void pack(const void* p, u64 i) {
    Pack<Raw, N> raw = *(const Pack<Raw, N>*)((const Raw*)p + i);
#pragma unroll
    for (int j = 0; j < N; ++j) e[j] = Elem<D>::value(raw.e[j]);
  }
  __device__ inline void each(const void* p, u64 i, u64 end, u64 period) {
#pragma unroll
    for (int j = 0; j < N; ++j) e[j] = get<D>(p, (i + j < end ? i + j : end - 1) % period);
  }
  __device__ inline void unpack(void* p, u64 i) const {
    Pack<Raw, N> raw;
#pragma unroll
    for (int j = 0; j < N; ++j) raw.e[j] = Elem<D>::raw(e[j]);
    *(Pack<Raw, N>*)((Raw*)p + i) = raw;
  }
  __device__ inline void put_each(void* p, u64 i, u64 end) const {
#pragma unroll
    for (int j = 0; j < N; ++j)
      if (i + j < end) put<D>(p, i + j, e[j]);
  }
};
)cuda";

}  // namespace

std::uint32_t map_width(const MapShape& shape) {
  int widest = 8;
  bool nibbles = false;
  for (const auto* side : {&shape.operands, &shape.results})
    for (const MapOperand& o : *side) {
      widest = std::max(widest, bits_of(o.dtype));
      nibbles = nibbles || bits_of(o.dtype) == 4;
    }
  const auto width = static_cast<std::uint32_t>(128 / widest);
  return nibbles ? std::max(width, 2U) : width;
}

std::string map_source(const Lambda& f, const MapShape& shape) {
  const std::uint32_t width = map_width(shape);
  const std::string n = fmt::format("{}ull", shape.elements);
  std::string parameters;
  for (std::size_t i = 0; i < shape.operands.size(); ++i) parameters += fmt::format("const void* a{}, ", i);
  for (std::size_t i = 0; i < shape.results.size(); ++i) parameters += fmt::format("void* r{}, ", i);
  if (!parameters.empty()) parameters.resize(parameters.size() - 2);
  std::string out = std::string(device_prelude()) + std::string(values_source);
  out += fmt::format("extern \"C\" __global__ void __launch_bounds__({}) map({}) {{\n", map_threads, parameters);
  out += fmt::format("  u64 i = ((u64)blockIdx.x * {} + threadIdx.x) * {};\n  if (i >= {}) return;\n", map_threads,
                     width, n);
  for (std::size_t i = 0; i < shape.operands.size(); ++i)
    out += load(shape.operands[i], shape.elements, width, fmt::format("a{}", i), fmt::format("x{}", i));
  for (std::size_t i = 0; i < shape.results.size(); ++i)
    out += fmt::format("  Values<{}, {}> y{};\n", number_of(shape.results[i].dtype), width, i);
  out += fmt::format("#pragma unroll\n  for (int j = 0; j < {}; ++j) {{\n", width);
  for (std::size_t i = 0; i < f.nodes.size(); ++i)
    out +=
        fmt::format("    const Elem<{}>::Value n{} = {};\n", number_of(f.nodes[i].dtype), i, node_value(f, f.nodes[i]));
  for (std::size_t i = 0; i < shape.results.size(); ++i)
    out += fmt::format("    y{}.e[j] = cast<{}, {}>(n{});\n", i, number_of(shape.results[i].dtype),
                       number_of(f.nodes[f.results[i]].dtype), f.results[i]);
  out += "  }\n";
  for (std::size_t i = 0; i < shape.results.size(); ++i) {
    const MapOperand& r = shape.results[i];
    const bool packs = r.aligned && bits_of(r.dtype) >= 8;
    if (packs && shape.elements % width == 0)
      out += fmt::format("  y{0}.unpack(r{0}, i);\n", i);
    else if (packs)
      out +=
          fmt::format("  if (i + {1} <= {2}) y{0}.unpack(r{0}, i); else y{0}.put_each(r{0}, i, {2});\n", i, width, n);
    else
      out += fmt::format("  y{0}.put_each(r{0}, i, {1});\n", i, n);
  }
  return out + "}\n";
}

}  // namespace stave::cuda
