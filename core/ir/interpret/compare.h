// How far a buffer is from the one expected. STV0690: different sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/base/result.h"
#include "core/ir/dtype.h"

namespace stave {

// An element differs if |actual - expected| > relative * max(|expected|, median of the
// |expected| that are finite). The median is there because a sum that cancels keeps the
// error of its terms. Infinities must be equal; NaN equals NaN, -0 equals +0.
// integers, bool: 0 (exact); f64 1e-12; f32 1e-5; f16 2e-3; bf16 2e-2; f8e4m3 0.13 and
// f8e5m2 0.26, one step of their significand.
double default_tolerance(Dtype dtype);

struct BufferComparison {
  std::size_t elements = 0;
  std::size_t mismatches = 0;
  double max_abs = 0;                  // largest |actual - expected|; infinite if one is not finite
  double max_rel = 0;                  // largest of that over the magnitude above
  std::optional<std::size_t> first{};  // index of the first mismatch
  double expected_at_first = 0;
  double actual_at_first = 0;
  double tolerance = 0;

  bool equal() const { return mismatches == 0; }
};

// Both hold `elements` elements of the dtype.
Result<BufferComparison> compare_buffers(std::span<const std::byte> expected, std::span<const std::byte> actual,
                                         Dtype dtype, std::size_t elements,
                                         std::optional<double> tolerance = std::nullopt);

// One line: "64 elements equal; largest difference ..., tolerance 0.02", or
// "3 of 64 elements differ; first at 5: expected 1, got 2; ...".
std::string to_text(const BufferComparison& comparison);

}  // namespace stave
