#include "analysis/report.h"

#include <gtest/gtest.h>

#include "tests/analysis/hand_made.h"

namespace stave {
namespace {

TEST(Quantile, IsTheSmallestValueThatEnoughDoNotExceed) {
  EXPECT_EQ(quantile({5_ps}, 0.9), 5_ps);
  EXPECT_EQ(quantile({4_ps, 1_ps, 3_ps, 2_ps}, 0.5), 2_ps);
  EXPECT_EQ(quantile({5_ps, 4_ps, 1_ps, 3_ps, 2_ps}, 0.5), 3_ps);
  EXPECT_EQ(quantile({1_ps, 2_ps, 3_ps, 4_ps, 5_ps, 6_ps, 7_ps, 8_ps, 9_ps, 10_ps}, 0.9), 9_ps);
  EXPECT_EQ(quantile({2_ps, 1_ps}, 0), 1_ps);
  EXPECT_EQ(quantile({2_ps, 1_ps}, 1), 2_ps);
}

TEST(BusFactor, IsThatOfNcclTests) {
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor("all_gather", 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor("reduce_scatter", 2), 0.5);
  EXPECT_DOUBLE_EQ(bus_factor("all_to_all", 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor("broadcast", 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor("collective_permute", 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor("all_reduce", 0), 1);
}

// Two steps on two ranks, and a range of each rank.
Timeline steps_and_ranges() {
  HandMade made;
  const TrackId main = made.stream(0, "main"), other = made.stream(1, "main");
  made.slice(main, 0, 40, Family::Gemm, "gemm");
  made.slice(main, 60, 100, Family::Collective, "sum");
  made.slice(other, 0, 90, Family::Gemm, "gemm");
  made.slice(made.ranges(0), 50, 80, Family::Mark, "layer");
  made.slice(made.ranges(1), 60, 85, Family::Mark, "layer");
  made.timeline.add(StepSpan{.step = 0, .rank = 0, .phase = StepPhase::Warmup, .start = 0_ps, .end = 50_ps});
  made.timeline.add(StepSpan{.step = 3, .rank = 0, .start = 50_ps, .end = 100_ps});
  made.timeline.add(StepSpan{.step = 3, .rank = 1, .start = 45_ps, .end = 90_ps});
  return std::move(made.timeline);
}

Interval span_of(const Timeline& timeline, std::string_view text) {
  const Result<Window> window = window_of(timeline, text);
  EXPECT_TRUE(window) << text;
  return window ? window->span : Interval{};
}

TEST(WindowOf, AllStepsRangesAndTimes) {
  const Timeline timeline = steps_and_ranges();
  EXPECT_EQ(span_of(timeline, ""), (Interval{0_ps, 100_ps}));
  EXPECT_EQ(span_of(timeline, "all"), (Interval{0_ps, 100_ps}));
  EXPECT_EQ(span_of(timeline, "step:3"), (Interval{45_ps, 100_ps}));
  EXPECT_EQ(span_of(timeline, "range:layer"), (Interval{50_ps, 85_ps}));
  EXPECT_EQ(span_of(timeline, "10ps..0.05ns"), (Interval{10_ps, 50_ps}));
  EXPECT_EQ(span_of(timeline, "0.05ns..2ms"), (Interval{50_ps, Time{2'000'000'000}}));
  EXPECT_EQ(span_of(timeline, "0s..1s"), (Interval{0_ps, Time{1'000'000'000'000}}));
}

TEST(WindowOf, SaysWhatIsWrong) {
  const Timeline timeline = steps_and_ranges();
  for (const char* text : {"step:4",
                           "step:",
                           "step:-1",
                           "step:3x",
                           "step:99999999999",
                           "range:",
                           "range:attention",
                           "1..2",
                           "2ms..1ms",
                           "1ms..1ms",
                           "1ms",
                           "..",
                           "1ms..",
                           "nans..1s",
                           "infs..1s",
                           "0s..1e30s",
                           "1kg..2kg",
                           "0..100us",
                           "1.5us..2ms",
                           "yesterday"}) {
    const Result<Window> window = window_of(timeline, text);
    ASSERT_FALSE(window) << text;
    EXPECT_EQ(window.problems()[0].code, "STV1900") << text;
    EXPECT_NE(window.problems()[0].message.find(text), std::string::npos) << window.problems()[0].message;
  }
}

TEST(WindowOf, SaysWhatThereIsInstead) {
  Timeline timeline = steps_and_ranges();
  timeline.add(StepSpan{.step = 4, .start = 100_ps, .end = 120_ps});
  const auto said = [&](std::string_view text) { return window_of(timeline, text).problems()[0].message; };
  EXPECT_EQ(said("step:999"), "--window step:999: the run has no step 999; its steps: 0, 3-4");
  EXPECT_NE(said("0..100us").find("`0` is no time; write a number with a unit"), std::string::npos);
  EXPECT_EQ(said("2ms..1ms"), "--window 2ms..1ms: it ends before it begins");
  EXPECT_EQ(said("5s..6s"), "--window 5s..6s: nothing is there; the run goes from 0 ms to 1e-07 ms");
  timeline = Timeline{};
  EXPECT_EQ(said("step:1"), "--window step:1: the run has no step 1; its steps: none");
}

TEST(MakeReport, StepsCountFromTheFirstBeginToTheLastEndOfTheirRanks) {
  const Timeline timeline = steps_and_ranges();
  const Report report = make_report(timeline, *window_of(timeline, "all"));
  EXPECT_EQ(report.makespan, 100_ps);
  ASSERT_EQ(report.steps.size(), 2u);
  EXPECT_EQ(report.steps[0].duration, 50_ps);
  EXPECT_EQ(report.steps[1].step, 3u);
  EXPECT_EQ(report.steps[1].duration, 55_ps);
  EXPECT_EQ(report.steps[1].exposed_communication, 40_ps);
  EXPECT_EQ(report.step_median, 55_ps);  // the warm-up does not count
  EXPECT_EQ(report.worst_rank, 0u);
}

TEST(MakeReport, RangesSeeOnlyTheirOwnRank) {
  const Timeline timeline = steps_and_ranges();
  const Report report = make_report(timeline, *window_of(timeline, "all"));
  ASSERT_EQ(report.ranges.size(), 1u);
  EXPECT_EQ(report.ranges[0].calls, 2);
  EXPECT_EQ(report.ranges[0].gpu, 20_ps + 25_ps);
  EXPECT_EQ(report.ranges[0].exposed_communication, 20_ps);
}

TEST(MakeReport, KernelsAreSortedByTheirTotal) {
  const Timeline timeline = steps_and_ranges();
  const Report report = make_report(timeline, *window_of(timeline, "all"));
  ASSERT_EQ(report.kernels.size(), 2u);
  EXPECT_EQ(report.kernels[0].name, "gemm");
  EXPECT_EQ(report.kernels[0].calls, 2);
  EXPECT_EQ(report.kernels[0].total, 130_ps);
  EXPECT_EQ(report.kernels[0].median, 40_ps);
  EXPECT_EQ(report.kernels[0].p90, 90_ps);
  EXPECT_DOUBLE_EQ(report.kernels[0].share_pct, 100.0 * 130 / 170);
}

TEST(MakeReport, ACollectiveTransfersFromTheLastArrivalToTheLastEnd) {
  HandMade made;
  const TrackId zero = made.stream(0, "main"), one = made.stream(1, "main");
  const auto member = [&](TrackId track, std::int64_t begin, std::int64_t end, std::int64_t wait) {
    const SliceId slice = made.slice(track, begin, end, Family::Collective);
    made.part(slice, "arrival_wait", wait);
    made.timeline.add(CollectiveDetail{.slice = slice,
                                       .communicator = made.timeline.intern("x:0"),
                                       .sequence = 4,
                                       .op = made.timeline.intern("all_reduce"),
                                       .dtype = {},
                                       .bytes = 1000,
                                       .ranks = 2,
                                       .algorithm = {},
                                       .protocol = {}});
  };
  member(one, 30, 130, 0);
  member(zero, 10, 128, 20);
  const Report report = make_report(made.timeline, {"all", "", {0_ps, 130_ps}});
  ASSERT_EQ(report.collectives.size(), 1u);
  const CollectiveReport& got = report.collectives[0];
  EXPECT_EQ(got.communicator, "x:0");
  EXPECT_EQ(got.sequence, 4);
  EXPECT_EQ(got.first_arrival, 10_ps);
  EXPECT_EQ(got.last_rank, 1u);
  EXPECT_EQ(got.arrival_wait, 20_ps);
  EXPECT_EQ(got.transfer, 100_ps);
  EXPECT_DOUBLE_EQ(*got.algorithm_bytes_per_s, 1e13);
  EXPECT_DOUBLE_EQ(*got.bus_bytes_per_s, 1e13);  // 2 (n - 1) / n is 1 for two ranks
}

// Collectives of a trace: nobody wrote how long they waited.
TEST(MakeReport, WhatOneRanksTraceCannotSayIsUnknownNotZero) {
  HandMade made;
  const TrackId zero = made.stream(0, "main");
  const auto member = [&](TrackId track, std::int64_t begin, std::int64_t end, std::uint32_t ranks,
                          std::int64_t number) {
    const SliceId slice = made.slice(track, begin, end, Family::Collective);
    made.timeline.add(CollectiveDetail{.slice = slice,
                                       .communicator = made.timeline.intern("world"),
                                       .sequence = number,
                                       .op = made.timeline.intern("all_reduce"),
                                       .dtype = {},
                                       .bytes = 1000,
                                       .ranks = ranks,
                                       .algorithm = {},
                                       .protocol = {}});
  };
  member(zero, 0, 50, 2, 0);    // of one of two ranks
  member(zero, 60, 100, 0, 1);  // of one of nobody knows how many
  Report report = make_report(made.timeline, {"all", "", {0_ps, 100_ps}});
  ASSERT_EQ(report.collectives.size(), 2u);
  for (const CollectiveReport& got : report.collectives) {
    EXPECT_FALSE(got.last_rank || got.arrival_wait || got.transfer || got.algorithm_bytes_per_s || got.bus_bytes_per_s);
  }
  EXPECT_EQ(report.collectives[0].ranks, 2u);
  EXPECT_EQ(report.collectives[0].duration, 50_ps);
  EXPECT_FALSE(report.collectives[1].ranks);
  EXPECT_FALSE(report.arrival_wait(report.ranks[0]));

  // With the other rank's trace both are known, and so is how many took part.
  const TrackId one = made.stream(1, "main");
  member(one, 20, 50, 2, 0);
  member(one, 80, 100, 0, 1);
  report = make_report(made.timeline, {"all", "", {0_ps, 100_ps}});
  for (const CollectiveReport& got : report.collectives) {
    EXPECT_EQ(got.ranks, 2u);
    EXPECT_EQ(got.last_rank, 1u);
    EXPECT_EQ(got.arrival_wait, 20_ps);
    EXPECT_TRUE(got.transfer && got.bus_bytes_per_s);
  }
}

TEST(MakeReport, RangesAreSortedByTheirTimeOnTheGpu) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  made.slice(main, 0, 10, Family::Gemm);
  made.slice(main, 20, 60, Family::Gemm);
  made.slice(made.ranges(0), 0, 15, Family::Mark, "a short one");
  made.slice(made.ranges(0), 15, 65, Family::Mark, "long");
  made.slice(made.ranges(0), 70, 71, Family::Mark, "empty");
  const Report report = make_report(made.timeline, {"all", "", {0_ps, 71_ps}});
  ASSERT_EQ(report.ranges.size(), 3u);
  EXPECT_EQ(report.ranges[0].name, "long");
  EXPECT_EQ(report.ranges[1].name, "a short one");
}

TEST(MakeReport, AGraphLaunchIsTheSpanOfItsNodes) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  const auto node = [&](std::int64_t begin, std::int64_t end, std::int64_t correlation) {
    const SliceId slice = made.slice(main, begin, end, Family::Compute);
    made.timeline.add(KernelDetail{.slice = slice, .correlation = correlation, .graph = 7, .demangled_name = {}});
  };
  node(0, 10, 1);
  node(15, 30, 1);
  node(50, 70, 2);
  const Report report = make_report(made.timeline, {"all", "", {0_ps, 70_ps}});
  ASSERT_EQ(report.graphs.size(), 1u);
  EXPECT_EQ(report.graphs[0].launches, 2);
  EXPECT_EQ(report.graphs[0].nodes, 2);
  EXPECT_EQ(report.graphs[0].median, 20_ps);
}

TEST(MakeReport, OfNothingIsEmpty) {
  const Report report = make_report(Timeline{}, {});
  EXPECT_EQ(report.makespan, 0_ps);
  EXPECT_FALSE(report.worst_rank.has_value());
  EXPECT_EQ(report.worst(), nullptr);
  EXPECT_FALSE(report.step_median.has_value());
  EXPECT_TRUE(report.critical_path.empty());
}

// A trace whose collectives were not joined: no row says whose they are, or how long they waited.
TEST(Report, WaitsOfCollectivesWithoutARowAreUnknownInATrace) {
  HandMade made;
  made.slice(made.stream(0, "main"), 0, 50, Family::Collective, "ncclDevKernel");
  made.slice(made.stream(1, "main"), 0, 50, Family::Gemm);
  const Window all{"all", "", {0_ps, 50_ps}};
  const Report report = make_report(made.timeline, all, RunKind::Imported);
  EXPECT_FALSE(report.arrival_wait(report.ranks[0]));
  EXPECT_EQ(report.arrival_wait(report.ranks[1]), 0_ps) << "it has no collective";
  const Report predicted = make_report(made.timeline, all, RunKind::Predicted);
  EXPECT_EQ(predicted.arrival_wait(predicted.ranks[0]), 0_ps);
}

}  // namespace
}  // namespace stave
