// What a slice of a timeline waited for: flows, the order on its track, who woke its thread.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "analysis/timeline_index.h"

namespace stave {

// A slice, as far as it counts for what comes after it.
struct PathStep {
  SliceId slice;
  Time until{};  // the part of the slice that counts ends here
  Certainty certainty = Certainty::Predicted;
};

// A stretch of a host's track in which one slice was the innermost.
struct Stretch {
  Time begin{};
  Time end{};
  SliceId slice{};
};

class Predecessors {
 public:
  // `track_order`: how sure the order along a track is, which no edge says.
  Predecessors(const TimelineIndex& index, Certainty track_order);

  // When the host began what it was doing until then; of a device's slice its start.
  Time begin_of(const PathStep& step);
  // The predecessor that reaches furthest towards `begin`.
  std::optional<PathStep> last(SliceId slice, Time begin);
  // All predecessors of what a slice did from `begin` on, each with its time at most `begin`.
  template <class Each>
  void each(SliceId slice, Time begin, Each each) {
    const Timeline& timeline = index_.timeline();
    std::optional<Time> latest;
    const auto tell = [&](SliceId from, Time end, Certainty certainty) {
      const Time until = std::min(end, begin);
      latest = latest ? std::max(*latest, until) : until;
      each(PathStep{from, until, certainty});
    };
    const Slice& own = timeline.slice(slice);
    const bool host = is_host(own.track);
    if (!host || begin <= own.start) {
      for (const std::uint32_t at : index_.inflows(slice)) {
        const SliceFlow& flow = timeline.flows()[at];
        const Slice& from = timeline.slice(flow.from);
        // Who waited for its peers begins to work at the moment that the last one arrives.
        const bool arrived = flow.kind == FlowKind::Collective && from.start == begin && own.start < begin;
        if (from.start < begin || arrived) tell(flow.from, from.end(), flow.certainty);
      }
    }
    if (host) {
      const bool told = latest.has_value();
      if (const Stretch* before = stretch_before(own.track, begin)) tell(before->slice, before->end, track_order_);
      if (told || (latest && begin - *latest <= longest_own_pause)) return;
      if (const std::optional<PathStep> woken = woken_by(own.track, begin, latest)) each(*woken);
    } else if (const SliceId before = before_[slice.row()]) {
      if (timeline.slice(before).start < begin) tell(before, timeline.slice(before).end(), track_order_);
    }
  }
  // What a host call waited for: the device work that ended last within it.
  std::optional<PathStep> waited_for(SliceId call, Time until) const;

  bool is_host(TrackId track) const { return index_.timeline().track(track).kind == TrackKind::Host; }
  // Of a host's track, by time.
  const std::vector<Stretch>& stretches(TrackId track);
  // The one that ends at `time` or holds it, else the last before it; null if there is none.
  const Stretch* stretch_before(TrackId track, Time time);

 private:
  // Shorter pauses of a thread are its own: what was not recorded. After a longer
  // one some other thread woke it.
  static constexpr Picoseconds longest_own_pause = 20_us;

  void find_last_to_end(TrackId track);
  // The thread of the rank that began something else last, after `latest`, while this one paused.
  std::optional<PathStep> woken_by(TrackId track, Time begin, std::optional<Time> latest);

  const TimelineIndex& index_;
  Certainty track_order_;
  std::vector<SliceId> before_;  // of a device's slice: that of its track which ended last, of those that began earlier
  std::vector<std::optional<std::vector<Stretch>>> stretches_;  // by track of a host, once somebody asked
};

}  // namespace stave
