#include "analysis/critical_path.h"

#include <algorithm>
#include <optional>

#include "analysis/predecessors.h"

namespace stave {

std::string_view name_of(PathPart::Kind kind) { return kind == PathPart::Kind::Work ? "work" : "gap"; }

std::vector<PathPart> critical_path(const TimelineIndex& index, Interval window, RunKind kind) {
  // What is recorded is what happened, in its order.
  const Certainty track_order = kind == RunKind::Predicted ? Certainty::Predicted : Certainty::Recorded;
  const Timeline& timeline = index.timeline();
  std::optional<PathStep> at;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    if (!is_device_track(timeline.track(slice.track)) || slice.start >= window.end || slice.end() <= window.begin)
      continue;
    const Time until = std::min(slice.end(), window.end);
    if (!at || until > at->until) at = PathStep{SliceId{row + 1}, until, track_order};
  }
  if (!at) return {};

  Predecessors predecessors(index, track_order);
  std::vector<PathPart> path;  // from the end
  const auto add = [&](PathPart::Kind kind, SliceId slice, Time begin, Time end, Certainty certainty) {
    if (begin < end) path.push_back({kind, slice, begin, end - begin, certainty});
  };
  add(PathPart::Kind::Gap, at->slice, at->until, window.end, track_order);
  while (at->until > window.begin) {
    const Slice& slice = timeline.slice(at->slice);
    // The wait of a collective belongs to whom it waited for. Reached within its
    // wait, or with nobody to blame, it counts as a whole: each turn goes back in time.
    const Time own_start = std::max(window.begin, predecessors.begin_of(*at));
    Time begin = std::max(own_start, slice.start + index.waits(at->slice.row()).sum());
    std::optional<PathStep> before = predecessors.waited_for(at->slice, at->until);
    if (before) begin = std::max(before->until, window.begin);
    if (!before && begin < at->until) before = predecessors.last(at->slice, begin);
    if (!before) {
      begin = own_start;
      before = predecessors.last(at->slice, begin);
    }
    const bool waits = (slice.flags & slice_flags::waits) != 0;
    add(waits ? PathPart::Kind::Gap : PathPart::Kind::Work, at->slice, begin, at->until,
        before ? before->certainty : track_order);
    const Time reached = before ? std::max(before->until, window.begin) : window.begin;
    add(PathPart::Kind::Gap, at->slice, reached, begin, before ? before->certainty : track_order);
    if (!before) break;
    at = before;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace stave
