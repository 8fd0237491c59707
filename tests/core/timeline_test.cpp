#include "core/timeline/timeline.h"

#include <gtest/gtest.h>

#include <limits>

namespace stave {
namespace {

// Two ranks, a stream each, a copy that overlaps a gemm on rank 0.
Timeline small_timeline() {
  Timeline timeline;
  const StringId gemm = timeline.intern("gemm");
  const StringId copy = timeline.intern("copy");
  const TrackId compute = timeline.add(Track{.name = "compute", .stream = 7});
  const TrackId other = timeline.add(Track{.rank = 1, .name = "compute", .stream = 7});
  const TimelineCommandId command = timeline.add(TimelineCommand{.key = "main/gemm#1", .op = "gemm"});
  timeline.add(Slice{.start = 500_ps, .duration = 1000_ps, .track = compute, .name = copy});
  timeline.add(Slice{.start = 0_ps, .duration = 1000_ps, .track = compute, .name = gemm, .command = command});
  timeline.add(
      Slice{.start = 20_ps, .duration = 5_ps, .track = other, .name = gemm, .command = command, .occurrence = 2});
  return timeline;
}

std::string code_of(const Result<void>& result) { return result ? "" : result.problems()[0].code; }

TEST(Timeline, TextIsSortedByTrackThenStartAndBusyIsAUnion) {
  EXPECT_EQ(timeline_text(small_timeline()),
            "rank 0 compute  [0, 1000)  gemm  main/gemm#1\n"
            "rank 0 compute  [500, 1500)  copy\n"
            "rank 1 compute  [20, 25)  gemm  main/gemm#1  occurrence 2\n"
            "total rank 0 compute: 2 slices, busy 1500 in [0, 1500)\n"
            "total rank 1 compute: 1 slices, busy 5 in [20, 25)\n");
}

TEST(Timeline, BusyLeavesOutGaps) {
  Timeline timeline;
  const StringId name = timeline.intern("k");
  const TrackId track = timeline.add(Track{.name = "s"});
  timeline.add(Slice{.start = Time{-10}, .duration = 4_ps, .track = track, .name = name});
  timeline.add(Slice{.start = 10_ps, .duration = 4_ps, .track = track, .name = name});
  timeline.add(Slice{.start = 11_ps, .duration = 1_ps, .track = track, .name = name});
  const std::string text = timeline_text(timeline);
  EXPECT_NE(text.find("3 slices, busy 8 in [-10, 14)"), std::string::npos) << text;
}

TEST(Timeline, ReplayMakesAnEqualTimeline) {
  const Timeline timeline = small_timeline();
  Timeline copy;
  ASSERT_TRUE(replay(timeline, copy));
  EXPECT_EQ(copy, timeline);
  copy.add(SliceFlow{SliceId{1}, SliceId{2}});
  EXPECT_FALSE(copy == timeline);
}

TEST(Timeline, ReplaySendsBatchesOfTheAllowedLength) {
  Timeline timeline;
  const StringId name = timeline.intern("k");
  const TrackId track = timeline.add(Track{.name = "s"});
  for (std::size_t i = 0; i < max_batch_rows + 1; ++i)
    timeline.add(Slice{.start = Time{static_cast<std::int64_t>(i)}, .track = track, .name = name});
  Timeline copy;
  ASSERT_TRUE(replay(timeline, copy));
  EXPECT_EQ(copy.slices().size(), max_batch_rows + 1);
  EXPECT_EQ(code_of(copy.on_slices(timeline.slices())), "STV0707");
}

TEST(Timeline, EqualityComparesNamesByText) {
  Timeline a, b;
  b.intern("not used");
  for (Timeline* timeline : {&a, &b}) {
    const StringId name = timeline->intern("k");
    timeline->add(Slice{.track = timeline->add(Track{.name = "s"}), .name = name});
  }
  EXPECT_EQ(a, b);
  EXPECT_EQ(b, a);
  Timeline c;
  const StringId other = c.intern("l");
  c.add(Slice{.track = c.add(Track{.name = "s"}), .name = other});
  EXPECT_FALSE(a == c);
  EXPECT_FALSE(c == a);
}

TEST(Timeline, DetailsAreSortedBySliceAndFound) {
  Timeline timeline = small_timeline();
  timeline.add(KernelDetail{.slice = SliceId{3}, .correlation = 30});
  timeline.add(KernelDetail{.slice = SliceId{1}, .correlation = 10});
  ASSERT_EQ(timeline.kernels().size(), 2U);
  EXPECT_EQ(timeline.kernels()[0].slice, SliceId{1});
  ASSERT_NE(timeline.kernel(SliceId{3}), nullptr);
  EXPECT_EQ(timeline.kernel(SliceId{3})->correlation, 30);
  EXPECT_EQ(timeline.kernel(SliceId{2}), nullptr);
}

TEST(Timeline, CostsOfASliceKeepTheirOrder) {
  Timeline timeline = small_timeline();
  const StringId wait = timeline.intern("arrival_wait");
  const StringId transfer = timeline.intern("transfer");
  const auto add = [&](std::uint32_t slice, StringId part) {
    timeline.add(CostPart{.slice = SliceId{slice}, .part = part, .model = part, .source = part});
  };
  add(2, wait);
  add(1, wait);
  add(2, transfer);
  const auto parts = timeline.costs(SliceId{2});
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(timeline.text(parts[0].part), "arrival_wait");
  EXPECT_EQ(timeline.text(parts[1].part), "transfer");
  EXPECT_TRUE(timeline.costs(SliceId{3}).empty());
}

TEST(Timeline, ASliceHasItsDetailsOnce) {
  Timeline timeline = small_timeline();
  const ApiDetail call{.slice = SliceId{2}};
  ASSERT_TRUE(timeline.on_calls({&call, 1}));
  EXPECT_EQ(code_of(timeline.on_calls({&call, 1})), "STV0713");
}

TEST(Timeline, ANameArrivesOnce) {
  Timeline timeline;
  const std::string_view names[] = {"a", "b", "a"};
  EXPECT_EQ(code_of(timeline.on_names(names)), "STV0713");
}

TEST(Timeline, RefusesWhatNamesUnknownRows) {
  const auto refused = [](auto take) {
    Timeline timeline = small_timeline();
    const Result<void> result = take(timeline);
    return code_of(result) == "STV0707";
  };
  const Slice good{.track = TrackId{0U}, .name = StringId{0U}};
  const auto slice = [&](auto change) {
    return refused([&](Timeline& t) {
      Slice bad = good;
      change(bad);
      return t.on_slices({&bad, 1});
    });
  };
  EXPECT_FALSE(slice([](Slice&) {}));
  EXPECT_TRUE(slice([](Slice& s) { s.track = TrackId{2U}; }));
  EXPECT_TRUE(slice([](Slice& s) { s.track = TrackId{}; }));
  EXPECT_TRUE(slice([](Slice& s) { s.name = StringId{2U}; }));
  EXPECT_TRUE(slice([](Slice& s) { s.command = TimelineCommandId{1U}; }));
  EXPECT_TRUE(slice([](Slice& s) { s.duration = Picoseconds{-1}; }));
  EXPECT_TRUE(slice([](Slice& s) { s.family = static_cast<Family>(family_count); }));
  EXPECT_TRUE(slice([](Slice& s) {
    s.start = Time{std::numeric_limits<std::int64_t>::max()};
    s.duration = 1_ps;
  }));
  const auto flow = [&](std::uint32_t from, std::uint32_t to) {
    return refused([&](Timeline& t) {
      const SliceFlow bad{SliceId{from}, SliceId{to}};
      return t.on_flows({&bad, 1});
    });
  };
  EXPECT_FALSE(flow(1, 3));
  EXPECT_TRUE(flow(0, 1));
  EXPECT_TRUE(flow(1, 4));
  EXPECT_TRUE(refused([](Timeline& t) {
    const Track bad{.name = "t", .parent = TrackId{2U}};
    return t.on_tracks({&bad, 1});
  }));
  EXPECT_TRUE(refused([](Timeline& t) {
    const CounterSample bad{.track = TrackId{0U}, .value = std::numeric_limits<double>::quiet_NaN()};
    return t.on_counters({&bad, 1});
  }));
  EXPECT_TRUE(refused([](Timeline& t) {
    const StepSpan bad{.start = 2_ps, .end = 1_ps};
    return t.on_steps({&bad, 1});
  }));
  EXPECT_TRUE(refused([](Timeline& t) {
    const RankInfo bad{.source = 0};
    return t.on_ranks({&bad, 1});
  }));
}

TEST(Timeline, ExtentIsNoneWithoutSlices) {
  EXPECT_EQ(extent_of(Timeline{}), std::nullopt);
  EXPECT_EQ(extent_of(small_timeline()), (TimeSpan{0_ps, 1500_ps}));
}

TEST(Names, RoundTrip) {
  for (std::uint8_t i = 0; i < family_count; ++i)
    EXPECT_EQ(family_named(name_of(static_cast<Family>(i))), static_cast<Family>(i));
  EXPECT_EQ(track_kind_named(name_of(TrackKind::CopyEngine)), TrackKind::CopyEngine);
  EXPECT_EQ(track_kind_named("unheard of"), std::nullopt);
}

}  // namespace
}  // namespace stave
