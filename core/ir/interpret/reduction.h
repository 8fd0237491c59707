// sum, prod, min and max of two numbers. min and max give NaN if either is NaN, as XLA
// does (CUDA's fminf does not); of -0 and +0 they give the first.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/ir/interpret/number.h"
#include "core/ir/values.h"

namespace stave {

// Elements converted and combined at once.
inline constexpr std::size_t reduction_block = 1024;

inline double min_of(double a, double b) { return a <= b || std::isnan(a) ? a : b; }
inline double max_of(double a, double b) { return a >= b || std::isnan(a) ? a : b; }

inline bool less_than(bool with_sign, std::uint64_t a, std::uint64_t b) {
  return with_sign ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
}

// For integers the sum and product are of 64 bits: the caller wraps at the end.
inline std::uint64_t combined(Reduction reduction, bool with_sign, std::uint64_t a, std::uint64_t b) {
  switch (reduction) {
    case Reduction::Sum: return a + b;
    case Reduction::Prod: return a * b;
    case Reduction::Min: return less_than(with_sign, b, a) ? b : a;
    case Reduction::Max: return less_than(with_sign, a, b) ? b : a;
  }
  return a;
}

inline double combined(Reduction reduction, double a, double b) {
  switch (reduction) {
    case Reduction::Sum: return a + b;
    case Reduction::Prod: return a * b;
    case Reduction::Min: return min_of(a, b);
    case Reduction::Max: return max_of(a, b);
  }
  return a;
}

// What a reduction of nothing gives: 0, 1, the largest value, the smallest. Reductions of
// something start at their first element, so that a sum of -0 stays -0.
inline double float_identity(Reduction reduction, Dtype dtype) {
  const double most = dtype == Dtype::F8E4M3 ? 448 : std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::Sum: return 0;
    case Reduction::Prod: return 1;
    case Reduction::Min: return most;
    case Reduction::Max: return -most;
  }
  return 0;
}

inline std::uint64_t integer_identity(Reduction reduction, Dtype dtype) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (reduction) {
    case Reduction::Sum: return 0;
    case Reduction::Prod: return 1;
    case Reduction::Min: return integer_of(dtype, infinity);
    case Reduction::Max: return dtype == Dtype::Bool ? 0 : integer_of(dtype, -infinity);
  }
  return 0;
}

}  // namespace stave
