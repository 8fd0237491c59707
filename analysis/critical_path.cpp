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

// A stretch of a host's track in which one slice was the innermost.
struct Stretch {
  Time begin{};
  Time end{};
  SliceId slice{};
};

// Shorter pauses of a thread are its own: what was not recorded. After a longer
// one some other thread woke it.
constexpr Picoseconds longest_own_pause = 20_us;

class Predecessors {
 public:
  explicit Predecessors(const TimelineIndex& index)
      : index_(index), before_(index.timeline().slices().size()), stretches_(index.timeline().tracks().size()) {
    for (std::uint32_t track = 0; track < stretches_.size(); ++track)
      if (!is_host(TrackId{track})) find_last_to_end(TrackId{track});
  }

  // When the host began what it was doing until then; of a device's slice its start.
  Time begin_of(const Step& step) {
    const Slice& slice = index_.timeline().slice(step.slice);
    if (!is_host(slice.track)) return slice.start;
    const Stretch* stretch = stretch_before(slice.track, step.until);
    return stretch != nullptr && stretch->slice == step.slice ? stretch->begin : slice.start;
  }

  // The predecessor that reaches furthest towards `begin`.
  std::optional<Step> last(SliceId slice, Time begin) {
    const Timeline& timeline = index_.timeline();
    std::optional<Step> best;
    const auto consider = [&](SliceId from, Time end, Certainty certainty) {
      const Time until = std::min(end, begin);
      if (!best || until > best->until) best = Step{from, until, certainty};
    };
    const Slice& own = timeline.slice(slice);
    const bool host = is_host(own.track);
    if (!host || begin <= own.start) {
      for (const std::uint32_t at : index_.inflows(slice)) {
        const Slice& from = timeline.slice(timeline.flows()[at].from);
        if (from.start < begin) consider(timeline.flows()[at].from, from.end(), timeline.flows()[at].certainty);
      }
    }
    if (host) {
      const bool told = best.has_value();
      if (const Stretch* before = stretch_before(own.track, begin))
        consider(before->slice, before->end, Certainty::Predicted);
      if (!told && (!best || begin - best->until > longest_own_pause)) wake_up(own.track, begin, best);
    } else if (const SliceId before = before_[slice.row()]) {
      if (timeline.slice(before).start < begin) consider(before, timeline.slice(before).end(), Certainty::Predicted);
    }
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
  bool is_host(TrackId track) const { return index_.timeline().track(track).kind == TrackKind::Host; }

  // Kernels of a stream may overlap.
  void find_last_to_end(TrackId track) {
    const auto slices = index_.timeline().slices();
    const std::span<const std::uint32_t> rows = index_.rows(track);
    SliceId last;
    for (std::size_t i = 0; i < rows.size();) {
      std::size_t end = i;
      for (; end < rows.size() && slices[rows[end]].start == slices[rows[i]].start; ++end) before_[rows[end]] = last;
      for (; i < end; ++i)
        if (!last || slices[rows[i]].end() >= slices[last.row()].end()) last = SliceId{rows[i] + 1};
    }
  }

  const std::vector<Stretch>& stretches(TrackId track) {
    std::optional<std::vector<Stretch>>& found = stretches_[track.value];
    if (found) return *found;
    found.emplace();
    const auto slices = index_.timeline().slices();
    const std::span<const std::uint32_t> by_start = index_.rows(track);
    std::vector<std::uint32_t> rows(by_start.begin(), by_start.end()), open;
    std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
      return slices[a].start != slices[b].start ? slices[a].start < slices[b].start : slices[a].end() > slices[b].end();
    });
    Time now = Time::min();
    const auto until = [&](Time end) {
      if (now >= end) return;
      const SliceId slice{open.back() + 1};
      if (!found->empty() && found->back().slice == slice && found->back().end == now)
        found->back().end = end;
      else
        found->push_back({now, end, slice});
      now = end;
    };
    const auto close = [&](Time before) {
      for (; !open.empty() && slices[open.back()].end() <= before; open.pop_back()) until(slices[open.back()].end());
      if (!open.empty()) until(before);
    };
    for (const std::uint32_t row : rows) {
      close(slices[row].start);
      now = std::max(now, slices[row].start);
      open.push_back(row);
    }
    close(Time::max());
    return *found;
  }

  // The one that ends at `time` or holds it, else the last before it.
  const Stretch* stretch_before(TrackId track, Time time) {
    const std::vector<Stretch>& all = stretches(track);
    const auto at = std::lower_bound(all.begin(), all.end(), time,
                                     [](const Stretch& stretch, Time t) { return stretch.begin < t; });
    return at == all.begin() ? nullptr : &*(at - 1);
  }

  // The thread of the rank that began something else last while this one paused.
  void wake_up(TrackId track, Time begin, std::optional<Step>& best) {
    const Timeline& timeline = index_.timeline();
    const std::uint32_t rank = timeline.track(track).rank;
    Time latest = best ? best->until : Time::min();
    for (std::uint32_t other = 0; other < stretches_.size(); ++other) {
      const Track& thread = timeline.track(TrackId{other});
      // Records of waits lie on a host's track of the device that was waited for.
      if (TrackId{other} == track || thread.rank != rank || thread.kind != TrackKind::Host || thread.device) continue;
      const Stretch* stretch = stretch_before(TrackId{other}, begin);
      if (stretch == nullptr || stretch->begin <= latest) continue;
      latest = stretch->begin;
      best = Step{stretch->slice, std::min(stretch->end, begin), Certainty::Possible};
    }
  }

  const TimelineIndex& index_;
  std::vector<SliceId> before_;  // of a device's slice: that of its track which ended last, of those that began earlier
  std::vector<std::optional<std::vector<Stretch>>> stretches_;  // by track of a host, once somebody asked
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

  Predecessors predecessors(index);
  std::vector<PathPart> path;  // from the end
  const auto add = [&](PathPart::Kind kind, SliceId slice, Time begin, Time end, Certainty certainty) {
    if (begin < end) path.push_back({kind, slice, begin, end - begin, certainty});
  };
  add(PathPart::Kind::Gap, at->slice, at->until, window.end, Certainty::Predicted);
  while (at->until > window.begin) {
    const Slice& slice = timeline.slice(at->slice);
    // The wait of a collective belongs to whom it waited for. Reached within its
    // wait, or with nobody to blame, it counts as a whole: each turn goes back in time.
    const Time own_start = std::max(window.begin, predecessors.begin_of(*at));
    Time begin = std::max(own_start, slice.start + index.waits(at->slice.row()).sum());
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
