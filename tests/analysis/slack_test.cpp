#include "analysis/slack.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "analysis/critical_path.h"
#include "tests/analysis/hand_made.h"
#include "tests/analysis/random_timeline.h"

namespace stave {
namespace {

// By slice, "-" for none.
std::string slacks(const Timeline& timeline, Interval window) {
  std::string out;
  for (const Picoseconds one : slack(timeline, window))
    out += (out.empty() ? "" : " ") + (one == no_slack ? "-" : fmt::format("{}", one.count()));
  return out;
}

// a 0..10, then c 40..100, which waits for b 0..30 on the side; d 30..70 follows b. The 10 from b to c stay.
TEST(Slack, OfTwoStreamsIsWhatTheOtherTakesLonger) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), side = made.stream(0, "side");
  made.slice(main, 0, 10, Family::Gemm, "a");
  const SliceId b = made.slice(side, 0, 30, Family::Memory, "b"), c = made.slice(main, 40, 100, Family::Gemm, "c");
  made.slice(side, 30, 70, Family::Memory, "d");
  made.flow(b, c, FlowKind::Event);
  EXPECT_EQ(slacks(made.timeline, span(0, 100)), "20 0 0 30");
}

// A chain's slack is its own: both of side may be late by the same 15 together.
TEST(Slack, OfAChainIsThatOfItsEnd) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), side = made.stream(0, "side");
  made.slice(main, 0, 50, Family::Gemm);
  const SliceId first = made.slice(side, 5, 10, Family::Memory), second = made.slice(side, 10, 35, Family::Memory);
  const SliceId last = made.slice(main, 50, 90, Family::Gemm);
  made.flow(second, last, FlowKind::Event);
  EXPECT_EQ(slacks(made.timeline, span(0, 90)), "0 15 15 0");
  EXPECT_EQ(slack(made.timeline, span(0, 40))[first.row()], 5_ps) << "of a window that ends before";
  EXPECT_EQ(slacks(made.timeline, span(20, 90)), "0 - 15 0");
}

// Rank 0 arrives at 10 and waits for rank 1 until 60; both move until 100, and rank 0 has 20 more to do.
TEST(Slack, BeforeACollectiveIsTheWaitForThePeers) {
  HandMade made;
  const TrackId zero = made.stream(0, "main"), one = made.stream(1, "main");
  made.slice(zero, 0, 10, Family::Gemm);
  made.slice(one, 0, 60, Family::Gemm);
  const SliceId waiting = made.slice(zero, 10, 100, Family::Collective);
  made.part(waiting, "arrival_wait", 50);
  const SliceId late = made.slice(one, 60, 100, Family::Collective);
  made.flow(late, waiting, FlowKind::Collective);
  made.slice(zero, 100, 120, Family::Gemm);
  made.slice(one, 100, 105, Family::Gemm);
  EXPECT_EQ(slacks(made.timeline, span(0, 120)), "50 0 0 0 0 15");
}

// The host waits for the gemm, then launches the next: the copy, which ends at 30, could take 20 longer.
TEST(Slack, GoesThroughTheHostThatWaits) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), side = made.stream(0, "side"), host = made.host(0);
  const SliceId launch = made.slice(host, 0, 5, Family::HostApi);
  const SliceId gemm = made.slice(main, 7, 50, Family::Gemm), copy = made.slice(side, 7, 30, Family::Memory);
  const SliceId wait = made.slice(host, 5, 54, Family::Stream), again = made.slice(host, 54, 60, Family::HostApi);
  const SliceId next = made.slice(main, 62, 100, Family::Gemm);
  made.flow(launch, gemm, FlowKind::Launch);
  made.flow(launch, copy, FlowKind::Launch);
  made.flow(gemm, wait, FlowKind::Host);
  made.flow(copy, wait, FlowKind::Host);
  made.flow(again, next, FlowKind::Launch);
  EXPECT_EQ(slacks(made.timeline, span(0, 100)), "0 0 20 0 0 0");
}

TEST(Slack, OfOverlappingKernelsOfAStreamTheShorterHasSome) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  made.slice(main, 0, 50, Family::Gemm);
  made.slice(main, 40, 45, Family::Gemm);
  made.slice(main, 50, 60, Family::Gemm);
  made.slice(made.ranges(0), 0, 60, Family::Host);
  EXPECT_EQ(slacks(made.timeline, span(0, 60)), "0 5 0 -");
  EXPECT_TRUE(slack(Timeline{}, span(0, 10)).empty());
}

RC_GTEST_PROP(RandomTimeline, SlackIsWithinTheWindow, ()) {
  const Timeline timeline = random_timeline();
  const Interval window = random_window();
  const std::vector<Picoseconds> slacks = slack(timeline, window);
  RC_ASSERT(slacks.size() == timeline.slices().size());
  bool work = false, none = false;
  for (std::uint32_t row = 0; row < slacks.size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    const bool seen = slice.start < window.end && slice.end() > window.begin;
    if (slacks[row] == no_slack) {
      RC_ASSERT(!seen || !is_device_track(timeline.track(slice.track)));
      continue;
    }
    RC_ASSERT(seen);
    RC_ASSERT(slacks[row].count() >= 0);
    RC_ASSERT(slacks[row] <= window.end - std::max(slice.start, window.begin));
    if (!is_device_track(timeline.track(slice.track))) continue;
    work = true;
    none = none || slacks[row] == 0_ps;
  }
  // What ends last has none.
  RC_ASSERT(work == none);
}

}  // namespace
}  // namespace stave
