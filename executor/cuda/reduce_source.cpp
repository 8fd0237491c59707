#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/ir/interpret/reduction.h"
#include "executor/cuda/device_source.h"
#include "executor/cuda/map_source.h"

namespace stave::cuda {
namespace {

// A flat index of some dimensions as an offset into the whole: from the last dimension on.
std::string offset_function(std::string_view name, const std::vector<std::int64_t>& shape,
                            const std::vector<bool>& of) {
  std::string body;
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (of[d]) {
      body += fmt::format("  at += index % {}ull * {}ull;\n  index /= {}ull;\n", shape[d], stride, shape[d]);
    }
    stride *= shape[d];
  }
  return fmt::format("__device__ inline u64 {}(u64 index) {{\n  u64 at = 0;\n{}  return at;\n}}\n", name, body);
}

// What the sums are kept in (docs/numerics.md, "reduce").
std::string_view accumulator(Dtype dtype) {
  if (is_float(dtype)) return bits_of(dtype) < 32 ? "float" : "double";
  return is_signed(dtype) ? "s64" : "u64";
}

std::string identity(const ReduceShape& s) {
  if (is_float(s.dtype))
    return fmt::format("(Sum)__longlong_as_double({:#x}ll)",
                       std::bit_cast<std::uint64_t>(float_identity(s.reduction, s.dtype)));
  return fmt::format("(Sum){:#x}ull", integer_identity(s.reduction, s.dtype));
}

// A multiple of what any thread loads at a time.
std::int64_t chunk_of(const ReducePlan& plan) {
  const std::int64_t even = (plan.length + plan.chunks - 1) / plan.chunks;
  return std::max<std::int64_t>((even + 63) / 64 * 64, 64);
}

constexpr std::string_view kernels = R"cuda(
__device__ inline Sum combined(Sum a, Sum b) { return combine<R>(a, b); }
// All threads of the block; the result is thread 0's. Neighbours combine in order.
__device__ inline Sum block_sum(Sum v, u32 valid) {
  __shared__ Sum sums[1024];
  u32 t = threadIdx.x;
  sums[t] = v;
  __syncthreads();
  for (u32 step = 1; step < blockDim.x; step *= 2) {
    if (t % (2 * step) == 0 && t + step < valid) sums[t] = combined(sums[t], sums[t + step]);
    __syncthreads();
  }
  return sums[0];
}

extern "C" __global__ void __launch_bounds__(1024) partial(const void* operand, Sum* scratch) {
  const u64 first = blockIdx.y * CHUNK;
  const u64 end = first + CHUNK < LENGTH ? first + CHUNK : LENGTH;
  if constexpr (ROWS) {
    const u64 base = kept_offset(blockIdx.x);
    Sum sum = IDENTITY;
    bool any = false;
    constexpr int N = WIDTH;
    u64 i = first + (u64)threadIdx.x * N;
    for (; i < end; i += (u64)blockDim.x * N) {
      if constexpr (N > 1) {
        using Raw = Elem<D>::Raw;
        Pack<Raw, N> raw = *(const Pack<Raw, N>*)((const Raw*)operand + base + i);
#pragma unroll
        for (int j = 0; j < N; ++j) {
          Sum v = (Sum)Elem<D>::value(raw.e[j]);
          sum = any ? combined(sum, v) : v;
          any = true;
        }
      } else {
        Sum v = (Sum)get<D>(operand, base + i);
        sum = any ? combined(sum, v) : v;
        any = true;
      }
    }
    const u64 used = end > first ? (end - first + N - 1) / N : 0;
    sum = block_sum(sum, used < blockDim.x ? (u32)used : blockDim.x);
    if (threadIdx.x == 0) scratch[(u64)blockIdx.x * CHUNKS + blockIdx.y] = sum;
  } else {
    const u64 output = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (output >= OUTPUTS) return;
    const u64 base = kept_offset(output);
    Sum sum = IDENTITY;
    for (u64 i = first; i < end; ++i) {
      Sum v = (Sum)get<D>(operand, base + reduced_offset(i));
      sum = i > first ? combined(sum, v) : v;
    }
    scratch[output * CHUNKS + blockIdx.y] = sum;
  }
}

extern "C" __global__ void __launch_bounds__(1024) combine_partials(const Sum* scratch, void* result) {
  constexpr u64 used = (LENGTH + CHUNK - 1) / CHUNK;
  const u64 output = SHARED ? blockIdx.x : (u64)blockIdx.x * blockDim.x + threadIdx.x;
  if (output >= OUTPUTS) return;
  const u64 first = SHARED ? threadIdx.x : 0, step = SHARED ? blockDim.x : 1;
  Sum sum = IDENTITY;
  for (u64 c = first; c < used; c += step) {
    Sum v = scratch[output * CHUNKS + c];
    sum = c > first ? combined(sum, v) : v;
  }
  if constexpr (SHARED) sum = block_sum(sum, used < blockDim.x ? (u32)used : blockDim.x);
  if (SHARED && threadIdx.x > 0) return;
  if constexpr (!Elem<D>::is_float) put<TO>(result, output, cast<TO, D>(wrap<D>((u64)sum)));
  else if constexpr (Elem<TO>::is_float) put<TO>(result, output, round_to<TO>((double)sum));
  else put<TO>(result, output, to_integer<TO>((double)sum));
}
)cuda";

}  // namespace

