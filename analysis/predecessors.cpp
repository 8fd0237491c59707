#include "analysis/predecessors.h"

#include <span>

namespace stave {

Predecessors::Predecessors(const TimelineIndex& index, Certainty track_order)
    : index_(index),
      track_order_(track_order),
      before_(index.timeline().slices().size()),
      stretches_(index.timeline().tracks().size()) {
  for (std::uint32_t track = 0; track < stretches_.size(); ++track)
    if (!is_host(TrackId{track})) find_last_to_end(TrackId{track});
}

Time Predecessors::begin_of(const PathStep& step) {
  const Slice& slice = index_.timeline().slice(step.slice);
  if (!is_host(slice.track)) return slice.start;
  const Stretch* stretch = stretch_before(slice.track, step.until);
  return stretch != nullptr && stretch->slice == step.slice ? stretch->begin : slice.start;
}

std::optional<PathStep> Predecessors::last(SliceId slice, Time begin) {
  std::optional<PathStep> best;
  each(slice, begin, [&](const PathStep& step) {
    if (!best || step.until > best->until) best = step;
  });
  return best;
}

std::optional<PathStep> Predecessors::waited_for(SliceId call, Time until) const {
  const Timeline& timeline = index_.timeline();
  const Slice& slice = timeline.slice(call);
  if (timeline.track(slice.track).kind != TrackKind::Host) return std::nullopt;
  std::optional<PathStep> last;
  for (const std::uint32_t at : index_.inflows(call)) {
    const SliceFlow& flow = timeline.flows()[at];
    const Slice& from = timeline.slice(flow.from);
    const Time end = std::min(from.end(), until);
    if (is_device_track(timeline.track(from.track)) && from.start < end && end > slice.start &&
        (!last || end > last->until))
      last = PathStep{flow.from, end, flow.certainty};
  }
  return last;
}

// Kernels of a stream may overlap.
void Predecessors::find_last_to_end(TrackId track) {
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

const std::vector<Stretch>& Predecessors::stretches(TrackId track) {
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

const Stretch* Predecessors::stretch_before(TrackId track, Time time) {
  const std::vector<Stretch>& all = stretches(track);
  const auto at =
      std::lower_bound(all.begin(), all.end(), time, [](const Stretch& stretch, Time t) { return stretch.begin < t; });
  return at == all.begin() ? nullptr : &*(at - 1);
}

std::optional<PathStep> Predecessors::woken_by(TrackId track, Time begin, std::optional<Time> latest) {
  const Timeline& timeline = index_.timeline();
  const std::uint32_t rank = timeline.track(track).rank;
  std::optional<PathStep> best;
  for (std::uint32_t other = 0; other < stretches_.size(); ++other) {
    const Track& thread = timeline.track(TrackId{other});
    // Records of waits lie on a host's track of the device that was waited for.
    if (TrackId{other} == track || thread.rank != rank || thread.kind != TrackKind::Host || thread.device) continue;
    const Stretch* stretch = stretch_before(TrackId{other}, begin);
    if (stretch == nullptr || (latest && stretch->begin <= *latest)) continue;
    latest = stretch->begin;
    best = PathStep{stretch->slice, std::min(stretch->end, begin), Certainty::Possible};
  }
  return best;
}

}  // namespace stave
