#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "core/ir/interpret/compute.h"
#include "core/ir/interpret/number.h"

namespace stave {
namespace {

// Sixteen bytes of lanes: what every 64-bit CPU has. No fused multiply-add, so that
// results are the same on all of them.
template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  using type = float __attribute__((vector_size(16)));
};
template <>
struct Lanes<double> {
  using type = double __attribute__((vector_size(16)));
};
template <>
struct Lanes<std::uint32_t> {
  using type = std::uint32_t __attribute__((vector_size(16)));
};
template <>
struct Lanes<std::uint64_t> {
  using type = std::uint64_t __attribute__((vector_size(16)));
};

constexpr std::size_t tile_rows = 4;
template <class T>
constexpr std::size_t tile_columns = 32 / sizeof(T);
// A block of A (64 rows) and of B (128 columns) at all k is converted at a time.
constexpr std::size_t block_rows = 64;
constexpr std::size_t block_columns = 128;

// out[tile_rows][tile_columns] = the sums over k, ascending, of a[k][row] * b[k][column].
template <class T>
void multiply_tile(const T* a, const T* b, std::size_t depth, T* out, std::size_t out_stride) {
  using V = typename Lanes<T>::type;
  constexpr std::size_t half = 16 / sizeof(T);
  V c00{}, c01{}, c10{}, c11{}, c20{}, c21{}, c30{}, c31{};
  for (std::size_t k = 0; k < depth; ++k, a += tile_rows, b += 2 * half) {
    V b0, b1;
    __builtin_memcpy(&b0, b, sizeof(V));
    __builtin_memcpy(&b1, b + half, sizeof(V));
    c00 += a[0] * b0;
    c01 += a[0] * b1;
    c10 += a[1] * b0;
    c11 += a[1] * b1;
    c20 += a[2] * b0;
    c21 += a[2] * b1;
    c30 += a[3] * b0;
    c31 += a[3] * b1;
  }
  const V sums[tile_rows][2] = {{c00, c01}, {c10, c11}, {c20, c21}, {c30, c31}};
  for (std::size_t r = 0; r < tile_rows; ++r) __builtin_memcpy(out + r * out_stride, sums[r], sizeof(sums[r]));
}

template <class T>
void load(const ConstOperand& from, std::size_t first, std::size_t count, T* out, std::vector<std::uint64_t>& wide) {
  if constexpr (std::is_same_v<T, float>) {
    load_floats(from.bytes, from.dtype, first, count, out);
  } else if constexpr (std::is_same_v<T, double>) {
    load_doubles(from.bytes, from.dtype, first, count, out);
  } else {
    wide.resize(std::max(wide.size(), count));
    load_integers(from.bytes, from.dtype, first, count, wide.data());
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(wide[i]);
  }
}

// One matrix of an operand: `outer` (m of A, n of B) by `depth` (k).
struct Matrix {
  const ConstOperand& from;
  std::size_t base;  // first element
  std::size_t outer;
  std::size_t depth;
  bool depth_fastest;  // consecutive elements go along k
};

// Converts outer positions first .. first + count - 1 into panels of `width`:
// panels[p][k][x], zeros beyond the end.
template <class T>
void pack(const Matrix& matrix, std::size_t first, std::size_t count, std::size_t width, std::vector<T>& panels,
          std::vector<T>& line, std::vector<std::uint64_t>& wide) {
  const std::size_t depth = matrix.depth;
  const std::size_t panel = depth * width;
  panels.assign((count + width - 1) / width * panel, T{});
  if (matrix.depth_fastest) {
    line.resize(depth);
    for (std::size_t x = 0; x < count; ++x) {
      load(matrix.from, matrix.base + (first + x) * depth, depth, line.data(), wide);
      T* to = panels.data() + x / width * panel + x % width;
      for (std::size_t k = 0; k < depth; ++k) to[k * width] = line[k];
    }
  } else {
    line.resize(count);
    for (std::size_t k = 0; k < depth; ++k) {
      load(matrix.from, matrix.base + k * matrix.outer + first, count, line.data(), wide);
      for (std::size_t x = 0; x < count; ++x) panels[x / width * panel + k * width + x % width] = line[x];
    }
  }
}

struct Product {
  const Gemm& gemm;
  ConstOperand a, b;
  const ConstOperand* c;     // beta is not 0
  const ConstOperand* bias;  // epilogue bias
  Operand result;
  std::size_t batch, m, n, k;
};

// GELU in its tanh form: 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), Hendrycks and
// Gimpel 2016; cuBLASLt's GELU epilogue is this form.
double gelu(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

// Turns sums into elements of the result: row i, columns first ... first + count - 1.
template <class T>
class Finish {
 public:
  explicit Finish(const Product& problem) : p_(problem) {}

  void row(std::size_t batch, std::size_t i, std::size_t first, std::size_t count, const T* sums) {
    const std::size_t at = (batch * p_.m + i) * p_.n + first;
    if (p_.c) load(*p_.c, at, count, c_, wide_);
    if (p_.bias) load(*p_.bias, first, count, bias_, wide_);
    const T alpha = scale(p_.gemm.alpha);
    const T beta = scale(p_.gemm.beta);
    for (std::size_t j = 0; j < count; ++j) {
      T v = alpha * sums[j];
      if (p_.c) v += beta * c_[j];
      if (p_.bias) v += bias_[j];
      v = activated(v);
      if constexpr (std::is_floating_point_v<T>) {
        real_[j] = v;
      } else {
        integer_[j] = v;
      }
    }
    if constexpr (std::is_floating_point_v<T>) {
      store_doubles(p_.result.bytes, p_.result.dtype, at, count, real_);
    } else {
      store_integers(p_.result.bytes, p_.result.dtype, at, count, p_.result.dtype, integer_);
    }
  }

 private:
  static T scale(double v) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(v);
    return static_cast<T>(static_cast<std::int64_t>(v));
  }
  T activated(T v) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (p_.gemm.epilogue == Epilogue::Relu) return v < 0 ? 0 : v;
      if (p_.gemm.epilogue == Epilogue::Gelu) return static_cast<T>(gelu(v));
    } else if (p_.gemm.epilogue == Epilogue::Relu && is_signed(p_.result.dtype)) {
      return static_cast<std::make_signed_t<T>>(v) < 0 ? 0 : v;
    }
    return v;
  }

  const Product& p_;
  T c_[block_columns];
  T bias_[block_columns];
  double real_[block_columns];
  std::uint64_t integer_[block_columns];
  std::vector<std::uint64_t> wide_;
};

