#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "gui/view/lane_columns.h"
#include "tests/gui/view_scene.h"

namespace stave::gui {
namespace {

// Slices that do not overlap, in bursts, with some of no length and some long ones.
rc::Gen<std::vector<SliceAt>> any_lane() {
  return rc::gen::exec([] {
    const auto count = *rc::gen::inRange<std::size_t>(1, 400);
    std::vector<SliceAt> slices;
    std::int64_t at = *rc::gen::inRange<std::int64_t>(-100'000, 100'000);
    for (std::size_t i = 0; i < count; ++i) {
      const auto kind = *rc::gen::inRange(0, 20);
      const std::int64_t duration = kind == 0 ? *rc::gen::inRange(1'000, 30'000) : *rc::gen::inRange(0, 40);
      const std::int64_t gap = kind == 1 ? *rc::gen::inRange(1'000, 20'000) : *rc::gen::inRange(0, 20);
      slices.push_back({at, duration, static_cast<Family>(*rc::gen::inRange(0, 11))});
      at += duration + gap;
    }
    return slices;
  });
}

struct Laned {
  Timeline timeline;
  TimelineIndex index;
  Lod lod;
  const LaneLod& lane;

  explicit Laned(const std::vector<SliceAt>& slices)
      : timeline(timeline_with({{.name = "main"}}, slices)),
        index(timeline),
        lod(index, 1),
        lane(lod.track(TrackId{0}).lanes[0]) {}
  Laned(const Laned&) = delete;
};

TimeMap any_map(const Timeline& timeline) {
  const TimeSpan all = *extent_of(timeline);
  const std::int64_t length = std::max<std::int64_t>((all.end - all.start).count(), 1);
  const auto seen = *rc::gen::inRange<std::int64_t>(1, 2 * length + 2);
  const auto start = *rc::gen::inRange<std::int64_t>(all.start.count() - seen, all.end.count() + 1);
  const auto width = *rc::gen::inRange(1, 300);
  return TimeMap({Time{start}, Time{start + seen}}, width);
}

// How much of each column the slices fill, one by one.
std::vector<double> brute_force(const std::vector<SliceAt>& slices, const TimeMap& map) {
  std::vector<double> columns(static_cast<std::size_t>(map.width()));
  for (const SliceAt& slice : slices) {
    const double from = map.x(Time{slice.start}), to = map.x(Time{slice.start + slice.duration});
    for (auto c = std::max(0.0, std::floor(from)); c < std::min(to, map.width()); ++c)
      columns[static_cast<std::size_t>(c)] += std::min(to, c + 1) - std::max(from, c);
  }
  return columns;
}

RC_GTEST_PROP(LodProperty, ColumnsFillAsMuchAsTheSlicesDo, ()) {
  const auto slices = *any_lane();
  const Laned laned(slices);
  const TimeMap map = any_map(laned.timeline);
  std::vector<Column> columns;
  lane_columns(laned.lane, laned.timeline.slices(), map, columns);
  const auto expected = brute_force(slices, map);
  RC_ASSERT(columns.size() == expected.size());
  // A node or a bucket is at most a pixel wide: what it holds may stand a pixel beside its place.
  double sum = 0, sum_expected = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    sum += columns[i].busy;
    sum_expected += expected[i];
    RC_ASSERT(std::abs(sum - sum_expected) <= 2.05 + 1e-3 * static_cast<double>(i));
    RC_ASSERT(columns[i].busy <= 3.01);
  }
}

RC_GTEST_PROP(LodProperty, NoSliceIsLost, ()) {
  const auto slices = *any_lane();
  const Laned laned(slices);
  const TimeMap map = any_map(laned.timeline);
  std::vector<Column> columns;
  std::vector<WideSlice> wide;
  lane_columns(laned.lane, laned.timeline.slices(), map, columns, wide);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const double from = map.x(Time{slices[i].start}), to = map.x(Time{slices[i].start + slices[i].duration});
    constexpr double rounding = 1e-6;
    if (to < rounding || from > map.width() - rounding) continue;
    const bool is_wide = std::any_of(wide.begin(), wide.end(), [&](const WideSlice& w) { return w.row == i; });
    const auto first = static_cast<std::size_t>(std::clamp(std::floor(from) - 1, 0.0, map.width() - 1));
    const auto last = static_cast<std::size_t>(std::clamp(std::floor(to) + 1, 0.0, map.width() - 1));
    const bool in_column = std::any_of(columns.begin() + static_cast<std::ptrdiff_t>(first),
                                       columns.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                       [](const Column& column) { return column.busy > 0; });
    RC_ASSERT(is_wide || in_column);
    if (is_wide) RC_ASSERT(to - from >= wide_pixels - 1e-6);
  }
}

RC_GTEST_PROP(LodProperty, WideSlicesAreThoseOfTwoToFourPixelsAndMore, ()) {
  const auto slices = *any_lane();
  const Laned laned(slices);
  const TimeMap map = any_map(laned.timeline);
  std::vector<Column> columns;
  std::vector<WideSlice> wide;
  lane_columns(laned.lane, laned.timeline.slices(), map, columns, wide);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < slices.size(); ++i) {
    const double from = map.x(Time{slices[i].start}), to = map.x(Time{slices[i].start + slices[i].duration});
    const auto in_view = [&](double x) { return std::lround(std::clamp(x, 0.0, map.width())); };
    const auto undecided = [](double x) { return std::abs(std::abs(x - std::floor(x)) - 0.5) < 1e-6; };
    const bool is_wide = at < wide.size() && wide[at].row == i;
    if (is_wide) RC_ASSERT(to - from >= wide_pixels - 1e-6);
    if (to - from >= 2 * wide_pixels && in_view(to) > in_view(from) && !undecided(from) && !undecided(to))
      RC_ASSERT(is_wide);
    if (is_wide) ++at;
  }
  RC_ASSERT(at == wide.size());
}

