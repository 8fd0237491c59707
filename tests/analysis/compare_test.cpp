#include "analysis/compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <tuple>

#include "tests/analysis/random_timeline.h"

namespace stave {
namespace {

// A comparison and what it names.
class Compared {
 public:
  Compared(Timeline a, Timeline b, std::string_view window = {}, RunKind kind = RunKind::Predicted)
      : a_(std::move(a)), b_(std::move(b)), index_a_(a_), index_b_(b_) {
    Result<Comparison> made = compare({.index = &index_a_, .kind = kind, .file = "a"},
                                      {.index = &index_b_, .kind = kind, .file = "b"}, window);
    EXPECT_TRUE(made) << made.problems()[0].message;
    if (made) made_ = *std::move(made);
  }
  Compared(const Compared&) = delete;
  Compared& operator=(const Compared&) = delete;

  const Comparison& operator*() const { return made_; }
  const Comparison* operator->() const { return &made_; }

 private:
  Timeline a_, b_;
  TimelineIndex index_a_, index_b_;
  Comparison made_;
};

// "duration gemm rank 0 +5", one a line.
std::string text(const Compared& compared) {
  const Comparison& made = *compared;
  std::string out;
  for (const Contribution& part : made.contributions) {
    const Timeline& timeline = part.b ? made.timeline_b() : made.timeline_a();
    const SliceId slice = part.b ? part.b : part.a;
    out += name_of(part.kind);
    if (slice)
      out += fmt::format(" {} rank {}", title_of(timeline, slice), timeline.track(timeline.slice(slice).track).rank);
    out += fmt::format(" {:+}\n", part.delta.count());
  }
  return out;
}

TEST(Compare, DurationsGapsAndTheEndOfTheWindowAddUp) {
  HandMade a, b;
  for (HandMade* made : {&a, &b}) {
    const bool is_b = made == &b;
    const TrackId main = made->stream(0, "main");
    made->slice(main, 0, 40, Family::Gemm, "gemm");
    made->slice(main, is_b ? 55 : 45, is_b ? 85 : 100, Family::Gemm, "other");
    made->timeline.add(StepSpan{.end = Time{is_b ? 100 : 102}});
    made->timeline.add(StepSpan{.step = 1, .start = Time{200}, .end = Time{is_b ? 320 : 330}});
  }
  const Compared made(a.timeline, b.timeline);
  EXPECT_EQ(made->a.window.label, "0");
  EXPECT_EQ(made->delta, Picoseconds{-2});
  EXPECT_EQ(text(made),
            "duration other rank 0 -25\n"
            "gap +13\n"
            "gap other rank 0 +10\n");
  EXPECT_EQ(made->verdict, Verdict::Faster);
}

TEST(Compare, WhatOnlyOneRunHasCameOrWent) {
  HandMade a, b;
  const TrackId main = a.stream(0, "main"), main_b = b.stream(0, "main");
  a.slice(main, 0, 10, Family::Gemm, "gemm");
  a.slice(main, 10, 13, Family::Memory, "copy");
  b.slice(main_b, 0, 10, Family::Gemm, "gemm");
  b.slice(main_b, 10, 30, Family::Compute, "norm");
  const Compared made(a.timeline, b.timeline);
  EXPECT_EQ(text(made), "inserted norm rank 0 +20\nremoved copy rank 0 -3\n");
  ASSERT_EQ(made->only_b.size(), 1u);
  EXPECT_EQ(made->only_b[0].name, "norm");
  EXPECT_EQ(made->only_b[0].total, Picoseconds{20});
}

// The copy is hidden behind the gemm in A, and the gemm behind the copy in B.
TEST(Compare, ASliceCanComeOntoThePathOrLeaveIt) {
  HandMade a, b;
  for (HandMade* made : {&a, &b}) {
    made->slice(made->stream(0, "main"), 0, 50, Family::Gemm, "gemm");
    made->slice(made->stream(0, "side"), 0, made == &b ? 70 : 20, Family::Memory, "copy");
  }
  EXPECT_EQ(text(Compared(a.timeline, b.timeline)), "path copy rank 0 +70\npath gemm rank 0 -50\n");
}

// All ranks do the same; which of them the path follows is chance.
TEST(Compare, APathThatMovedToAnotherRankIsNoDifference) {
  HandMade a, b;
  for (HandMade* made : {&a, &b})
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const std::int64_t late = (made == &a) == (rank == 0) ? 4 : 0;
      const TrackId main = made->stream(rank, "main");
      made->slice(main, 0, 50, Family::Gemm, "gemm");
      made->slice(main, 50, 70 + late, Family::Gemm, "last");
    }
  EXPECT_EQ(text(Compared(a.timeline, b.timeline)), "");
}

TEST(Compare, TheWaitOfACollectiveStandsApart) {
  HandMade a, b;
  for (HandMade* made : {&a, &b}) {
    const std::int64_t wait = made == &b ? 30 : 5;
    made->part(made->slice(made->stream(0, "main"), 0, wait + 20, Family::Collective, "all_reduce"), "arrival_wait",
               wait);
  }
  const Compared made(a.timeline, b.timeline);
  EXPECT_EQ(text(made), "arrival all_reduce rank 0 +25\n");
  ASSERT_EQ(made->families.size(), 2u);
  EXPECT_EQ(made->families[0].family, "collective");
  EXPECT_EQ(made->families[0].bias_pct, 0.0);
  EXPECT_EQ(made->families[1].family, "collective_wait");
  EXPECT_EQ(made->families[1].a, Picoseconds{5});
  EXPECT_EQ(made->families[1].bias_pct, 500.0);
}

TEST(Compare, HostsOnThePathAreTheGapOfTheWorkThatTheyLaunch) {
  HandMade a, b;
  for (HandMade* made : {&a, &b}) {
    const std::int64_t launch = made == &b ? 30 : 12;
    const SliceId call = made->slice(made->host(0), 0, launch, Family::HostApi, "launch");
    made->flow(call, made->slice(made->stream(0, "main"), launch + 3, launch + 50, Family::Gemm, "gemm"),
               FlowKind::Launch);
  }
  EXPECT_EQ(text(Compared(a.timeline, b.timeline)), "gap gemm rank 0 +18\n");
}

TEST(Compare, ErrorsOfAFamilyAreOfItsMatchedSlices) {
  HandMade a, b;
  const std::int64_t ends[][2] = {{100, 110}, {100, 80}, {100, 100}, {200, 600}};
  for (HandMade* made : {&a, &b}) {
    const TrackId main = made->stream(0, "main");
    std::int64_t at = 0;
    for (const auto& end : ends) {
      made->slice(main, at, at + end[made == &b], Family::Gemm, fmt::format("gemm {}", at > 0 ? 1 : 0));
      at += 1'000;
    }
  }
  const Compared made(a.timeline, b.timeline);
  ASSERT_EQ(made->families.size(), 1u);
  const FamilyError& gemm = made->families[0];
  EXPECT_EQ(gemm.n, 4);
  EXPECT_EQ(gemm.median_pct, 10.0);
  EXPECT_EQ(gemm.p90_pct, 200.0);
  EXPECT_EQ(gemm.worst_pct, 200.0);
  EXPECT_EQ(gemm.bias_pct, 78.0);
}

TEST(Compare, LinksAreCopiesByPlacesAndCollectivesByCommunicator) {
  HandMade made;
  const TrackId copies = made.timeline.add(Track{.name = "copies", .device = 0});
  const auto copy = [&](std::int64_t begin, std::uint32_t kind, std::uint32_t to) {
    const SliceId slice = made.slice(copies, begin, begin + 10, Family::Memory);
    made.timeline.add(
        CopyDetail{.slice = slice, .bytes = 100, .copy_kind = kind, .source_device = 0, .destination_device = to});
  };
  copy(0, 1, 0);
  copy(5, 1, 0);
  copy(20, 10, 1);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const SliceId slice = made.slice(made.stream(rank, "main"), 40, 60, Family::Collective);
    made.part(slice, "arrival_wait", 5);
    made.timeline.add(CollectiveDetail{.slice = slice,
                                       .communicator = made.timeline.intern("x"),
                                       .op = made.timeline.intern("all_reduce"),
                                       .bytes = 1'000,
                                       .ranks = 2});
  }
  const Compared compared(made.timeline, made.timeline);
  std::string links;
  for (const LinkUse& link : compared->links)
    links += fmt::format("{}: {} bytes in {} ps\n", link.link, *link.b_bytes, link.b_busy.count());
  EXPECT_EQ(links,
            "communicator x: 1000 bytes in 15 ps\n"
            "host to device, device 0: 200 bytes in 15 ps\n"
            "peer to peer, 0 to 1: 100 bytes in 10 ps\n");
}