template <class T>
Result<void> multiply(const Product& p, Progress* progress) {
  constexpr std::size_t columns = tile_columns<T>;
  std::vector<T> a, b, line;
  std::vector<T> sums(block_rows * block_columns);
  std::vector<std::uint64_t> wide;
  Finish<T> finish(p);
  for (std::size_t batch = 0; batch < p.batch; ++batch) {
    const Matrix of_a{p.a, batch * p.m * p.k, p.m, p.k, !p.gemm.transpose_a};
    const Matrix of_b{p.b, batch * p.k * p.n, p.n, p.k, p.gemm.transpose_b};
    for (std::size_t j = 0; j < p.n; j += block_columns) {
      const std::size_t nj = std::min(block_columns, p.n - j);
      pack(of_b, j, nj, columns, b, line, wide);
      for (std::size_t i = 0; i < p.m; i += block_rows) {
        const std::size_t ni = std::min(block_rows, p.m - i);
        pack(of_a, i, ni, tile_rows, a, line, wide);
        for (std::size_t y = 0; y < ni; y += tile_rows)
          for (std::size_t x = 0; x < nj; x += columns)
            multiply_tile(a.data() + y * p.k, b.data() + x * p.k, p.k, sums.data() + y * block_columns + x,
                          block_columns);
        for (std::size_t y = 0; y < ni; ++y) finish.row(batch, i + y, j, nj, sums.data() + y * block_columns);
        if (progress == nullptr) continue;
        progress->done.fetch_add(static_cast<std::int64_t>(ni * nj * p.k), std::memory_order_relaxed);
        TRY_VOID(still_wanted(progress));
      }
    }
  }
  return {};
}