ReducePlan plan_reduce(const ReduceShape& s, std::uint32_t multiprocessors) {
  ReducePlan plan;
  std::vector<bool> reduced(s.shape.size(), false);
  for (const std::int64_t axis : s.axes) reduced[static_cast<std::size_t>(axis)] = true;
  bool trailing = true;  // no kept dimension stands after a reduced one
  for (std::size_t d = 0; d < s.shape.size(); ++d) {
    (reduced[d] ? plan.length : plan.outputs) *= s.shape[d];
    if (!reduced[d] && s.shape[d] > 1 &&
        std::find(reduced.begin(), reduced.begin() + static_cast<std::ptrdiff_t>(d), true) !=
            reduced.begin() + static_cast<std::ptrdiff_t>(d))
      trailing = false;
  }
  plan.rows = trailing && plan.length >= 64 && plan.outputs < (std::int64_t{1} << 31);
  const std::int64_t blocks = plan.rows ? plan.outputs : (plan.outputs + 255) / 256;
  plan.blocks = static_cast<std::uint32_t>(std::max<std::int64_t>(blocks, 1));
  // Enough blocks for all SMs; a chunk has at least 4096 elements of a row, 64 of a column.
  const std::int64_t wanted = 16 * static_cast<std::int64_t>(multiprocessors);
  const std::int64_t most = std::max<std::int64_t>(plan.length / (plan.rows ? 4096 : 64), 1);
  plan.chunks = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(wanted / std::max<std::int64_t>(blocks, 1), 1, std::min<std::int64_t>(most, 4096)));
  plan.scratch_bytes = plan.outputs * plan.chunks * 8;
  plan.shared = plan.chunks >= combine_threads / 2;
  plan.combine_blocks =
      static_cast<std::uint32_t>(plan.shared ? plan.outputs : (plan.outputs + combine_threads - 1) / combine_threads);
  return plan;
}

