// How much longer work could take without the end of a timeline moving.
#pragma once

#include <vector>

#include "analysis/timeline_index.h"

namespace stave {

// Of a slice that is not in the window, or neither on a device nor on a host.
inline constexpr Picoseconds no_slack = Picoseconds::max();

// By slice row. Work may take so much longer that what waited for it last still begins in time, and what begins
// later then may use its own slack up: all else takes as long as it did, and the gap behind what a slice waited for
// last (a launch's way to the device) stays. So all work on the critical path has none. Members of a collective end
// together and have the slack of the one that has least; of what a rank waited for peers its work before has slack.
// The end is that of the last slice on a device in the window; for hosts, whose last calls nothing waits for, the
// window's.
std::vector<Picoseconds> slack(const TimelineIndex& index, Interval window);

}  // namespace stave
