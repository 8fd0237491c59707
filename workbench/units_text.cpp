#include "workbench/units_text.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <vector>

#include "core/base/utf8.h"

namespace stave {
namespace {

// Of text that is UTF-8.
std::vector<std::size_t> character_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0) != 0x80) starts.push_back(i);
  return starts;
}

}  // namespace

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

std::string with_number_ranges(std::string_view text) {
  const std::size_t open = text.find('['), close = text.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::string(text);
  std::vector<std::int64_t> numbers;
  for (const char* at = text.data() + open + 1; at < text.data() + close;) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(at, text.data() + close, number);
    if (error != std::errc{}) return std::string(text);
    numbers.push_back(number);
    at = end;
    while (at < text.data() + close && (*at == ',' || *at == ' ')) ++at;
  }
  std::string out(text.substr(0, open + 1));
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    // Two neighbours are no shorter as a range.
    if (last == i + 1) last = i;
    out += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
    if (last > i) out += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return out + std::string(text.substr(close));
}

std::string cut(std::string_view text, std::size_t width) {
  std::string shown = printable(text);
  const std::vector<std::size_t> starts = character_starts(shown);
  if (starts.size() <= width) return shown;
  return shown.substr(0, starts[width - 3]) + "...";
}

std::string cut_front(std::string_view text, std::size_t width) {
  std::string shown = printable(text);
  const std::vector<std::size_t> starts = character_starts(shown);
  if (starts.size() <= width) return shown;
  return "..." + shown.substr(starts[starts.size() - width + 3]);
}

std::string count_text(std::size_t n, std::string_view one) {
  return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
}

}  // namespace stave
