// The sums that the JSON promises, for any timeline.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "analysis/critical_path.h"
#include "analysis/report.h"
#include "tests/analysis/hand_made.h"

namespace stave {
namespace {

constexpr std::int64_t end_of_time = 60;

Timeline random_timeline() {
  HandMade made;
  std::vector<TrackId> tracks;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    tracks.push_back(made.stream(rank, "main"));
    tracks.push_back(made.stream(rank, "side"));
    tracks.push_back(made.host(rank));
  }
  std::vector<SliceId> slices;
  const auto count = *rc::gen::inRange<std::size_t>(0, 16);
  while (slices.size() < count) {
    const auto begin = *rc::gen::inRange<std::int64_t>(-5, end_of_time);
    const auto length = *rc::gen::inRange<std::int64_t>(0, 20);
    const auto family =
        *rc::gen::element(Family::Gemm, Family::Compute, Family::Memory, Family::Collective, Family::Idle);
    slices.push_back(made.slice(*rc::gen::elementOf(tracks), begin, begin + length, family));
    if (family != Family::Collective) continue;
    // Also more wait than the slice is long, as a damaged file could say.
    made.part(slices.back(), "residence_wait", *rc::gen::inRange<std::int64_t>(0, 12));
    made.part(slices.back(), "arrival_wait", *rc::gen::inRange<std::int64_t>(0, 12));
  }
  if (slices.empty()) return std::move(made.timeline);
  const auto flows = *rc::gen::inRange(0, 20);
  for (int i = 0; i < flows; ++i)
    made.flow(*rc::gen::elementOf(slices), *rc::gen::elementOf(slices),
              *rc::gen::element(FlowKind::Launch, FlowKind::Stream, FlowKind::Event, FlowKind::Host,
                                FlowKind::Collective, FlowKind::Graph, FlowKind::Buffer));
  return std::move(made.timeline);
}

Interval random_window() {
  const auto begin = *rc::gen::inRange<std::int64_t>(0, end_of_time);
  return {Time{begin}, Time{begin + *rc::gen::inRange<std::int64_t>(1, end_of_time)}};
}

RC_GTEST_PROP(RandomTimeline, BusyAndIdleTimesAddUpToTheWindow, ()) {
  const Timeline timeline = random_timeline();
  const Interval window = random_window();
  for (const RankUse& use : utilisation(timeline, window)) {
    RC_ASSERT(use.busy + use.idle_host + use.idle_event + use.idle_arrival + use.idle_other == window.length());
    RC_ASSERT(use.overlap + use.exposed_communication == use.communication);
    RC_ASSERT(use.overlap <= use.compute);
    RC_ASSERT(use.busy <= use.compute + use.copy + use.transfer);
    for (const Picoseconds part : {use.overlap, use.exposed_communication, use.busy, use.idle_host, use.idle_event,
                                   use.idle_arrival, use.idle_other})
      RC_ASSERT(part.count() >= 0);
  }
}

RC_GTEST_PROP(RandomTimeline, TheCriticalPathFillsTheWindow, ()) {
  const Timeline timeline = random_timeline();
  const Interval window = random_window();
  const std::vector<PathPart> path = critical_path(timeline, window);
  bool work = false;
  for (const Slice& slice : timeline.slices())
    work = work ||
           (is_device_track(timeline.track(slice.track)) && slice.start < window.end && slice.end() > window.begin);
  RC_ASSERT(path.empty() == !work);
  Time at = window.begin;
  for (const PathPart& part : path) {
    RC_ASSERT(part.start == at);
    RC_ASSERT(part.duration.count() > 0);
    at += part.duration;
    if (part.kind == PathPart::Kind::Gap) continue;
    RC_ASSERT(timeline.slice(part.slice).start <= part.start);
    RC_ASSERT(timeline.slice(part.slice).end() >= at);
  }
  RC_ASSERT(path.empty() || at == window.end);
}

RC_GTEST_PROP(RandomTimeline, AReportIsTheSameTwice, ()) {
  const Timeline timeline = random_timeline();
  const Window window{"time", "", random_window()};
  const Report a = make_report(timeline, window), b = make_report(timeline, window);
  RC_ASSERT(a.critical_path == b.critical_path);
  RC_ASSERT(a.worst_rank == b.worst_rank);
  double share = 0;
  for (const KernelReport& kernel : a.kernels) share += kernel.share_pct;
  RC_ASSERT(a.kernels.empty() || share < 100.001);
}

}  // namespace
}  // namespace stave