Result<void> check_shapes(const Product& p) {
  const auto batch_of = [](std::span<const std::int64_t> shape) { return shape.first(shape.size() - 2); };
  const auto same = [&](const ConstOperand& x, std::string_view what, std::size_t rows,
                        std::size_t cols) -> Result<void> {
    const auto shape = x.shape;
    if (!std::ranges::equal(batch_of(shape), batch_of(p.result.shape)))
      return error_at({}, "STV0652", "the batch dimensions of {} differ from those of the result", what);
    const auto r = static_cast<std::size_t>(shape[shape.size() - 2]);
    const auto c = static_cast<std::size_t>(shape[shape.size() - 1]);
    if (r != rows || c != cols)
      return error_at({}, "STV0652", "{} of a gemm must be [{}, {}], got [{}, {}]", what, rows, cols, r, c);
    return {};
  };
  TRY_VOID(same(p.a, "A", p.gemm.transpose_a ? p.k : p.m, p.gemm.transpose_a ? p.m : p.k));
  TRY_VOID(same(p.b, "B", p.gemm.transpose_b ? p.n : p.k, p.gemm.transpose_b ? p.k : p.n));
  TRY_VOID(same(p.result, "the result", p.m, p.n));
  if (p.c) {
    if (p.c->shape.size() != p.result.shape.size())
      return error_at({}, "STV0652", "C of a gemm has {} dimensions, the result {}", p.c->shape.size(),
                      p.result.shape.size());
    TRY_VOID(same(*p.c, "C", p.m, p.n));
  }
  if (p.bias && elements_of(p.bias->shape) != static_cast<std::int64_t>(p.n))
    return error_at({}, "STV0652", "the bias of a gemm has n = {} elements, got {}", p.n, elements_of(p.bias->shape));
  return {};
}

}  // namespace

Result<void> interpret_gemm(const Gemm& gemm, std::span<const ConstOperand> operands, std::span<const Operand> results,
                            Progress* progress) {
  const bool with_c = gemm.beta != 0;
  const bool with_bias = gemm.epilogue == Epilogue::Bias;
  const std::size_t expected = 2U + with_c + with_bias;
  if (operands.size() != expected || results.size() != 1)
    return error_at({}, "STV0651", "this gemm takes {} operands (A, B{}{}) and 1 result, got {} and {}", expected,
                    with_c ? ", C" : "", with_bias ? ", bias" : "", operands.size(), results.size());
  const ConstOperand& a = operands[0];
  const ConstOperand& b = operands[1];
  const Operand& result = results[0];
  const std::size_t rank = result.shape.size();
  if (rank < 2 || a.shape.size() != rank || b.shape.size() != rank)
    return error_at({}, "STV0652", "a gemm takes matrices with equal batch dimensions; A, B, result have {}, {}, {}",
                    a.shape.size(), b.shape.size(), rank);
  const auto size = [](std::int64_t v) { return static_cast<std::size_t>(v); };
  const Product p{.gemm = gemm,
                  .a = a,
                  .b = b,
                  .c = with_c ? &operands[2] : nullptr,
                  .bias = with_bias ? &operands.back() : nullptr,
                  .result = result,
                  .batch = size(elements_of(result.shape.first(rank - 2))),
                  .m = size(result.shape[rank - 2]),
                  .n = size(result.shape[rank - 1]),
                  .k = size(a.shape[gemm.transpose_a ? rank - 2 : rank - 1])};
  TRY_VOID(check_shapes(p));
  const bool floats = is_float(a.dtype) && is_float(b.dtype) && is_float(result.dtype);
  const bool integers = is_integer(a.dtype) && is_integer(b.dtype) && is_integer(result.dtype);
  if (!floats && !integers)
    return error_at({}, "STV0653", "a gemm is of floats or of integers; A, B, result are {}, {}, {}", name_of(a.dtype),
                    name_of(b.dtype), name_of(result.dtype));
  if (floats)
    return a.dtype == Dtype::F64 || b.dtype == Dtype::F64 ? multiply<double>(p, progress)
                                                          : multiply<float>(p, progress);
  for (const double factor : {gemm.alpha, gemm.beta})
    if (factor != std::trunc(factor) || std::fabs(factor) > 0x1p31)
      return error_at({}, "STV0656", "alpha and beta of an integer gemm are s32 integers, got {}", factor);
  if (gemm.epilogue == Epilogue::Gelu)
    return error_at({}, "STV0653", "epilogue gelu is for floats, the result is {}", name_of(result.dtype));
  return bits_of(result.dtype) == 64 ? multiply<std::uint64_t>(p, progress) : multiply<std::uint32_t>(p, progress);
}

}  // namespace stave
