#include "analysis/critical_path.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/path_sections.h"
#include "analysis/utilisation.h"
#include "tests/analysis/hand_made.h"

namespace stave {
namespace {

// "work 1 [0, 10) predicted", a part a line.
std::string text(const std::vector<PathPart>& path) {
  std::string out;
  for (const PathPart& part : path)
    out += fmt::format("{} {} [{}, {}) {}\n", name_of(part.kind), part.slice.value, part.start.count(),
                       (part.start + part.duration).count(), name_of(part.certainty));
  return out;
}

TEST(CriticalPath, OfOneStreamIsItsSlicesAndTheGaps) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  made.slice(main, 5, 40, Family::Gemm);
  made.slice(main, 45, 100, Family::Gemm);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 100))),
            "gap 1 [0, 5) predicted\n"
            "work 1 [5, 40) predicted\n"
            "gap 2 [40, 45) predicted\n"
            "work 2 [45, 100) predicted\n");
}

// What happened on a track in an order happened so; only a prediction predicts it.
TEST(CriticalPath, OfARecordingTheOrderOnATrackIsRecorded) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  made.slice(main, 5, 40, Family::Gemm);
  made.slice(main, 45, 100, Family::Gemm);
  for (const RunKind kind : {RunKind::Measured, RunKind::Imported})
    EXPECT_EQ(text(critical_path(made.timeline, span(0, 100), kind)),
              "gap 1 [0, 5) recorded\n"
              "work 1 [5, 40) recorded\n"
              "gap 2 [40, 45) recorded\n"
              "work 2 [45, 100) recorded\n");
}

TEST(CriticalPath, GoesThroughTheEventThatEndedLastAndSaysHowSureItIs) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), side = made.stream(0, "side");
  made.slice(main, 0, 10, Family::Gemm);
  const SliceId copy = made.slice(side, 0, 50, Family::Memory);
  const SliceId last = made.slice(main, 52, 100, Family::Gemm);
  made.flow(copy, last, FlowKind::Event, Certainty::Inferred);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 100))),
            "work 2 [0, 50) predicted\n"
            "gap 3 [50, 52) inferred\n"
            "work 3 [52, 100) inferred\n");
}

TEST(CriticalPath, GoesThroughALaunchToTheHost) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  const SliceId launch = made.slice(made.host(0), 0, 12, Family::HostApi);
  made.flow(launch, made.slice(main, 15, 60, Family::Gemm), FlowKind::Launch);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 60))),
            "work 1 [0, 12) predicted\n"
            "gap 2 [12, 15) predicted\n"
            "work 2 [15, 60) predicted\n");
}

// The call returns 4 after the gemm that it waits for; then the host launches the next.
TEST(CriticalPath, LeavesAHostCallThroughTheWorkThatItWaitedFor) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), host = made.host(0);
  const SliceId launch = made.slice(host, 0, 5, Family::HostApi);
  const SliceId first = made.slice(main, 7, 50, Family::Gemm);
  made.flow(launch, first, FlowKind::Launch);
  const SliceId sync = made.slice(host, 5, 54, Family::Stream);
  made.flow(first, sync, FlowKind::Host);
  const SliceId again = made.slice(host, 54, 60, Family::HostApi);
  made.flow(again, made.slice(main, 62, 100, Family::Gemm), FlowKind::Launch);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 100))),
            "work 1 [0, 5) predicted\n"
            "gap 2 [5, 7) predicted\n"
            "work 2 [7, 50) predicted\n"
            "work 3 [50, 54) predicted\n"
            "work 4 [54, 60) predicted\n"
            "gap 5 [60, 62) predicted\n"
            "work 5 [62, 100) predicted\n");
}

// No edge says what the first call waited for; of the second one it does.
TEST(CriticalPath, ACallThatOnlyWaitsIsNoWorkOfTheHost) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), host = made.host(0);
  const auto wait = [&](std::int64_t begin, std::int64_t end) {
    return made.timeline.add(Slice{.start = Time{begin},
                                   .duration = Picoseconds{end - begin},
                                   .track = host,
                                   .name = made.timeline.intern("sync"),
                                   .family = Family::HostApi,
                                   .flags = slice_flags::waits});
  };
  wait(0, 40);
  const SliceId first = made.slice(main, 50, 70, Family::Gemm);
  made.flow(made.slice(host, 40, 48, Family::HostApi), first, FlowKind::Launch);
  made.flow(first, wait(48, 74), FlowKind::Host);
  const SliceId again = made.slice(host, 74, 80, Family::HostApi);
  made.flow(again, made.slice(main, 82, 100, Family::Gemm), FlowKind::Launch);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 100))),
            "gap 1 [0, 40) predicted\n"
            "work 3 [40, 48) predicted\n"
            "gap 2 [48, 50) predicted\n"
            "work 2 [50, 70) predicted\n"
            "gap 4 [70, 74) predicted\n"
            "work 5 [74, 80) predicted\n"
            "gap 6 [80, 82) predicted\n"
            "work 6 [82, 100) predicted\n");
}

