// The levels of one lane.
#pragma once

#include <span>

#include "gui/view/lod.h"

namespace stave::gui {

// From the lane's slices; `slices` are those of the timeline.
void build_nodes(std::span<const Slice> slices, LaneLod& lane);
// From the slices and the nodes.
void build_pyramid(std::span<const Slice> slices, LaneLod& lane);

}  // namespace stave::gui
