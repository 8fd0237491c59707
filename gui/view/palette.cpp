#include "gui/view/palette.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "core/timeline/rows.h"
#include "profiles/export/palette.h"

namespace stave::gui {
namespace {

constexpr Rgb from_hex(std::string_view hex) {
  Rgb value = 0;
  for (const char c : hex.substr(1)) value = value * 16 + static_cast<Rgb>(c <= '9' ? c - '0' : c - 'a' + 10);
  return 0xff000000 | value;
}

constexpr Theme light{
    .window = from_hex("#f4f5f7"),
    .row = from_hex("#ffffff"),
    .header = from_hex("#eceef1"),
    .run_header = from_hex("#dde1e7"),
    .names = from_hex("#f8f9fa"),
    .line = from_hex("#d3d7dd"),
    .grid = from_hex("#eff1f3"),
    .text = from_hex("#1d2129"),
    .faint = from_hex("#565f6b"),
    .accent = from_hex("#111111"),
    .partner = from_hex("#00695c"),
    .range = from_hex("#7a2fbf"),
    .mark = from_hex("#c2185b"),
    .path = from_hex("#1d2129"),
    .arrow = from_hex("#3a3f47"),
    .counter = from_hex("#4c78a8"),
};
constexpr Theme dark_theme{
    .window = from_hex("#16181c"),
    .row = from_hex("#1d2025"),
    .header = from_hex("#282c33"),
    .run_header = from_hex("#343a44"),
    .names = from_hex("#212429"),
    .line = from_hex("#3a3f48"),
    .grid = from_hex("#262a30"),
    .text = from_hex("#e6e8eb"),
    .faint = from_hex("#a4adb8"),
    .accent = from_hex("#ffffff"),
    .partner = from_hex("#5eead4"),
    .range = from_hex("#d7a8ff"),
    .mark = from_hex("#ff6f9f"),
    .path = from_hex("#f2f4f7"),
    .arrow = from_hex("#d0d4da"),
    .counter = from_hex("#7fa8d6"),
};

// Okabe and Ito's hues, then their greyer neighbours of Tol's "muted" scheme (Paul Tol, "Colour Schemes", 2021).
constexpr std::array categories{from_hex("#0072b2"), from_hex("#e69f00"), from_hex("#009e73"), from_hex("#cc79a7"),
                                from_hex("#56b4e9"), from_hex("#d55e00"), from_hex("#ddcc77"), from_hex("#882255")};

constexpr unsigned channel(Rgb colour, int shift) { return (colour >> shift) & 0xff; }

double luminance(Rgb colour) {
  const auto linear = [](unsigned c) {
    const double s = c / 255.0;
    return s <= 0.03928 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(channel(colour, 16)) + 0.7152 * linear(channel(colour, 8)) +
         0.0722 * linear(channel(colour, 0));
}

}  // namespace

const Theme& theme_of(bool dark) { return dark ? dark_theme : light; }

Rgb blend(Rgb a, Rgb b, unsigned part) {
  Rgb mixed = 0xff000000;
  for (const int shift : {0, 8, 16})
    mixed |= ((channel(a, shift) * (256 - part) + channel(b, shift) * part) >> 8) << shift;
  return mixed;
}

double contrast(Rgb a, Rgb b) {
  const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
  return (lighter + 0.05) / (darker + 0.05);
}

Rgb text_on(Rgb fill) {
  constexpr Rgb black = 0xff000000, white = 0xffffffff;
  return contrast(fill, black) >= contrast(fill, white) ? black : white;
}

Rgb fill_of(Family family, bool dark) {
  if (dark) {
    // The pale ones of a light page would glare.
    switch (family) {
      case Family::Stream: return from_hex("#a8a26a");
      case Family::Host: return from_hex("#7d838c");
      case Family::Mark: return from_hex("#5b616b");
      case Family::Idle: return from_hex("#31363e");
      case Family::Other: return from_hex("#8a8f98");
      default: break;
    }
  } else if (family == Family::Idle) {
    return from_hex("#e6e8eb");
  }
  return from_hex(paint_of(family).fill);
}

Rgb category(std::size_t number) { return categories[number % categories.size()]; }

Rgb delta_fill(Picoseconds delta, Picoseconds scale, bool dark) {
  const Rgb neutral = dark ? from_hex("#4a505a") : from_hex("#d5d9df");
  if (delta == Picoseconds{}) return neutral;
  const double size = std::min(1.0, std::abs(static_cast<double>(delta.count()) / static_cast<double>(scale.count())));
  const Rgb full = delta < Picoseconds{} ? from_hex("#0072b2") : from_hex("#d55e00");
  return blend(neutral, full, static_cast<unsigned>(48 + 208 * size));
}

Rgb only_here_fill() { return from_hex("#cc79a7"); }

Rgb problem_fill(std::uint8_t flags, bool dark) {
  if (flags & slice_flags::clamped) return from_hex("#d55e00");
  if (flags & slice_flags::orphan) return from_hex("#e69f00");
  if (flags & slice_flags::extrapolated) return from_hex("#cc79a7");
  if (flags & slice_flags::guessed_command) return from_hex("#56b4e9");
  return dark ? from_hex("#4a505a") : from_hex("#d5d9df");
}

}  // namespace stave::gui