std::string reduce_source(const ReduceShape& s, const ReducePlan& plan) {
  std::vector<bool> reduced(s.shape.size(), false);
  for (const std::int64_t axis : s.axes) reduced[static_cast<std::size_t>(axis)] = true;
  std::vector<bool> kept = reduced;
  kept.flip();
  std::uint32_t width = 1;
  if (bits_of(s.dtype) >= 8) {
    width = static_cast<std::uint32_t>(128 / bits_of(s.dtype));
    if (!s.aligned || plan.length % width != 0) width = 1;
  }
  std::string out(device_prelude());
  out += offset_function("kept_offset", s.shape, kept) + offset_function("reduced_offset", s.shape, reduced);
  out += fmt::format(
      "using Sum = {};\nconstexpr int D = {}, TO = {}, R = {}, WIDTH = {};\nconstexpr bool ROWS = {}, SHARED = {};\n",
      accumulator(s.dtype), static_cast<int>(s.dtype), static_cast<int>(s.result), static_cast<int>(s.reduction), width,
      plan.rows, plan.shared);
  out += fmt::format(
      "constexpr u64 LENGTH = {}ull, OUTPUTS = {}ull, CHUNKS = {}ull, CHUNK = {}ull;\n#define IDENTITY {}\n",
      plan.length, plan.outputs, plan.chunks, chunk_of(plan), identity(s));
  return out + std::string(kernels);
}

std::string gemm_source(const Gemm& gemm, const GemmShape& s) {
  const bool floats = is_float(s.a);
  const bool wide = s.a == Dtype::F64 || s.b == Dtype::F64;
  const std::string_view sum = floats ? (wide ? "double" : "float") : bits_of(s.d) == 64 ? "u64" : "u32";
  const auto number = [&](double v) {
    return floats ? fmt::format("(Sum)__longlong_as_double({:#x}ll)", std::bit_cast<std::uint64_t>(v))
                  : fmt::format("(Sum){}ll", static_cast<std::int64_t>(v));
  };
  std::string out(device_prelude());
  out += fmt::format("using Sum = {};\nconstexpr int A = {}, B = {}, D = {};\nconstexpr u64 m = {}, n = {}, k = {};\n",
                     sum, static_cast<int>(s.a), static_cast<int>(s.b), static_cast<int>(s.d), s.m, s.n, s.k);
  out +=
      "extern \"C\" __global__ void gemm(const void* a, const void* b, const void* c, const void* bias, void* d) {\n";
  // Two neighbours a thread, since two results of 4 bits share a byte.
  out += fmt::format("  const u64 total = {}ull * m * n;\n", s.batch);
  out += "  const u64 first = ((u64)blockIdx.x * blockDim.x + threadIdx.x) * 2;\n";
  out += "  for (u64 at = first; at < first + 2 && at < total; ++at) {\n";
  out += "    const u64 batch = at / (m * n), row = at / n % m, column = at % n;\n    Sum sum = 0;\n";
  out += fmt::format(
      "    for (u64 i = 0; i < k; ++i)\n      sum += (Sum)get<A>(a, batch * m * k + {}) * (Sum)get<B>(b, batch * k * n "
      "+ {});\n",
      gemm.transpose_a ? "i * m + row" : "row * k + i", gemm.transpose_b ? "column * k + i" : "i * n + column");
  out += fmt::format("    Sum v = {} * sum;\n", number(gemm.alpha));
  if (gemm.beta != 0) out += fmt::format("    v += {} * (Sum)get<D>(c, at);\n", number(gemm.beta));
  if (gemm.epilogue == Epilogue::Bias) out += "    v += (Sum)get<D>(bias, column);\n";
  if (gemm.epilogue == Epilogue::Relu)
    out += floats           ? "    v = v < 0 ? 0 : v;\n"
           : is_signed(s.d) ? fmt::format("    v = ({})v < 0 ? 0 : v;\n", bits_of(s.d) == 64 ? "s64" : "s32")
                            : "";
  if (gemm.epilogue == Epilogue::Gelu)
    out +=
        "    { double x = (double)v; v = (Sum)(0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * "
        "x)))); }\n";
  out += floats ? "    put<D>(d, at, round_to<D>((double)v));\n" : "    put<D>(d, at, wrap<D>((u64)v));\n";
  return out + "  }\n}\n";
}

}  // namespace stave::cuda
