#include "analysis/utilisation.h"

#include <algorithm>
#include <map>

namespace stave {
namespace {

bool contains_library_name(std::string_view name) {
  return name.find("nccl") != std::string_view::npos || name.find("rccl") != std::string_view::npos;
}

struct DeviceSlice {
  Time start{};
  std::uint32_t row = 0;
};

struct RankTracks {
  std::vector<std::uint32_t> device{};  // positions of tracks
  std::optional<DeviceSlice> next{};    // the first slice that starts at or after the window's end
};

// What ended an idle stretch: the flow into the first slice after it whose
// source ended last.
enum class Cause : std::uint8_t { Host, Event, Other };

struct Inflow {
  Time end{};
  const SliceFlow* flow = nullptr;
};

// The last-ending flow into each slice, by slice row.
std::vector<std::optional<Inflow>> last_inflows(const Timeline& timeline) {
  std::vector<std::optional<Inflow>> last(timeline.slices().size());
  for (const SliceFlow& flow : timeline.flows()) {
    const Time end = std::min(timeline.slice(flow.from).end(), timeline.slice(flow.to).start);
    std::optional<Inflow>& at = last[flow.to.row()];
    if (!at || end > at->end) at = Inflow{end, &flow};
  }
  return last;
}

// A graph's first node waits for its launch, the others for nodes: where the
// work that was waited for ran says more than the flow's kind.
Cause cause_of(const Timeline& timeline, const std::optional<Inflow>& inflow, Time idle_begin) {
  if (!inflow || inflow->end < idle_begin) return Cause::Other;
  switch (inflow->flow->kind) {
    case FlowKind::Launch:
    case FlowKind::Host: return Cause::Host;
    case FlowKind::Event:
    case FlowKind::Stream:
    case FlowKind::Graph: break;
    case FlowKind::Collective:
    case FlowKind::Buffer: return Cause::Other;
  }
  const TrackId from = timeline.slice(inflow->flow->from).track;
  if (timeline.track(from).kind == TrackKind::Host) return Cause::Host;
  return from == timeline.slice(inflow->flow->to).track ? Cause::Other : Cause::Event;
}

}  // namespace

bool is_device_track(const Track& track) {
  return track.kind == TrackKind::Stream || track.kind == TrackKind::CopyEngine;
}

bool is_communication(const Timeline& timeline, const Slice& slice) {
  return slice.family == Family::Collective ||
         (slice.family == Family::Compute && contains_library_name(timeline.text(slice.name)));
}

bool is_compute(const Timeline& timeline, const Slice& slice) {
  return slice.family == Family::Gemm || (slice.family == Family::Compute && !is_communication(timeline, slice));
}

Waits waits_of(const Timeline& timeline, SliceId id) {
  Waits waits;
  for (const CostPart& part : timeline.costs(id)) {
    const std::string_view name = timeline.text(part.part);
    if (name == "residence_wait") waits.residence += part.duration;
    if (name == "arrival_wait") waits.arrival += part.duration;
  }
  if (waits.residence.count() == 0 && waits.arrival.count() == 0) {
    const CollectiveDetail* collective = timeline.collective(id);
    if (collective != nullptr && collective->arrival_wait) waits.arrival = *collective->arrival_wait;
  }
  return waits;
}

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

std::vector<RankUse> utilisation(const Timeline& timeline, Interval window) {
  std::map<std::uint32_t, RankTracks> by_rank;
  for (std::uint32_t i = 0; i < timeline.tracks().size(); ++i) {
    RankTracks& tracks = by_rank[timeline.tracks()[i].rank];
    if (is_device_track(timeline.tracks()[i])) tracks.device.push_back(i);
  }
  std::vector<std::vector<std::uint32_t>> rows(timeline.tracks().size());
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    const Track& track = timeline.track(slice.track);
    if (!is_device_track(track)) continue;
    if (slice.end() > window.begin && slice.start < window.end) rows[slice.track.value].push_back(row);
    // What ends an idle stretch at the window's end may begin only after it.
    RankTracks& of_rank = by_rank[track.rank];
    if (slice.start >= window.end && (!of_rank.next || slice.start < of_rank.next->start))
      of_rank.next = DeviceSlice{slice.start, row};
  }
  const std::vector<std::optional<Inflow>> inflows = last_inflows(timeline);
  const auto clipped = [&](Time begin, Time end) {
    return Interval{std::max(begin, window.begin), std::min(end, window.end)};
  };

  std::vector<RankUse> out;
  for (const auto& [rank, tracks] : by_rank) {
    RankUse use;
    use.rank = rank;
    std::vector<Interval> communication, compute, copy, transfer, waiting;
    std::vector<DeviceSlice> starts;
    for (const std::uint32_t track : tracks.device) {
      std::vector<Interval> on_stream;
      for (const std::uint32_t row : rows[track]) {
        const Slice& slice = timeline.slices()[row];
        const Interval span = clipped(slice.start, slice.end());
        use.end = std::max(use.end, slice.end());
        on_stream.push_back(span);
        starts.push_back({slice.start, row});
        if (is_communication(timeline, slice)) {
          const Waits waits = waits_of(timeline, SliceId{row + 1});
          const Time moves = std::min(slice.start + waits.residence + waits.arrival, slice.end());
          communication.push_back(span);
          waiting.push_back(clipped(slice.start, moves));
          transfer.push_back(clipped(moves, slice.end()));
          use.arrival_wait += waits.arrival;
          use.residence_wait += waits.residence;
        } else if (is_compute(timeline, slice)) {
          compute.push_back(span);
        } else if (slice.family != Family::Mark && slice.family != Family::Idle) {
          copy.push_back(span);
        }
      }
      use.streams.push_back({timeline.tracks()[track].name, length_of(union_of(on_stream)),
                             static_cast<std::int64_t>(rows[track].size())});
    }
    const Intervals m = union_of(communication), c = union_of(compute), p = union_of(copy);
    const Intervals moving = union_of(transfer);
    use.communication = length_of(m);
    use.compute = length_of(c);
    use.copy = length_of(p);
    use.transfer = length_of(moving);
    use.overlap = length_of(intersection_of(m, c));
    use.exposed_communication = use.communication - use.overlap;
    const Intervals busy = union_of(union_of(c, p), moving);
    use.busy = length_of(busy);
    const Intervals waits_alone = difference_of(union_of(waiting), busy);
    use.idle_arrival = length_of(waits_alone);

    if (tracks.next) starts.push_back(*tracks.next);
    std::sort(starts.begin(), starts.end(), [](const DeviceSlice& a, const DeviceSlice& b) {
      return a.start != b.start ? a.start < b.start : a.row < b.row;
    });
    const Intervals idle = difference_of(union_of({window}), union_of(busy, waits_alone));
    std::size_t next = 0;
    for (const Interval& gap : idle) {
      while (next < starts.size() && starts[next].start < gap.end) ++next;
      const bool ended_by_slice = next < starts.size() && (starts[next].start == gap.end || gap.end == window.end);
      const Cause cause = ended_by_slice ? cause_of(timeline, inflows[starts[next].row], gap.begin) : Cause::Other;
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
