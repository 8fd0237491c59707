#include "analysis/align.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/analysis/random_timeline.h"

namespace stave {
namespace {

Alignment aligned(const Timeline& a, const Timeline& b, const Window& in_a, const Window& in_b) {
  const TimelineIndex index_a(a), index_b(b);
  return align({.index = &index_a, .window = in_a}, {.index = &index_b, .window = in_b});
}

Alignment aligned(const Timeline& a, const Timeline& b) {
  const Window all{"all", "", span(0, 1'000)};
  return aligned(a, b, all, all);
}

// "1-1 2-3 | only 3 | only 2", slice ids.
std::string text(const Alignment& alignment) {
  std::string out;
  for (const SlicePair& pair : alignment.matched) out += fmt::format("{}-{} ", pair.a.value, pair.b.value);
  out += "| only";
  for (const SliceId id : alignment.only_a) out += fmt::format(" {}", id.value);
  out += " | only";
  for (const SliceId id : alignment.only_b) out += fmt::format(" {}", id.value);
  return out;
}

// Kernels of 10 ps, back to back; "gemm:4" has a grid of 4.
Timeline stream_of(std::initializer_list<std::string_view> names, std::uint32_t rank = 0) {
  HandMade made;
  const TrackId main = made.stream(rank, "main");
  std::int64_t at = 0;
  for (const std::string_view name : names) {
    const std::size_t colon = name.find(':');
    const SliceId slice = made.slice(main, at, at + 10, Family::Compute, name.substr(0, colon));
    at += 10;
    if (colon != std::string_view::npos)
      made.timeline.add(
          KernelDetail{.slice = slice, .grid = LaunchDims{static_cast<std::uint32_t>(name[colon + 1] - '0'), 1, 1}});
  }
  return std::move(made.timeline);
}

struct WithCommands : HandMade {
  SliceId run(TrackId track, std::int64_t begin, std::string_view key, std::uint32_t step = 0,
              std::uint32_t occurrence = 0, std::uint8_t flags = 0, std::string_view name = "kernel") {
    TimelineCommandId command;
    for (std::uint32_t i = 0; i < timeline.commands().size(); ++i)
      if (timeline.commands()[i].key == key) command = TimelineCommandId{i};
    if (!command) command = timeline.add(TimelineCommand{.key = std::string(key)});
    return timeline.add(Slice{.start = Time{begin},
                              .duration = Picoseconds{10},
                              .track = track,
                              .name = timeline.intern(name),
                              .command = command,
                              .step = StepNumber{step},
                              .occurrence = occurrence,
                              .family = Family::Gemm,
                              .flags = flags});
  }
};

TEST(Align, ByNameInOrder) {
  const Alignment made = aligned(stream_of({"a", "b", "a"}), stream_of({"a", "x", "b"}));
  EXPECT_EQ(text(made), "1-1 2-3 | only 3 | only 2");
  EXPECT_EQ(made.by(), "name");
}

TEST(Align, TemplateArgumentsArePartOfTheName) {
  EXPECT_EQ(text(aligned(stream_of({"f<1>"}), stream_of({"f<2>"}))), "| only 1 | only 1");
}

TEST(Align, LaunchDimensionsTellKernelsOfOneNameApart) {
  EXPECT_EQ(text(aligned(stream_of({"a:1", "a:2"}), stream_of({"a:2", "a:1"}))), "1-2 2-1 | only | only");
  // Of one name in one place it is still the same kernel, of another size.
  EXPECT_EQ(text(aligned(stream_of({"x:1", "a:1", "y:1"}), stream_of({"x:1", "a:2", "y:1"}))),
            "1-1 2-2 3-3 | only | only");
  // Unknown in one run: not looked at.
  EXPECT_EQ(text(aligned(stream_of({"a:1", "b:2"}), stream_of({"a", "b"}))), "1-1 2-2 | only | only");
}

TEST(Align, ByCommandAcrossOrderStreamsAndNames) {
  WithCommands a, b;
  const TrackId main = a.stream(0, "main");
  a.run(main, 0, "f/gemm#1");
  a.run(main, 10, "f/copy#1");
  const TrackId other = b.stream(0, "other"), side = b.stream(0, "side");
  b.run(side, 0, "f/copy#1", 0, 0, 0, "memcpy");
  b.run(other, 50, "f/gemm#1", 0, 0, 0, "sm90_gemm");
  b.run(other, 70, "f/gemm#2");
  const Alignment made = aligned(a.timeline, b.timeline);
  EXPECT_EQ(text(made), "1-2 2-1 | only | only 3");
  EXPECT_EQ(made.by(), "command");
}

TEST(Align, ByOccurrenceAndStepOfTheWindow) {
  WithCommands a, b;
  const TrackId in_a = a.stream(0, "main"), in_b = b.stream(0, "main");
  a.run(in_a, 0, "f/body", 3, 0);
  a.run(in_a, 10, "f/body", 3, 1);
  b.run(in_b, 0, "f/body", 7, 1);
  b.run(in_b, 10, "f/body", 7, 2);
  EXPECT_EQ(text(aligned(a.timeline, b.timeline, {"step", "3", span(0, 100)}, {"step", "7", span(0, 100)})),
            "2-1 | only 1 | only 2");
}

TEST(Align, AGuessedCommandDoesNotCount) {
  WithCommands a, b;
  const TrackId in_a = a.stream(0, "main"), in_b = b.stream(0, "main");
  a.run(in_a, 0, "f/x", 0, 0, 0, "one");
  a.run(in_a, 10, "f/y", 0, 0, slice_flags::guessed_command, "two");
  b.run(in_b, 0, "f/x", 0, 0, 0, "one");
  b.run(in_b, 10, "f/z", 0, 0, slice_flags::guessed_command, "two");
  const Alignment made = aligned(a.timeline, b.timeline);
  EXPECT_EQ(text(made), "1-1 2-2 | only | only");
  EXPECT_EQ(made.by(), "command and name");
}

TEST(Align, CommandsOfOtherProgramsAreMatchedByName) {
  WithCommands a, b;
  a.run(a.stream(0, "main"), 0, "ring/gemm#1");
  b.run(b.stream(0, "main"), 0, "gather/gemm#1");
  EXPECT_EQ(aligned(a.timeline, b.timeline).by(), "name");
}

// Streams have the same numbers, and hold each other's work in B.
TEST(Align, StreamsAreFoundByWhatIsOnThem) {
  HandMade a, b;
  for (HandMade* made : {&a, &b}) {
    const std::string_view first = made == &a ? "gemm" : "copy", second = made == &a ? "copy" : "gemm";
    const TrackId seven = made->timeline.add(Track{.name = "stream 7", .stream = 7}),
                  eight = made->timeline.add(Track{.name = "stream 8", .stream = 8});
    made->slice(seven, 0, 10, Family::Compute, first);
    made->slice(eight, 0, 10, Family::Compute, second);
  }
  EXPECT_EQ(text(aligned(a.timeline, b.timeline)), "1-2 2-1 | only | only");
}

TEST(Align, WorkThatMovedToAnotherStreamIsFoundThere) {
  HandMade a, b;
  const TrackId main = a.stream(0, "main");
  for (int i = 0; i < 4; ++i) a.slice(main, 10 * i, 10 * i + 10, Family::Compute, i % 2 == 0 ? "gemm" : "copy");
  const TrackId main_b = b.stream(0, "main"), side = b.stream(0, "side");
  for (int i = 0; i < 4; ++i)
    b.slice(i % 2 == 0 ? main_b : side, 10 * i, 10 * i + 10, Family::Compute, i % 2 == 0 ? "gemm" : "copy");
  EXPECT_EQ(text(aligned(a.timeline, b.timeline)), "1-1 2-2 3-3 4-4 | only | only");
}

TEST(Align, RanksAreMatchedByNumberElseInOrder) {
  const Alignment made = aligned(stream_of({"a"}, 3), stream_of({"a"}, 5));
  EXPECT_EQ(text(made), "1-1 | only | only");
  EXPECT_TRUE(made.ranks_by_order);

  HandMade two;
  two.slice(two.stream(3, "main"), 0, 10, Family::Compute, "a");
  two.slice(two.stream(5, "main"), 0, 10, Family::Compute, "a");
  const Alignment by_number = aligned(two.timeline, stream_of({"a"}, 5));
  EXPECT_EQ(text(by_number), "2-1 | only 1 | only");
  EXPECT_FALSE(by_number.ranks_by_order);
}

TEST(Align, OnlyWorkOnDevicesInTheWindowCounts) {
  HandMade made;
  const TrackId main = made.stream(0, "main"), host = made.host(0);
  made.slice(main, 0, 10, Family::Compute);
  made.slice(main, 10, 20, Family::Compute);
  made.slice(main, 30, 40, Family::Idle);
  made.slice(host, 0, 100, Family::HostApi);
  const Window late{"time", "", span(10, 100)};
  EXPECT_EQ(text(aligned(made.timeline, made.timeline, late, late)), "2-2 | only | only");
}

// "4-4 --5": the pairs of other steps, "-" for a missing side.
std::string others(const Alignment& alignment) {
  std::string out;
  const auto side = [](SliceId id) { return id ? std::to_string(id.value) : std::string("-"); };
  for (const SlicePair& pair : alignment.other_steps) out += fmt::format("{}-{} ", side(pair.a), side(pair.b));
  return out;
}

// The host is in step 2 from 100 to 200; its device is `behind`, and steps have `kernels` of 10 ps.
Timeline running_behind(std::int64_t behind, std::int64_t kernels = 5) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  for (std::uint32_t step = 1; step <= 3; ++step)
    for (std::int64_t i = 0; i < kernels; ++i)
      made.timeline.add(Slice{.start = Time{100 * (step - 1) + behind + 10 * i},
                              .duration = Picoseconds{10},
                              .track = main,
                              .name = made.timeline.intern(fmt::format("kernel {}", i)),
                              .step = StepNumber{step},
                              .family = Family::Compute});
  return std::move(made.timeline);
}

TEST(Align, AStepsWorkIsItsOwnWhereverItRuns) {
  const Window step{"step", "2", span(100, 200)};
  // B is 70 behind: two kernels of step 1 run in the time of step 2, and two of step 2 after it.
  const Alignment made = aligned(running_behind(0), running_behind(70), step, step);
  EXPECT_EQ(text(made), "6-6 7-7 8-8 9-9 10-10 | only | only");
  EXPECT_EQ(others(made), "4-4 5-5 ");
  // Ever further behind: not one is in the step's time any more.
  const Alignment late = aligned(running_behind(0), running_behind(150), step, step);
  EXPECT_EQ(text(late), "6-6 7-7 8-8 9-9 10-10 | only | only");
  EXPECT_EQ(others(late), "1-1 2-2 3-3 4-4 5-5 ");
}

TEST(Align, WhatAnotherStepHasOnlyInOneRunIsNotTheStepsGainOrLoss) {
  const Window step{"step", "2", span(100, 200)};
  const Alignment made = aligned(running_behind(0, 4), running_behind(60, 5), step, step);
  EXPECT_EQ(text(made), "5-6 6-7 7-8 8-9 | only | only 10");
  EXPECT_EQ(others(made), "--5 ");
}

TEST(Align, ByCommandAndStepWhereverItRuns) {
  WithCommands a, b;
  const TrackId in_a = a.stream(0, "main"), in_b = b.stream(0, "main");
  a.run(in_a, 0, "f/x", 1);
  a.run(in_a, 100, "f/x", 2);
  b.run(in_b, 100, "f/x", 1);
  b.run(in_b, 250, "f/x", 2);
  const Window step{"step", "2", span(100, 200)};
  const Alignment made = aligned(a.timeline, b.timeline, step, step);
  EXPECT_EQ(text(made), "2-2 | only | only");
  EXPECT_EQ(others(made), "1-1 ");
  EXPECT_EQ(made.by(), "command");
}

// A run that does not say which slices are a step's: those in its time.
TEST(Align, WithoutNumbersAStepIsItsTime) {
  HandMade b;
  const TrackId main = b.stream(0, "main");
  for (int i = 0; i < 5; ++i) b.slice(main, 100 + 10 * i, 110 + 10 * i, Family::Compute, fmt::format("kernel {}", i));
  const Window step{"step", "2", span(100, 200)};
  EXPECT_EQ(text(aligned(running_behind(0), b.timeline, step, step)), "6-1 7-2 8-3 9-4 10-5 | only | only");
}

RC_GTEST_PROP(Align, EverySliceStandsOnceAndTheSidesCanBeExchanged, ()) {
  const Timeline a = random_timeline(), b = random_timeline();
  const auto [in_a, in_b] = random_windows();
  const Alignment made = aligned(a, b, in_a, in_b);
  std::vector<int> seen_a(a.slices().size()), seen_b(b.slices().size());
  for (const SlicePair& pair : made.matched) ++seen_a[pair.a.row()], ++seen_b[pair.b.row()];
  for (const SlicePair& pair : made.other_steps) {
    if (pair.a) ++seen_a[pair.a.row()];
    if (pair.b) ++seen_b[pair.b.row()];
  }
  for (const SliceId id : made.only_a) ++seen_a[id.row()];
  for (const SliceId id : made.only_b) ++seen_b[id.row()];
  const TimelineIndex index_a(a), index_b(b);
  const auto expect_once = [](const std::vector<int>& seen, const TimelineIndex& index, const Window& window) {
    for (std::uint32_t row = 0; row < seen.size(); ++row) {
      const Slice& slice = index.timeline().slices()[row];
      const bool work =
          index.work(row) != WorkKind::None && slice.start < window.span.end && slice.end() > window.span.begin;
      RC_ASSERT(seen[row] == 1 || (seen[row] == 0 && !work));
    }
  };
  expect_once(seen_a, index_a, in_a);
  expect_once(seen_b, index_b, in_b);

  Alignment back = aligned(b, a, in_b, in_a);
  RC_ASSERT(back.only_a == made.only_b);
  RC_ASSERT(back.only_b == made.only_a);
  std::vector<std::pair<SliceId, SliceId>> pairs, back_pairs;
  for (const SlicePair& pair : made.matched) pairs.emplace_back(pair.a, pair.b);
  for (const SlicePair& pair : back.matched) back_pairs.emplace_back(pair.b, pair.a);
  std::sort(pairs.begin(), pairs.end());
  std::sort(back_pairs.begin(), back_pairs.end());
  RC_ASSERT(pairs == back_pairs);
}

RC_GTEST_PROP(Align, ARunMatchesItself, ()) {
  const Timeline a = random_timeline();
  const Window window = random_windows().first;
  const Alignment made = aligned(a, a, window, window);
  RC_ASSERT(made.only_a.empty() && made.only_b.empty());
  for (const SlicePair& pair : made.matched) RC_ASSERT(pair.a == pair.b);
  for (const SlicePair& pair : made.other_steps) RC_ASSERT(pair.a == pair.b);
}

}  // namespace
}  // namespace stave
