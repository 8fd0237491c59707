#include "analysis/critical_path.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace stave {
namespace {

struct Step {
  SliceId slice;
  Time until{};  // the part of the slice that counts ends here
  Certainty certainty = Certainty::Predicted;
};

class Predecessors {
 public:
  explicit Predecessors(const TimelineIndex& index) : index_(index), before_(index.timeline().slices().size()) {
    const auto slices = index.timeline().slices();
    std::vector<SliceId> last_on_lane;
    for (std::uint32_t track = 0; track < index.timeline().tracks().size(); ++track) {
      last_on_lane.clear();
      for (const std::uint32_t row : index.rows(TrackId{track})) {
        const std::size_t lane = slices[row].lane;
        if (last_on_lane.size() <= lane) last_on_lane.resize(lane + 1);
        before_[row] = std::exchange(last_on_lane[lane], SliceId{row + 1});
      }
    }
  }

  // The predecessor that reaches furthest towards `begin`.
  std::optional<Step> last(SliceId slice, Time begin) const {
    const Timeline& timeline = index_.timeline();
    std::optional<Step> best;
    const auto consider = [&](SliceId from, Certainty certainty) {
      const Slice& candidate = timeline.slice(from);
      if (candidate.start >= begin) return;
      const Time until = std::min(candidate.end(), begin);
      if (!best || until > best->until) best = Step{from, until, certainty};
    };
    for (const std::uint32_t at : index_.inflows(slice))
      consider(timeline.flows()[at].from, timeline.flows()[at].certainty);
    if (const SliceId before = before_[slice.row()]) consider(before, Certainty::Predicted);
    return best;
  }

  // What a host call waited for: the device work that ended last within it.
  std::optional<Step> waited_for(SliceId call, Time until) const {
    const Timeline& timeline = index_.timeline();
    const Slice& slice = timeline.slice(call);
    if (timeline.track(slice.track).kind != TrackKind::Host) return std::nullopt;
    std::optional<Step> last;
    for (const std::uint32_t at : index_.inflows(call)) {
      const SliceFlow& flow = timeline.flows()[at];
      const Slice& from = timeline.slice(flow.from);
      const Time end = std::min(from.end(), until);
      if (is_device_track(timeline.track(from.track)) && from.start < end && end > slice.start &&
          (!last || end > last->until))
        last = Step{flow.from, end, flow.certainty};
    }
    return last;
  }

 private:
  const TimelineIndex& index_;
  std::vector<SliceId> before_;  // on the same track and lane
};

}  // namespace

std::string_view name_of(PathPart::Kind kind) { return kind == PathPart::Kind::Work ? "work" : "gap"; }

std::vector<PathPart> critical_path(const TimelineIndex& index, Interval window) {
  const Timeline& timeline = index.timeline();
  std::optional<Step> at;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    if (!is_device_track(timeline.track(slice.track)) || slice.start >= window.end || slice.end() <= window.begin)
      continue;
    const Time until = std::min(slice.end(), window.end);
    if (!at || until > at->until) at = Step{SliceId{row + 1}, until, Certainty::Predicted};
  }
  if (!at) return {};

  const Predecessors predecessors(index);
  std::vector<PathPart> path;  // from the end
  const auto add = [&](PathPart::Kind kind, SliceId slice, Time begin, Time end, Certainty certainty) {
    if (begin < end) path.push_back({kind, slice, begin, end - begin, certainty});
  };
  add(PathPart::Kind::Gap, at->slice, at->until, window.end, Certainty::Predicted);
  while (at->until > window.begin) {
    const Slice& slice = timeline.slice(at->slice);
    // The wait of a collective belongs to whom it waited for. Reached within its
    // wait, or with nobody to blame, it counts as a whole: each turn goes back in time.
    const Time own_start = std::max(window.begin, slice.start);
    Time begin = std::max(window.begin, slice.start + index.waits(at->slice.row()).sum());
    std::optional<Step> before = predecessors.waited_for(at->slice, at->until);
    if (before) begin = std::max(before->until, window.begin);
    if (!before && begin < at->until) before = predecessors.last(at->slice, begin);
    if (!before) {
      begin = own_start;
      before = predecessors.last(at->slice, begin);
    }
    add(PathPart::Kind::Work, at->slice, begin, at->until, before ? before->certainty : Certainty::Predicted);
    const Time reached = before ? std::max(before->until, window.begin) : window.begin;
    add(PathPart::Kind::Gap, at->slice, reached, begin, before ? before->certainty : Certainty::Predicted);
    if (!before) break;
    at = before;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace stave