// Steps of these lengths, one slice each.
Timeline steps(std::initializer_list<std::int64_t> lengths, std::int64_t warmup = 0) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  std::int64_t at = 0;
  std::uint32_t step = 0;
  if (warmup > 0) {
    made.slice(main, at, warmup, Family::Gemm);
    made.timeline.add(StepSpan{.step = step++, .phase = StepPhase::Warmup, .end = Time{warmup}});
    at = warmup;
  }
  for (const std::int64_t length : lengths) {
    made.slice(main, at, at + length, Family::Gemm);
    made.timeline.add(StepSpan{.step = step++, .start = Time{at}, .end = Time{at + length}});
    at += length;
  }
  return std::move(made.timeline);
}

TEST(Compare, StepsOfLowerMedianDurationAreHeldAgainstEachOther) {
  const Timeline a = steps({140, 100, 120, 130}, 900), b = steps({90, 95});
  const Compared made(a, b);
  EXPECT_EQ(made->a.window.label, "3");
  EXPECT_EQ(made->a_length, Picoseconds{120});
  EXPECT_EQ(made->b_length, Picoseconds{90});
  EXPECT_EQ(Compared(a, b, "step:1")->a_length, Picoseconds{140});
  // One step each: all of both.
  EXPECT_EQ(Compared(steps({100}), steps({70}))->a.window.kind, "all");
}