// A recorder's skew of two clocks: the work ends behind the return of the call that waited for it.
TEST(CriticalPath, GoesBackFromACallThatSeemsToReturnTooEarly) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), host = made.host(0);
  const SliceId launch = made.slice(host, 0, 5, Family::HostApi), first = made.slice(main, 7, 58, Family::Gemm);
  made.flow(launch, first, FlowKind::Launch);
  made.flow(first, made.slice(host, 5, 54, Family::Stream), FlowKind::Host);
  const SliceId again = made.slice(host, 54, 60, Family::HostApi);
  made.flow(again, made.slice(main, 62, 100, Family::Gemm), FlowKind::Launch);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 100))),
            "work 1 [0, 5) predicted\n"
            "gap 2 [5, 7) predicted\n"
            "work 2 [7, 54) predicted\n"
            "work 4 [54, 60) predicted\n"
            "gap 5 [60, 62) predicted\n"
            "work 5 [62, 100) predicted\n");
}

// The outer operator begins with an inner one, and goes on for itself behind it.
TEST(CriticalPath, OfNestedCallsTheInnermostCounts) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), host = made.host(0);
  made.slice(host, 0, 50, Family::Host);
  made.slice(host, 0, 20, Family::Host);
  const SliceId launch = made.slice(host, 30, 40, Family::HostApi);
  made.slice(host, 31, 31, Family::HostApi);
  made.flow(launch, made.slice(main, 42, 60, Family::Gemm), FlowKind::Launch);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 60))),
            "work 2 [0, 20) predicted\n"
            "work 1 [20, 30) predicted\n"
            "work 3 [30, 40) predicted\n"
            "gap 5 [40, 42) predicted\n"
            "work 5 [42, 60) predicted\n");
}

// The second thread sleeps from 10 us on until the first, at 70 us, begins to wait for it.
TEST(CriticalPath, LeavesAThreadThatDidNothingForTheOneThatWokeIt) {
  HandMade made;
  const auto us = [](std::int64_t n) { return n * 1'000'000; };
  const TrackId main = made.stream(0, "main"), first = made.host(0), second = made.host(0);
  made.slice(second, 0, us(10), Family::Host);
  made.slice(first, us(5), us(70), Family::Host);
  made.slice(first, us(70), us(200), Family::Host);
  const SliceId launch = made.slice(second, us(80), us(90), Family::HostApi);
  made.flow(launch, made.slice(main, us(91), us(100), Family::Gemm), FlowKind::Launch);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, us(100)))),
            "work 1 [0, 5000000) predicted\n"
            "work 2 [5000000, 70000000) possible\n"
            "work 3 [70000000, 80000000) predicted\n"
            "work 4 [80000000, 90000000) possible\n"
            "gap 5 [90000000, 91000000) predicted\n"
            "work 5 [91000000, 100000000) predicted\n");
}

TEST(CriticalPath, OfOverlappingKernelsTheOneThatEndedLastCounts) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  made.slice(main, 0, 50, Family::Gemm);
  made.slice(main, 40, 45, Family::Gemm);
  made.slice(main, 50, 60, Family::Gemm);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 60))),
            "work 1 [0, 50) predicted\n"
            "work 3 [50, 60) predicted\n");
}

// Rank 0 arrives at 10 and waits until rank 1 arrives at 60, late from its own gemm.
TEST(CriticalPath, LeavesACollectiveThroughItsLastArriver) {
  HandMade made;
  const TrackId zero = made.stream(0, "main"), one = made.stream(1, "main");
  made.slice(zero, 0, 10, Family::Gemm);
  const SliceId slow = made.slice(one, 0, 60, Family::Gemm);
  const SliceId waiting = made.slice(zero, 10, 101, Family::Collective);
  made.part(waiting, "arrival_wait", 50);
  const SliceId late = made.slice(one, 60, 100, Family::Collective);
  made.flow(slow, waiting, FlowKind::Collective, Certainty::Declared);
  made.flow(late, waiting, FlowKind::Collective);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 101))),
            "work 2 [0, 60) predicted\n"
            "work 3 [60, 101) declared\n");
}

// As predictions have it: the only edge is from the last one's own part of the collective, which begins as it arrives.
TEST(CriticalPath, LeavesACollectiveThroughThePeerThatArrivedLast) {
  HandMade made;
  const TrackId zero = made.stream(0, "main"), one = made.stream(1, "main");
  made.slice(zero, 0, 10, Family::Gemm);
  made.slice(one, 0, 60, Family::Gemm);
  const SliceId waiting = made.slice(zero, 10, 100, Family::Collective);
  made.part(waiting, "arrival_wait", 50);
  made.flow(made.slice(one, 60, 100, Family::Collective), waiting, FlowKind::Collective);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 100))),
            "work 2 [0, 60) predicted\n"
            "work 3 [60, 100) predicted\n");
}

