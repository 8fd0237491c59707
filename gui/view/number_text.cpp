#include "gui/view/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace stave::gui {

std::string number_text(double value, std::string_view unit) {
  if (unit == "MHz") return number_text(value * 1e6, "Hz");
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < std::size(prefixes)) {
    value /= 1000;
    ++prefix;
  }
  std::string name(unit);
  if (name.starts_with("bytes")) name.replace(0, 5, "B");
  if (name == "%") return fmt::format("{:.3g} %", value * std::pow(1000.0, prefix));
  std::string text = fmt::format("{:.3g}", value);
  if (!name.empty() || prefix > 0) text += fmt::format(" {}{}", prefixes[prefix], name);
  return text;
}

}  // namespace stave::gui
