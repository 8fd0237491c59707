#include "analysis/utilisation.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>

namespace stave {
namespace {

// What ended an idle stretch: the flow into the first slice after it whose
// source ended last.
enum class Cause : std::uint8_t { Host, Event, Other };

// A graph's first node waits for its launch, the others for nodes: where the
// work that was waited for ran says more than the flow's kind.
Cause cause_of(const TimelineIndex& index, SliceId slice, Time idle_begin) {
  const Timeline& timeline = index.timeline();
  const Time start = timeline.slice(slice).start;
  const SliceFlow* last = nullptr;
  Time last_end{};
  for (const std::uint32_t at : index.inflows(slice)) {
    const SliceFlow& flow = timeline.flows()[at];
    const Time end = std::min(timeline.slice(flow.from).end(), start);
    if (last != nullptr && end <= last_end) continue;
    last = &flow;
    last_end = end;
  }
  if (last == nullptr || last_end < idle_begin) return Cause::Other;
  switch (last->kind) {
    case FlowKind::Launch:
    case FlowKind::Host: return Cause::Host;
    case FlowKind::Event:
    case FlowKind::Stream:
    case FlowKind::Graph: break;
    case FlowKind::Collective:
    case FlowKind::Buffer:
    case FlowKind::Room: return Cause::Other;
  }
  const TrackId from = timeline.slice(last->from).track;
  if (timeline.track(from).kind == TrackKind::Host) return Cause::Host;
  return from == timeline.slice(slice).track ? Cause::Other : Cause::Event;
}

// The first slice of a rank's device that starts at a time or after it, for
// times that grow.
class NextStart {
 public:
  NextStart(const TimelineIndex& index, std::span<const TrackId> tracks) : slices_(index.timeline().slices()) {
    for (const TrackId track : tracks) left_.push_back(index.rows(track));
  }

  std::optional<std::uint32_t> row(Time from) {
    std::optional<std::uint32_t> first;
    for (auto& rows : left_) {
      while (!rows.empty() && slices_[rows.front()].start < from) rows = rows.subspan(1);
      if (!rows.empty() &&
          (!first || std::pair{slices_[rows.front()].start, rows.front()} < std::pair{slices_[*first].start, *first}))
        first = rows.front();
    }
    return first;
  }

 private:
  std::span<const Slice> slices_;
  std::vector<std::span<const std::uint32_t>> left_;
};

// The sets of utilisation.h, of one track or of all.
struct WorkSets {
  Intervals communication, compute, copy, transfer, waiting;

  void add(WorkSets&& other) {
    for (Intervals WorkSets::*set :
         {&WorkSets::communication, &WorkSets::compute, &WorkSets::copy, &WorkSets::transfer, &WorkSets::waiting})
      this->*set = (this->*set).empty() ? std::move(other.*set) : union_of(this->*set, other.*set);
  }
};

// Also counts the track's own figures into `use`.
WorkSets work_on(const TimelineIndex& index, TrackId track, Interval window, RankUse& use) {
  const Timeline& timeline = index.timeline();
  const auto clipped = [&](Time begin, Time end) {
    return Interval{std::max(begin, window.begin), std::min(end, window.end)};
  };
  WorkSets sets;
  Intervals all;
  std::int64_t count = 0;
  for (const std::uint32_t row : index.rows(track, window)) {
    const Slice& slice = timeline.slices()[row];
    if (slice.end() <= window.begin) continue;
    ++count;
    use.end = std::max(use.end, slice.end());
    const Interval span = clipped(slice.start, slice.end());
    all.push_back(span);
    switch (index.work(row)) {
      case WorkKind::None: break;
      case WorkKind::Compute: sets.compute.push_back(span); break;
      case WorkKind::Copy: sets.copy.push_back(span); break;
      case WorkKind::Communication: {
        const Waits waits = index.waits(row);
        const Time moves = std::min(slice.start + waits.sum(), slice.end());
        sets.communication.push_back(span);
        sets.waiting.push_back(clipped(slice.start, moves));
        sets.transfer.push_back(clipped(moves, slice.end()));
        use.arrival_wait += waits.arrival;
        use.residence_wait += waits.residence;
      }
    }
  }
  use.streams.push_back({timeline.track(track).name, length_of(union_of(std::move(all))), count});
  for (Intervals* set : {&sets.communication, &sets.compute, &sets.copy, &sets.transfer, &sets.waiting})
    *set = union_of(std::move(*set));
  return sets;
}

}  // namespace

Interval whole(const Timeline& timeline) {
  Interval all{};
  for (const Slice& slice : timeline.slices())
    if (is_device_track(timeline.track(slice.track))) all.end = std::max(all.end, slice.end());
  return all;
}

std::optional<double> percent(Picoseconds part, Picoseconds whole) {
  if (whole.count() == 0) return std::nullopt;
  return 100.0 * static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

std::vector<RankUse> utilisation(const TimelineIndex& index, Interval window) {
  const auto tracks = index.timeline().tracks();
  std::map<std::uint32_t, std::vector<TrackId>> by_rank;  // on the device
  for (std::uint32_t i = 0; i < tracks.size(); ++i) {
    std::vector<TrackId>& of_rank = by_rank[tracks[i].rank];
    if (is_device_track(tracks[i])) of_rank.push_back(TrackId{i});
  }

  std::vector<RankUse> out;
  for (const auto& [rank, on_device] : by_rank) {
    RankUse use;
    use.rank = rank;
    WorkSets sets;
    for (const TrackId track : on_device) sets.add(work_on(index, track, window, use));
    use.communication = length_of(sets.communication);
    use.compute = length_of(sets.compute);
    use.copy = length_of(sets.copy);
    use.transfer = length_of(sets.transfer);
    use.overlap = length_of(intersection_of(sets.communication, sets.compute));
    use.exposed_communication = use.communication - use.overlap;
    const Intervals busy = union_of(union_of(sets.compute, sets.copy), sets.transfer);
    use.busy = length_of(busy);
    const Intervals waits_alone = difference_of(sets.waiting, busy);
    use.idle_arrival = length_of(waits_alone);

    NextStart next(index, on_device);
    for (const Interval& gap : difference_of(union_of({window}), union_of(busy, waits_alone))) {
      // What ends an idle stretch at the window's end may begin only after it.
      const std::optional<std::uint32_t> row = next.row(gap.end);
      const bool ended = row && (gap.end == window.end || index.timeline().slices()[*row].start == gap.end);
      const Cause cause = ended ? cause_of(index, SliceId{*row + 1}, gap.begin) : Cause::Other;
      (cause == Cause::Host ? use.idle_host : cause == Cause::Event ? use.idle_event : use.idle_other) += gap.length();
    }
    out.push_back(std::move(use));
  }
  return out;
}

const RankUse* worst_rank(const std::vector<RankUse>& ranks) {
  const RankUse* worst = nullptr;
  for (const RankUse& use : ranks)
    if (worst == nullptr || use.end > worst->end ||
        (use.end == worst->end && use.exposed_communication > worst->exposed_communication))
      worst = &use;
  return worst;
}

}  // namespace stave