TEST(Compare, TheNoiseIsTwiceTheErrorOfTheMedians) {
  // Median 1000, MAD 10: 1.4826 x 10 x 1.2533 / sqrt(5) = 8.31 ps.
  const Timeline a = steps({1000, 990, 1010, 980, 1020});
  const Compared same(a, steps({1005, 995, 1015, 985, 1025}), {}, RunKind::Measured);
  ASSERT_TRUE(same->noise_pct);
  EXPECT_NEAR(*same->noise_pct, 2.0 * 8.31 * 1.41421 / 10.0, 0.001);
  EXPECT_EQ(same->verdict, Verdict::Same);
  EXPECT_EQ(Compared(a, steps({1105, 1095, 1115}), {}, RunKind::Measured)->verdict, Verdict::Slower);
  EXPECT_EQ(Compared(a, steps({905, 895, 915}), {}, RunKind::Imported)->verdict, Verdict::Faster);
}

TEST(Compare, TheNoiseOfAnEvenNumberOfStepsHasTheMedianInTheMiddle) {
  // Median 1005, distances 15, 5, 5, 15: MAD 10.
  const Timeline a = steps({990, 1000, 1010, 1020});
  const Compared same(a, a, {}, RunKind::Measured);
  ASSERT_TRUE(same->noise_pct);
  EXPECT_NEAR(*same->noise_pct, 2.0 * 1.4826 * 10 * 1.2533 / 2 * 1.41421 / 10.0, 0.001);
}

TEST(Compare, WaitsThatATraceDoesNotSayAreNotCompared) {
  const auto trace = [](std::int64_t length, bool waited) {
    HandMade made;
    const SliceId slice = made.slice(made.stream(0, "main"), 0, length, Family::Collective, "ncclDevKernel");
    if (waited) made.part(slice, "arrival_wait", 20);
    return std::move(made.timeline);
  };
  EXPECT_EQ(Compared(trace(100, false), trace(90, false))->families.size(), 1u);
  EXPECT_EQ(Compared(trace(100, true), trace(90, false))->families.size(), 1u);
  EXPECT_EQ(Compared(trace(100, true), trace(90, true))->families.size(), 2u);
}