TEST(CriticalPath, SlicesThatWaitForEachOtherEnd) {
  HandMade made;
  const TrackId zero = made.stream(0, "main"), one = made.stream(1, "main");
  const SliceId a = made.slice(zero, 0, 100, Family::Collective), b = made.slice(one, 10, 100, Family::Collective);
  made.part(a, "arrival_wait", 50);
  made.part(b, "arrival_wait", 60);
  for (const FlowKind kind : {FlowKind::Collective, FlowKind::Event}) {
    made.flow(a, b, kind);
    made.flow(b, a, kind);
    made.flow(a, a, kind);
  }
  Picoseconds sum{0};
  for (const PathPart& part : critical_path(made.timeline, span(0, 100))) sum += part.duration;
  EXPECT_EQ(sum, 100_ps);
}

TEST(CriticalPath, SlicesWithoutLengthEnd) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), side = made.stream(0, "side");
  const SliceId a = made.slice(main, 50, 50, Family::Stream), b = made.slice(side, 50, 50, Family::Stream);
  made.flow(a, b, FlowKind::Event);
  made.flow(b, a, FlowKind::Event);
  made.flow(a, made.slice(main, 50, 80, Family::Gemm), FlowKind::Event);
  EXPECT_EQ(text(critical_path(made.timeline, span(0, 80))),
            "gap 3 [0, 50) predicted\n"
            "work 3 [50, 80) predicted\n");
}

TEST(CriticalPath, StaysInItsWindow) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  made.slice(main, 0, 40, Family::Gemm);
  made.slice(main, 40, 100, Family::Gemm);
  EXPECT_EQ(text(critical_path(made.timeline, span(20, 70))),
            "work 1 [20, 40) predicted\n"
            "work 2 [40, 70) predicted\n");
  EXPECT_EQ(text(critical_path(made.timeline, span(50, 120))),
            "work 2 [50, 100) predicted\n"
            "gap 2 [100, 120) predicted\n");
  EXPECT_TRUE(critical_path(made.timeline, span(100, 120)).empty());
  EXPECT_TRUE(critical_path(Timeline{}, span(0, 10)).empty());
}

// The two longest of eight stay, what is before, between and behind them becomes one each.
TEST(CriticalPath, InSectionsKeepsTheLongestPartsAndTheSum) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  const int starts[] = {0, 12, 40, 55}, ends[] = {10, 32, 50, 90};
  for (int i = 0; i < 4; ++i) made.slice(main, starts[i], ends[i], Family::Gemm);
  const std::vector<PathPart> path = critical_path(made.timeline, span(0, 95));
  ASSERT_EQ(path.size(), 8U);
  std::string text;
  for (const PathSection& section : path_sections(made.timeline, path, 5))
    text += fmt::format("{} {} at {} for {}, {} parts, gap {}\n", name_of(section.part.kind), section.part.slice.value,
                        section.part.start.count(), section.part.duration.count(), section.parts, section.gap.count());
  EXPECT_EQ(text,
            "work 1 at 0 for 12, 2 parts, gap 2\n"
            "work 2 at 12 for 20, 1 parts, gap 0\n"
            "gap 3 at 32 for 23, 3 parts, gap 13\n"
            "work 4 at 55 for 35, 1 parts, gap 0\n"
            "gap 4 at 90 for 5, 1 parts, gap 5\n");
  EXPECT_EQ(path_sections(made.timeline, path, 8).size(), 8U);
  EXPECT_EQ(path_sections(made.timeline, path, 1).size(), 1U);
  EXPECT_EQ(path_sections(made.timeline, {}, 1).size(), 0U);
}

// A host's part between two kernels is a section of its own if there is room, else with what is near; the section is
// where most of it is.
TEST(CriticalPath, InSectionsBreaksAtTracks) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  made.slice(main, 0, 50, Family::Gemm);
  const SliceId call = made.slice(made.host(0), 52, 60, Family::HostApi);
  const SliceId next = made.slice(main, 61, 63, Family::Gemm);
  made.flow(call, next, FlowKind::Launch);
  made.slice(main, 64, 66, Family::Gemm);
  const std::vector<PathPart> path = {{PathPart::Kind::Work, SliceId{1}, Time{0}, Picoseconds{50}},
                                      {PathPart::Kind::Gap, call, Time{50}, Picoseconds{2}},
                                      {PathPart::Kind::Work, call, Time{52}, Picoseconds{8}},
                                      {PathPart::Kind::Gap, next, Time{60}, Picoseconds{1}},
                                      {PathPart::Kind::Work, next, Time{61}, Picoseconds{2}},
                                      {PathPart::Kind::Gap, SliceId{4}, Time{63}, Picoseconds{1}},
                                      {PathPart::Kind::Work, SliceId{4}, Time{64}, Picoseconds{2}}};
  const auto text = [&](std::size_t most) {
    std::string out;
    for (const PathSection& section : path_sections(made.timeline, path, most))
      out += fmt::format("{}: {} parts, {}; ", section.part.slice.value, section.parts, section.part.duration.count());
    return out;
  };
  EXPECT_EQ(text(4), "1: 1 parts, 50; 2: 2 parts, 10; 3: 4 parts, 6; ");
  EXPECT_EQ(text(2), "1: 7 parts, 66; ");
  EXPECT_EQ(text(3), "1: 1 parts, 50; 2: 2 parts, 10; 3: 4 parts, 6; ");
}

}  // namespace
}  // namespace stave
