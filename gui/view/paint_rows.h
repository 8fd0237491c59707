// The rows of a frame, each composed line by line: their backgrounds, slices,
// counters and the names column, all but texts.
#pragma once

#include <utility>
#include <vector>

#include "gui/view/frame.h"

namespace stave::gui {

// Writes the row's lines within the canvas. Any thread.
void paint_row(const Frame& frame, const PlacedRow& placed, const Canvas& canvas, std::vector<Caption>& captions);

// How busy the tracks are together, as bars: the busiest one of each column. Paler where a critical path is
// shown and `pale` is set.
void paint_summary(const Frame& frame, const std::vector<std::pair<std::size_t, TrackId>>& tracks, const TimeMap& time,
                   const Canvas& canvas, int x, int y, int height, bool pale = true);

}  // namespace stave::gui