RC_GTEST_PROP(LodProperty, AFamilyOnItsOwnHasItsColumns, ()) {
  const auto family = static_cast<Family>(*rc::gen::inRange(0, 11));
  auto slices = *any_lane();
  for (SliceAt& slice : slices) slice.family = family;
  const Laned laned(slices);
  std::vector<Column> columns;
  lane_columns(laned.lane, laned.timeline.slices(), any_map(laned.timeline), columns);
  for (const Column& column : columns)
    if (column.busy > 0) RC_ASSERT(column.family == static_cast<std::uint8_t>(family));
}

RC_GTEST_PROP(LodProperty, OverlappingSlicesGetLanes, ()) {
  const auto starts = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 200), rc::gen::inRange(0, 60)));
  RC_PRE(!starts.empty());
  std::vector<SliceAt> slices;
  for (const auto& [start, duration] : starts) slices.push_back({start, duration});
  const Timeline timeline = timeline_with({{.name = "main"}}, slices);
  const TimelineIndex index(timeline);
  const Lod lod(index, 1);
  std::size_t count = 0;
  const auto& lanes = lod.track(TrackId{0}).lanes;
  for (std::size_t l = 0; l < lanes.size(); ++l) {
    Time reach = Time::min();
    for (const LaneSlice& slice : lanes[l].slices) {
      RC_ASSERT(slice.start() >= reach);
      reach = slice.end(timeline.slices());
      RC_ASSERT(lod.lane_of(SliceId{slice.row() + 1}) == l);
      ++count;
    }
  }
  RC_ASSERT(count == slices.size());
}

TEST(Lod, ASliceKeepsItsLaneWhereItIsFree) {
  const Timeline timeline = timeline_with({{.name = "host"}}, {{0, 100, Family::Host, "outer", 0, 0},
                                                               {10, 20, Family::Host, "inner", 0, 1},
                                                               {15, 10, Family::Host, "overlaps", 0, 1},
                                                               {200, 10, Family::Host, "next", 0, 0}});
  const TimelineIndex index(timeline);
  const Lod lod(index);
  std::vector<std::size_t> lanes;
  for (std::uint32_t i = 1; i <= 4; ++i) lanes.push_back(lod.lane_of(SliceId{i}));
  EXPECT_EQ(lanes, (std::vector<std::size_t>{0, 1, 2, 0}));
}

TEST(Lod, ManyOverlapsEndInTheLastLane) {
  const Timeline timeline = timeline_with({{.name = "s"}}, std::vector<SliceAt>(1000, SliceAt{0, 100}));
  const TimelineIndex index(timeline);
  const Lod lod(index);
  const auto& lanes = lod.track(TrackId{0}).lanes;
  ASSERT_EQ(lanes.size(), TrackLod::max_lanes);
  EXPECT_EQ(lanes.back().slices.size(), 1000 - TrackLod::max_lanes + 1);
  std::vector<Column> columns;
  lane_columns(lanes.back(), timeline.slices(), TimeMap({Time{0}, Time{1000}}, 10), columns);
  EXPECT_GE(columns[0].busy + columns[1].busy, 0.99);
}

TEST(Lod, LongSlicesKeepTheirLength) {
  constexpr std::int64_t second = 1'000'000'000'000;
  const Laned laned({{0, 5 * second}, {6 * second, 1}});
  EXPECT_EQ(laned.lane.slices[0].end(laned.timeline.slices()), Time{5 * second});
  EXPECT_EQ(laned.lane.slices[1].duration(laned.timeline.slices()), 1_ps);
}

RC_GTEST_PROP(CounterLodProperty, ExtentIsThatOfTheSamples, ()) {
  const auto values = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 500), rc::gen::inRange(-50, 50)));
  Timeline timeline;
  const TrackId track = timeline.add(Track{.kind = TrackKind::Counter, .name = "c"});
  for (const auto& [time, value] : values) timeline.add(CounterSample{track, Time{time}, static_cast<double>(value)});
  const TimelineIndex index(timeline);
  const Lod lod(index);
  const CounterLod& counter = lod.track(track).counter;
  const auto begin = *rc::gen::inRange(-10, 500), length = *rc::gen::inRange(1, 300);
  CounterExtent extent;
  const bool any = counter.extent(Time{begin}, Time{begin + length}, extent);
  double low = 1e9, high = -1e9;
  std::optional<double> held;
  auto sorted = values;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [time, value] : sorted) {
    if (time <= begin) held = value;
    if (time > begin && time < begin + length) low = std::min<double>(low, value), high = std::max<double>(high, value);
  }
  if (held) low = std::min(low, *held), high = std::max(high, *held);
  RC_ASSERT(any == (low <= high));
  if (any) {
    RC_ASSERT(extent.min == low);
    RC_ASSERT(extent.max == high);
  }
}

}  // namespace
}  // namespace stave::gui
