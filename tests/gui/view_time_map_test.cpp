#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "gui/view/time_map.h"

namespace stave::gui {
namespace {

TimeSpan ps(std::int64_t start, std::int64_t end) { return {Time{start}, Time{end}}; }

std::string labels(const Ticks& ticks) {
  std::string text = ticks.anchor;
  for (const Tick& tick : ticks.ticks)
    if (!tick.label.empty()) text += "|" + tick.label;
  return text;
}

TEST(TimeMap, MapsBothWays) {
  const TimeMap map(ps(1'000, 3'000), 100);
  EXPECT_EQ(map.ps_per_pixel(), 20);
  EXPECT_EQ(map.x(Time{1'000}), 0);
  EXPECT_EQ(map.x(Time{2'000}), 50);
  EXPECT_EQ(map.time(50), Time{2'000});
  EXPECT_EQ(map.visible(), ps(1'000, 3'000));
  EXPECT_EQ(map.shifted(500_ps).x(Time{1'500}), 50);
}

TEST(TimeMap, IsExactFarFromZero) {
  constexpr std::int64_t far = 9'000'000'000'000'000'000;  // 104 days
  const TimeMap map(ps(far, far + 100), 100);
  EXPECT_EQ(map.x(Time{far + 7}), 7);
  EXPECT_EQ(map.time(7), Time{far + 7});
}

TEST(TimeMap, ClampsWhatIsTooNarrowOrTooWide) {
  EXPECT_EQ(TimeMap(ps(0, 3), 100).ps_per_pixel(), 1);
  EXPECT_EQ(TimeMap(ps(5, 5), 100).ps_per_pixel(), 1);
  EXPECT_NEAR(TimeMap(ps(INT64_MIN, INT64_MAX), 100).ps_per_pixel(), 8.64e16, 1e4);
  EXPECT_EQ(TimeMap(ps(0, 10), 0).width(), 1);
}

TEST(TimeMap, StaysWithinWhatThereIs) {
  const TimeSpan all = ps(0, 10'000);
  EXPECT_EQ(TimeMap(ps(-100'000, 100'000), 100).within(all).visible(), ps(-200, 10'200));
  const TimeMap left = TimeMap(ps(-5'000, -4'000), 100).within(all),
                right = TimeMap(ps(20'000, 21'000), 100).within(all);
  EXPECT_EQ(left.visible(), ps(-900, 100));
  EXPECT_EQ(right.visible(), ps(9'900, 10'900));
  const TimeMap inside(ps(100, 200), 100);
  EXPECT_EQ(inside.within(all), inside);
}

RC_GTEST_PROP(TimeMapProperty, ZoomKeepsTheTimeAtThePointer, ()) {
  const auto start = *rc::gen::inRange<std::int64_t>(-1'000'000'000'000, 1'000'000'000'000);
  const auto length = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
  const auto x = *rc::gen::inRange(0, 1000);
  const auto factor = *rc::gen::elementOf(std::vector<double>{0.1, 0.5, 0.8, 1.25, 3.0});
  const TimeMap map(ps(start, start + length), 1000);
  const TimeMap zoomed = map.zoomed(factor, x);
  const Time at = map.time(x);
  RC_ASSERT(std::abs(zoomed.x(at) - map.x(at)) <= 1 / zoomed.ps_per_pixel() + 1 / map.ps_per_pixel() + 1e-6);
  RC_ASSERT(zoomed.ps_per_pixel() == std::max(1.0, map.ps_per_pixel() * factor));
}

RC_GTEST_PROP(TimeMapProperty, PanThereAndBack, ()) {
  const auto start = *rc::gen::inRange<std::int64_t>(-1'000'000'000, 1'000'000'000);
  const auto length = *rc::gen::inRange<std::int64_t>(1'000, 1'000'000'000);
  const auto pixels = *rc::gen::inRange(-2000, 2000);
  const TimeMap map(ps(start, start + length), 777);
  const TimeMap back = map.panned(pixels).panned(-pixels);
  RC_ASSERT(std::abs(back.x(Time{start})) < 1e-3);
}

TEST(Ticks, AreRoundAndInTheUnitOfTheView) {
  EXPECT_EQ(labels(ticks_of(TimeMap(ps(0, 1'000'000), 1000), 200)), "|0|0.2 us|0.4 us|0.6 us|0.8 us|1.0 us");
  EXPECT_EQ(labels(ticks_of(TimeMap(ps(-2'500'000'000, 2'500'000'000), 1000), 190)), "|-2 ms|-1 ms|0|1 ms|2 ms");
  EXPECT_EQ(labels(ticks_of(TimeMap(ps(1'000'000'000, 1'500'000'000), 1000), 300)), "|1.0 ms|1.2 ms|1.4 ms");
}

TEST(Ticks, CountFromAnAnchorWhereLabelsWouldBeLong) {
  const Ticks ticks = ticks_of(TimeMap(ps(1'234'567'890'000, 1'234'567'990'000), 1000), 400);
  EXPECT_EQ(labels(ticks), "1.2345675 s|+400 ns|+450 ns") << labels(ticks);
}

// What holds for the ticks of every view; empty if it does.
std::string broken_law(const TimeMap& map) {
  constexpr double spacing = 90;
  double last = -1e9;
  int minor = 0;
  for (const Tick& tick : ticks_of(map, spacing).ticks) {
    if (tick.time < map.visible().start || tick.time > map.visible().end) return "out of view: " + tick.label;
    if (tick.label.empty()) {
      ++minor;
      continue;
    }
    // Times are whole picoseconds: the rest of a pixel is what doubles lose far from zero.
    if (map.x(tick.time) - last < spacing - 0.1) return "labels too near: " + tick.label;
    if (tick.label.size() > 12) return "a long label: " + tick.label;
    last = map.x(tick.time);
  }
  // At most four between two labels, which are at least `spacing` apart.
  return minor > 4 * (map.width() / spacing + 2) ? "too many ticks" : "";
}

// Around all round times and at both ends of what can be counted, at every scale, also between picoseconds.
TEST(Ticks, KeepTheirLawAtEveryScale) {
  std::vector<std::int64_t> starts{0, INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, 9'000'000'000'000'000'000};
  for (std::int64_t round = 1; round < INT64_MAX / 10; round *= 10)
    for (const std::int64_t start : {round, round - 1, round + 1, 2 * round, 5 * round, 9 * round, round / 3})
      for (const std::int64_t signed_start : {start, -start}) starts.push_back(signed_start);
  for (const std::int64_t start : starts)
    for (int power = 0; power < 63; ++power)
      for (const std::int64_t length : {std::int64_t{1} << power, (std::int64_t{1} << power) / 3 * 2}) {
        const TimeMap map(ps(start, start > INT64_MAX - length ? INT64_MAX : start + length), 1000);
        ASSERT_EQ(broken_law(map), "") << "from " << start << " for " << length;
        ASSERT_EQ(broken_law(map.zoomed(0.7, 333)), "") << "zoomed, from " << start << " for " << length;
        ASSERT_EQ(broken_law(map.panned(123.4)), "") << "moved, from " << start << " for " << length;
      }
}

RC_GTEST_PROP(TicksProperty, LabelsAreApartAndInView, ()) {
  const auto start = *rc::gen::arbitrary<std::int64_t>();
  const auto power = *rc::gen::inRange(0, 62);
  const std::int64_t length = std::int64_t{1} << power;
  const TimeMap map(ps(start, start > INT64_MAX - length ? INT64_MAX : start + length), 1000);
  const std::string broken = broken_law(map);
  if (!broken.empty()) RC_LOG() << broken << '\n';
  RC_ASSERT(broken.empty());
}

}  // namespace
}  // namespace stave::gui
