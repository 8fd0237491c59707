// Colours of the view, light and dark.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/units.h"
#include "core/timeline/family.h"

namespace stave::gui {

using Rgb = std::uint32_t;  // 0xffRRGGBB, as QRgb

struct Theme {
  Rgb window;  // behind everything
  Rgb row;     // behind slices
  Rgb header;  // rank and group rows
  Rgb run_header;
  Rgb names;  // the names column
  Rgb line;   // between rows and parts
  Rgb grid;   // at the ruler's labels
  Rgb text;
  Rgb faint;   // secondary text
  Rgb accent;  // selection
  Rgb partner;
  Rgb range;  // also bookmarks
  Rgb mark;   // search hits, the ruler
  Rgb path;   // critical path
  Rgb arrow;
  Rgb counter;
};
const Theme& theme_of(bool dark);

// The share of `b` is `part` of 256.
Rgb blend(Rgb a, Rgb b, unsigned part);
// Black or white, whichever is easier to read on it.
Rgb text_on(Rgb fill);
// WCAG 2.1, 1 to 21.
double contrast(Rgb a, Rgb b);

Rgb fill_of(Family family, bool dark);
// Different for the first eight numbers, then again from the start.
Rgb category(std::size_t number);
// Blue: B starts earlier or is shorter; orange: later or longer; paler the smaller, full from `scale` on.
Rgb delta_fill(Picoseconds delta, Picoseconds scale, bool dark);
Rgb only_here_fill();  // no partner in the other run
// Of slice_flags; the gravest one decides.
Rgb problem_fill(std::uint8_t flags, bool dark);

}  // namespace stave::gui