TEST(Compare, UnknownNoiseIsUndecidedUnlessNothingDiffers) {
  const Timeline a = steps({100, 100}), b = steps({90, 90});
  const Compared made(a, b, {}, RunKind::Measured);
  EXPECT_FALSE(made->noise_pct);
  EXPECT_EQ(made->verdict, Verdict::Undecided);
  EXPECT_EQ(Compared(a, a, {}, RunKind::Measured)->verdict, Verdict::Same);
  EXPECT_EQ(Compared(a, b)->verdict, Verdict::Faster);
  EXPECT_EQ(Compared(a, b)->noise_pct, 0.0);
}

TEST(Compare, RunsWithNothingInCommonAreAnErrorThatNamesBoth) {
  HandMade a, b, none;
  a.slice(a.stream(0, "main"), 0, 10, Family::Gemm, "gemm");
  b.slice(b.stream(0, "main"), 0, 10, Family::Gemm, "copy");
  none.slice(none.host(0), 0, 10, Family::HostApi);
  const TimelineIndex in_a(a.timeline), in_b(b.timeline), in_none(none.timeline);
  const auto problem = [](const TimelineIndex& x, const TimelineIndex& y, std::string_view window = {}) {
    const Result<Comparison> made = compare({.index = &x, .file = "a"}, {.index = &y, .file = "b"}, window);
    return made ? Problem{} : made.problems()[0];
  };
  const Problem nothing = problem(in_a, in_b);
  EXPECT_EQ(nothing.code, "STV1910");
  EXPECT_EQ(nothing.place.file, "b");
  EXPECT_NE(nothing.message.find("it has copy, the other has gemm"), std::string::npos) << nothing.message;
  EXPECT_EQ(problem(in_a, in_none).code, "STV1911");
  EXPECT_EQ(problem(in_none, in_a).place.file, "a");
  EXPECT_EQ(problem(in_a, in_a, "step:9").code, "STV1900");
  EXPECT_EQ(problem(in_a, in_a, "step:9").place.file, "a");
}

TEST(Compare, RanksInOrderAreAWarning) {
  HandMade a, b;
  a.slice(a.stream(0, "main"), 0, 10, Family::Gemm, "gemm");
  b.slice(b.stream(4, "main"), 0, 10, Family::Gemm, "gemm");
  const Compared made(a.timeline, b.timeline);
  ASSERT_EQ(made->problems.size(), 1u);
  EXPECT_EQ(made->problems[0].code, "STV1912");
}

TEST(Compare, ChangesAreRelativeToTheWindow) {
  HandMade a, b;
  for (HandMade* made : {&a, &b}) {
    const std::int64_t later = made == &b ? 7 : 0;
    const TrackId main = made->stream(0, "main");
    made->slice(main, 10, 20, Family::Gemm, "gemm");
    made->slice(main, 25 + later, 30 + 3 * later, Family::Gemm, "gemm");
  }
  const Compared made(a.timeline, b.timeline, "10ps..100ps");
  const std::vector<SliceChange> changes = changes_of(*made);
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].a_start, Picoseconds{0});
  EXPECT_EQ(changes[0].a_gap, Picoseconds{0});
  EXPECT_EQ(changes[1].b_start - changes[1].a_start, Picoseconds{7});
  EXPECT_EQ(changes[1].b_duration - changes[1].a_duration, Picoseconds{14});
  EXPECT_EQ(changes[1].b_gap - changes[1].a_gap, Picoseconds{7});
}

