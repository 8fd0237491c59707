// The chain of work and waiting that the end of a timeline hung on.
#pragma once

#include <string>
#include <vector>

#include "analysis/timeline_index.h"
#include "core/timeline/run_info.h"

namespace stave {

// One stretch of the chain. Consecutive stretches touch, and their durations
// add up to the window.
struct PathPart {
  enum class Kind : std::uint8_t {
    Work,  // the slice ran
    Gap,   // nothing on the chain ran: launch latency, the gap between kernels, a host that only waited, or unknown
  };
  Kind kind = Kind::Work;
  SliceId slice;  // Gap: the slice that came after, or the call that waited
  Time start{};
  Picoseconds duration{};
  Certainty certainty = Certainty::Predicted;  // of the edge towards the part before

  friend bool operator==(const PathPart&, const PathPart&) = default;
};
std::string_view name_of(PathPart::Kind kind);

// From the window's begin to its end. Walks back from the slice that ends last
// through the flow, or the slice before on its own track, that ended last; a
// collective that waited for its peers is left at the moment it began to move, a
// host call that waited for the device at the moment the device was done. On a
// thread, where slices nest, the innermost one counts; a thread that did nothing
// is left for the one of its rank that began something else last (possible).
// Empty if no slice lies in the window.
// `kind` says how sure the order on a track is: recorded, but of a prediction.
std::vector<PathPart> critical_path(const TimelineIndex& index, Interval window, RunKind kind = RunKind::Predicted);

}  // namespace stave
