#include "core/ir/interpret/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/ir/interpret/number.h"

namespace stave {
namespace {

double median_magnitude(std::vector<double> values) {
  for (double& v : values) v = std::fabs(v);
  values.erase(std::remove_if(values.begin(), values.end(), [](double v) { return !std::isfinite(v); }), values.end());
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double ratio(double difference, double magnitude) {
  if (difference == 0) return 0;
  return magnitude == 0 ? std::numeric_limits<double>::infinity() : difference / magnitude;
}

}  // namespace

double default_tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::F64: return 1e-12;
    case Dtype::F32: return 1e-5;
    case Dtype::F16: return 2e-3;
    case Dtype::BF16: return 2e-2;
    case Dtype::F8E4M3: return 0.13;
    case Dtype::F8E5M2: return 0.26;
    default: return 0;
  }
}

Result<BufferComparison> compare_buffers(std::span<const std::byte> expected, std::span<const std::byte> actual,
                                         Dtype dtype, std::size_t elements, std::optional<double> tolerance) {
  const auto needed = static_cast<std::size_t>(storage_bytes(dtype, static_cast<std::int64_t>(elements)));
  if (expected.size() != needed || actual.size() != needed)
    return error_at({}, "STV0690", "{} elements of {} take {} bytes; expected has {}, actual {}", elements,
                    name_of(dtype), needed, expected.size(), actual.size());
  BufferComparison result;
  result.elements = elements;
  result.tolerance = tolerance.value_or(default_tolerance(dtype));
  std::vector<double> want(elements), got(elements);
  load_doubles(expected, dtype, 0, elements, want.data());
  load_doubles(actual, dtype, 0, elements, got.data());
  const double typical = median_magnitude(want);
  for (std::size_t i = 0; i < elements; ++i) {
    double difference = 0;
    if (!is_float(dtype)) {
      // Doubles do not tell large 64-bit integers apart.
      const std::uint64_t a = load_unsigned(expected, dtype, i);
      const std::uint64_t b = load_unsigned(actual, dtype, i);
      const bool less = is_signed(dtype) ? static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b) : a < b;
      difference = static_cast<double>(less ? b - a : a - b);
    } else if (std::isnan(want[i]) || std::isnan(got[i]) || std::isinf(want[i]) || std::isinf(got[i])) {
      const bool same = want[i] == got[i] || (std::isnan(want[i]) && std::isnan(got[i]));
      difference = same ? 0 : std::numeric_limits<double>::infinity();
    } else {
      difference = std::fabs(got[i] - want[i]);
    }
    const double magnitude = std::isfinite(want[i]) ? std::max(std::fabs(want[i]), typical) : typical;
    const double relative = std::isinf(difference) ? difference : ratio(difference, magnitude);
    result.max_abs = std::max(result.max_abs, difference);
    result.max_rel = std::max(result.max_rel, relative);
    if (relative <= result.tolerance) continue;
    if (++result.mismatches == 1) {
      result.first = i;
      result.expected_at_first = want[i];
      result.actual_at_first = got[i];
    }
  }
  return result;
}

std::string to_text(const BufferComparison& c) {
  const std::string largest = fmt::format("largest difference {}, relative {}, tolerance {:g}", real_text(c.max_abs, 6),
                                          real_text(c.max_rel, 3), c.tolerance);
  if (c.equal()) return fmt::format("{} elements equal; {}", c.elements, largest);
  return fmt::format("{} of {} elements differ; first at {}: expected {}, got {}; {}", c.mismatches, c.elements,
                     *c.first, real_text(c.expected_at_first, 9), real_text(c.actual_at_first, 9), largest);
}

}  // namespace stave
