// What one lane shows at a scale: slices that are wide enough to be seen one by
// one, and for each pixel column how much of it the others fill.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gui/view/lod.h"
#include "gui/view/time_map.h"

namespace stave::gui {

struct Column {
  float busy = 0;           // of 1; 0 only where nothing is
  float most = 0;           // what a single one of those below fills
  std::uint32_t slice = 0;  // position in the lane of one that fills much of it
  std::uint8_t family = 0;  // of the largest part of it
  std::uint8_t flags = 0;   // of all
};

struct WideSlice {
  std::uint32_t row = 0;  // of the timeline
  // Pixels, within the width; at least one.
  int left = 0;
  int right = 0;
};

// All slices from twice as wide on are wide, none below.
inline constexpr double wide_pixels = 2;

// Fills `columns`, one a pixel of the map's width, and `wide`, in order. No cost of more than a few
// steps a pixel. Every slice in view is in `wide` or makes a column busy.
void lane_columns(const LaneLod& lane, std::span<const Slice> slices, const TimeMap& time, std::vector<Column>& columns,
                  std::vector<WideSlice>& wide);
// All slices as columns, wide ones too.
void lane_columns(const LaneLod& lane, std::span<const Slice> slices, const TimeMap& time,
                  std::vector<Column>& columns);

}  // namespace stave::gui
