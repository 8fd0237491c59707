// The sums that the JSON promises, for any timeline.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "analysis/critical_path.h"
#include "analysis/report.h"
#include "tests/analysis/random_timeline.h"

namespace stave {
namespace {

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
