#include <algorithm>
#include <vector>

#include "core/ir/interpret/compute.h"
#include "core/ir/interpret/number.h"
#include "core/ir/interpret/reduction.h"

namespace stave {
namespace {

// Calls visit(first element, first result, count, step of the result) for runs along the
// last dimension, in row-major order.
template <class Visit>
void each_run(std::span<const std::int64_t> shape, const std::vector<std::size_t>& steps, Visit visit) {
  const std::size_t rank = shape.size();
  if (elements_of(shape) == 0) return;
  if (rank == 0) return visit(0, 0, 1, 0);
  const auto last = static_cast<std::size_t>(shape[rank - 1]);
  std::vector<std::int64_t> index(rank, 0);
  std::size_t from = 0;
  std::size_t to = 0;
  while (true) {
    for (std::size_t i = 0; i < last; i += reduction_block)
      visit(from + i, to + i * steps[rank - 1], std::min(reduction_block, last - i), steps[rank - 1]);
    from += last;
    std::size_t d = rank - 1;
    while (d > 0) {
      --d;
      to += steps[d];
      if (++index[d] < shape[d]) break;
      to -= steps[d] * static_cast<std::size_t>(shape[d]);
      index[d] = 0;
      if (d == 0) return;
    }
    if (rank == 1) return;
  }
}

}  // namespace

Result<void> interpret_reduce(Reduction reduction, std::span<const std::int64_t> axes,
                              std::span<const ConstOperand> operands, std::span<const Operand> results) {
  if (operands.size() != 1 || results.size() != 1)
    return error_at({}, "STV0651", "a reduce takes 1 operand and 1 result, got {} and {}", operands.size(),
                    results.size());
  const ConstOperand& in = operands[0];
  const Operand& out = results[0];
  const std::size_t rank = in.shape.size();
  std::vector<bool> reduced(rank, false);
  for (const std::int64_t axis : axes) {
    if (axis < 0 || static_cast<std::size_t>(axis) >= rank)
      return error_at({}, "STV0652", "axis {} of a reduce over {} dimensions", axis, rank);
    reduced[static_cast<std::size_t>(axis)] = true;
  }
  std::vector<std::size_t> steps(rank, 0);
  std::vector<std::int64_t> kept;
  std::size_t step = 1;
  for (std::size_t d = rank; d-- > 0;) {
    if (reduced[d]) continue;
    steps[d] = step;
    step *= static_cast<std::size_t>(in.shape[d]);
    kept.insert(kept.begin(), in.shape[d]);
  }
  if (!std::ranges::equal(kept, out.shape))
    return error_at({}, "STV0652", "the result of this reduce has {} elements in {} dimensions, got {} in {}",
                    elements_of(kept), kept.size(), elements_of(out.shape), out.shape.size());
  const auto count = static_cast<std::size_t>(elements_of(kept));
  std::vector<bool> started(count, false);
  if (is_float(in.dtype)) {
    const bool in_f32 = bits_of(in.dtype) < 32;
    std::vector<double> sums(count, float_identity(reduction, in.dtype));
    double values[reduction_block];
    each_run(in.shape, steps, [&](std::size_t from, std::size_t to, std::size_t n, std::size_t s) {
      load_doubles(in.bytes, in.dtype, from, n, values);
      for (std::size_t i = 0; i < n; ++i) {
        double& sum = sums[to + i * s];
        sum = started[to + i * s] ? combined(reduction, sum, values[i]) : values[i];
        if (in_f32) sum = static_cast<float>(sum);
        started[to + i * s] = true;
      }
    });
    store_doubles(out.bytes, out.dtype, 0, count, sums.data());
  } else {
    const bool with_sign = is_signed(in.dtype);
    std::vector<std::uint64_t> sums(count, integer_identity(reduction, in.dtype));
    std::uint64_t values[reduction_block];
    each_run(in.shape, steps, [&](std::size_t from, std::size_t to, std::size_t n, std::size_t s) {
      load_integers(in.bytes, in.dtype, from, n, values);
      for (std::size_t i = 0; i < n; ++i)
        sums[to + i * s] = combined(reduction, with_sign, sums[to + i * s], values[i]);
    });
    for (std::uint64_t& sum : sums) sum = wrapped(in.dtype, sum);
    store_integers(out.bytes, out.dtype, 0, count, in.dtype, sums.data());
  }
  return {};
}

}  // namespace stave
