#include "gui/view/time_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace stave::gui {
namespace {

constexpr double longest_view = 100.0 * 86'400 * 1e12;

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? INT64_MAX : INT64_MIN;
}

std::int64_t to_ps(double ps) { return static_cast<std::int64_t>(std::clamp(ps, -9.2e18, 9.2e18)); }

struct TimeUnit {
  std::int64_t ps;
  int digits;  // log10
  const char* name;
};
constexpr std::array time_units{TimeUnit{1'000'000'000'000, 12, "s"}, TimeUnit{1'000'000'000, 9, "ms"},
                                TimeUnit{1'000'000, 6, "us"}, TimeUnit{1'000, 3, "ns"}, TimeUnit{1, 0, "ps"}};

const TimeUnit& unit_for(std::int64_t ps) {
  for (const TimeUnit& unit : time_units)
    if (ps >= unit.ps) return unit;
  return time_units.back();
}

// `ps` in the unit, with exactly `decimals` digits after the point.
std::string in_unit(std::int64_t ps, const TimeUnit& unit, int decimals) {
  if (ps == 0) return "0";
  const std::string sign = ps < 0 ? "-" : "";
  const auto amount = ps < 0 ? 0 - static_cast<std::uint64_t>(ps) : static_cast<std::uint64_t>(ps);
  std::string text = fmt::format("{}{}", sign, amount / static_cast<std::uint64_t>(unit.ps));
  if (decimals > 0)
    text += "." + fmt::format("{:0{}}", amount % static_cast<std::uint64_t>(unit.ps), unit.digits)
                      .substr(0, static_cast<std::size_t>(decimals));
  return text + " " + unit.name;
}

int decimals_of(std::int64_t step, const TimeUnit& unit) {
  int decimals = unit.digits;
  for (; decimals > 0 && step % 10 == 0; step /= 10) --decimals;
  return decimals;
}

}  // namespace

TimeMap::TimeMap(TimeSpan visible, double width) : origin_(visible.start), width_(std::max(width, 1.0)) {
  const double span = difference(visible.end, visible.start);
  ps_per_pixel_ = std::clamp(span / width_, 1.0, longest_view / width_);
}

Time TimeMap::time(double x) const {
  return Time{saturated_sum(origin_.count(), to_ps(std::floor(fraction_ + x * ps_per_pixel_)))};
}

TimeMap TimeMap::shifted(Picoseconds shift) const {
  TimeMap map = *this;
  map.origin_ = Time{shift == Picoseconds::min() ? origin_.count() : saturated_sum(origin_.count(), -shift.count())};
  return map;
}

void TimeMap::move(double ps) {
  const double to = fraction_ + ps;
  origin_ = Time{saturated_sum(origin_.count(), to_ps(std::floor(to)))};
  fraction_ = to - std::floor(to);
}

TimeMap TimeMap::zoomed(double factor, double x) const {
  TimeMap map = *this;
  map.ps_per_pixel_ = std::clamp(ps_per_pixel_ * factor, 1.0, longest_view / width_);
  map.move(x * (ps_per_pixel_ - map.ps_per_pixel_));
  return map;
}

TimeMap TimeMap::panned(double pixels) const {
  TimeMap map = *this;
  map.move(pixels * ps_per_pixel_);
  return map;
}

TimeMap TimeMap::resized(double width) const {
  TimeMap map = *this;
  map.width_ = std::max(width, 1.0);
  map.ps_per_pixel_ = std::min(ps_per_pixel_, longest_view / map.width_);
  return map;
}

TimeMap TimeMap::within(TimeSpan extent) const {
  const TimeSpan all = with_margin(extent);
  const TimeMap widest(all, width_);
  if (ps_per_pixel_ >= widest.ps_per_pixel_) return widest;
  constexpr double kept = 0.1;  // of the width shows the extent
  const double from_left = x(extent.start), from_right = x(extent.end);
  if (from_left > (1 - kept) * width_) return panned(from_left - (1 - kept) * width_);
  if (from_right < kept * width_) return panned(from_right - kept * width_);
  return *this;
}

TimeSpan with_margin(TimeSpan span, double part) {
  const double length = difference(span.end, span.start);
  const std::int64_t margin = to_ps(std::max(std::ceil(length * part), 50.0));
  return {Time{saturated_sum(span.start.count(), -margin)}, Time{saturated_sum(span.end.count(), margin)}};
}

Ticks ticks_of(const TimeMap& map, double spacing) {
  const double wanted = spacing * map.ps_per_pixel();
  std::int64_t step = 1, minor = 1;
  for (std::int64_t power = 1;; power *= 10) {
    step = power, minor = std::max<std::int64_t>(power / 5, 1);
    if (static_cast<double>(step) >= wanted) break;
    step = 2 * power, minor = std::max<std::int64_t>(power / 2, 1);
    if (static_cast<double>(step) >= wanted) break;
    step = 5 * power, minor = power;
    if (static_cast<double>(step) >= wanted || power >= 1'000'000'000'000'000'000) break;
  }
  const TimeSpan visible = map.visible();
  constexpr std::int64_t edge = 9'000'000'000'000'000'000;  // keeps sums below within int64
  const std::int64_t first = std::clamp(visible.start.count(), -edge, edge);
  const std::int64_t last = std::clamp(visible.end.count(), -edge, edge);
  const std::int64_t farthest = std::abs(first) > std::abs(last) ? first : last;
  const TimeUnit* unit = &unit_for(std::abs(farthest));
  int decimals = decimals_of(step, *unit);

  Ticks ticks;
  std::int64_t zero = 0;
  constexpr std::size_t long_label = 11;
  if (decimals > 4 || in_unit(farthest, *unit, decimals).size() > long_label) {
    // A round time at or before the left edge, such that offsets from it need few digits.
    std::int64_t round = step;
    while (round < INT64_MAX / 10 && static_cast<double>(round) < 10 * static_cast<double>(step)) round *= 10;
    zero = first - ((first % round) + round) % round;
    ticks.anchor = in_unit(zero, *unit, decimals_of(zero, *unit));
    unit = &unit_for(std::max(last - zero, step));
    decimals = decimals_of(step, *unit);
  }
  const std::int64_t begin = first - ((first % minor) + minor) % minor;
  for (std::int64_t at = begin; at <= last; at = saturated_sum(at, minor)) {
    if (at >= first && Time{at} >= visible.start && Time{at} <= visible.end) {
      const bool major = (at - zero) % step == 0;
      std::string label = !major ? "" : in_unit(at - zero, *unit, decimals);
      if (major && zero != 0) label.insert(0, 1, '+');
      ticks.ticks.push_back({Time{at}, std::move(label)});
    }
    if (at > INT64_MAX - minor) break;
  }
  return ticks;
}

}  // namespace stave::gui