// B is behind: its device works on step 1 in the time of step 2.
TEST(Compare, WorkOfOtherStepsIsCountedAndIsNoGainOrLoss) {
  HandMade a, b;
  for (HandMade* made : {&a, &b}) {
    const std::int64_t behind = made == &b ? 60 : 0;
    const TrackId main = made->stream(0, "main");
    for (std::uint32_t step = 1; step <= 2; ++step) {
      made->timeline.add(StepSpan{.step = step, .start = Time{100 * step}, .end = Time{100 * step + 100}});
      for (const std::int64_t at : {0, 40})
        made->timeline.add(Slice{.start = Time{100 * step + behind + at},
                                 .duration = Picoseconds{40},
                                 .track = main,
                                 .name = made->timeline.intern(at == 0 ? "first" : "second"),
                                 .step = StepNumber{step},
                                 .family = Family::Gemm});
    }
  }
  const Compared made(a.timeline, b.timeline, "step:2");
  EXPECT_TRUE(made->only_a.empty() && made->only_b.empty());
  ASSERT_EQ(made->families.size(), 1u);
  EXPECT_EQ(made->families[0].n, 2);
  EXPECT_EQ(made->families[0].worst_pct, 0.0);
  EXPECT_EQ(text(made),
            "path second rank 0 +40\n"
            "path second rank 0 -40\n"
            "gap -20\n"
            "gap first rank 0 +20\n");
  ASSERT_EQ(made->problems.size(), 1u);
  EXPECT_EQ(made->problems[0].code, "STV1913");
  EXPECT_EQ(made->problems[0].place.file, "b");
  EXPECT_NE(made->problems[0].message.find("1 of 2 slices"), std::string::npos);
}

using Part = std::tuple<Contribution::Kind, std::int64_t, SliceId, SliceId>;

std::vector<Part> sorted(const std::vector<Contribution>& parts, bool exchanged) {
  std::vector<Part> out;
  for (const Contribution& part : parts) {
    Contribution::Kind kind = part.kind;
    if (exchanged && kind == Contribution::Kind::Inserted)
      kind = Contribution::Kind::Removed;
    else if (exchanged && kind == Contribution::Kind::Removed)
      kind = Contribution::Kind::Inserted;
    out.emplace_back(kind, exchanged ? -part.delta.count() : part.delta.count(), exchanged ? part.b : part.a,
                     exchanged ? part.a : part.b);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void expect_adds_up_and_negates(const Timeline& a, const Timeline& b) {
  const TimelineIndex index_a(a), index_b(b);
  const auto [window_a, window_b] = random_windows();
  const RunPart in_a{&index_a, window_a}, in_b{&index_b, window_b};
  const std::vector<Contribution> parts = waterfall(in_a, in_b, align(in_a, in_b));
  // Without work in a window there is no path that could explain anything.
  const bool both =
      !critical_path(index_a, in_a.window.span).empty() && !critical_path(index_b, in_b.window.span).empty();
  Picoseconds sum{0};
  std::int64_t last = std::numeric_limits<std::int64_t>::max();
  for (const Contribution& part : parts) {
    RC_ASSERT(!both || part.kind != Contribution::Kind::Unexplained);
    RC_ASSERT(part.delta.count() != 0);
    RC_ASSERT(std::abs(part.delta.count()) <= last);
    last = std::abs(part.delta.count());
    sum += part.delta;
  }
  RC_ASSERT(sum == in_b.window.span.length() - in_a.window.span.length());
  RC_ASSERT(sorted(waterfall(in_b, in_a, align(in_b, in_a)), true) == sorted(parts, false));
}

RC_GTEST_PROP(Waterfall, AddsUpAndNegatesWhenTheRunsAreExchanged, ()) {
  const Timeline a = random_timeline();
  expect_adds_up_and_negates(a, changed(a));
  expect_adds_up_and_negates(a, random_timeline());
}

RC_GTEST_PROP(Waterfall, OfARunAgainstItselfIsEmpty, ()) {
  const Timeline a = random_timeline();
  const TimelineIndex index(a);
  const RunPart part{&index, random_windows().first};
  RC_ASSERT(waterfall(part, part, align(part, part)).empty());
}

}  // namespace
}  // namespace stave
