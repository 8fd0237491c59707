#include "workbench/units_text.h"

#include <fmt/format.h>

#include <iterator>

namespace stave {

std::string duration_text(Picoseconds duration) {
  struct Unit {
    std::string_view name;
    std::int64_t ps;
  };
  static constexpr Unit units[] = {{"s", 1'000'000'000'000}, {"ms", 1'000'000'000}, {"us", 1'000'000}, {"ns", 1'000}};
  const std::int64_t ps = duration.count();
  for (const Unit& unit : units)
    if (ps >= unit.ps || ps <= -unit.ps)
      return fmt::format("{:.3f} {}", static_cast<double>(ps) / static_cast<double>(unit.ps), unit.name);
  return fmt::format("{} ps", ps);
}

std::string bytes_text(std::int64_t bytes) {
  static constexpr std::string_view units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(units)) value /= 1024, ++unit;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

std::string percent_text(std::optional<double> value, bool sign) {
  if (!value) return "-";
  return sign ? fmt::format("{:+.1f} %", *value) : fmt::format("{:.1f} %", *value);
}

std::string cut(std::string_view text, std::size_t width) {
  return text.size() <= width ? std::string(text) : fmt::format("{}...", text.substr(0, width - 3));
}

}  // namespace stave
