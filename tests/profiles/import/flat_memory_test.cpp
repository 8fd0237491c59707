// What a first pass keeps of a trace, and lanes that forget: as if all had been kept plainly.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "profiles/import/launch_table.h"
#include "profiles/import/stream_lanes.h"

namespace stave {
namespace {

TEST(PackedRuns, ComeOutSortedInTheOrderOfEqualKeys) {
  std::mt19937_64 random(1);
  std::multimap<std::int64_t, std::int64_t> expected;
  PackedRuns runs;
  for (int i = 0; i < 50'000; ++i) {
    std::int64_t key = static_cast<std::int64_t>(random()) >> (random() % 60);
    if (i % 1000 == 0) key = i % 2000 == 0 ? INT64_MIN : INT64_MAX;
    const auto value = static_cast<std::int64_t>(random());
    runs.add(key, value);
    expected.emplace(key, value);  // equal keys keep their order
  }
  auto at = expected.begin();
  runs.each([&](std::int64_t key, std::int64_t value) {
    ASSERT_NE(at, expected.end());
    EXPECT_EQ(std::pair(key, value), std::pair(at->first, at->second));
    ++at;
  });
  EXPECT_EQ(at, expected.end());
}

TEST(LaunchTable, FindsTheLastCallOfEachIdThatIsNeeded) {
  std::mt19937 random(2);
  std::map<std::int64_t, std::int64_t> last;
  LaunchGatherer gatherer;
  std::int64_t others = 0;
  for (int i = 0; i < 40'000; ++i) {
    const auto id = static_cast<std::int64_t>(random() % 100'000) - 100;
    const auto start = static_cast<std::int64_t>(random()) * 1'000'000;
    gatherer.call(id, start);
    if (id % 3 == 0 && id != 0) others += static_cast<std::int64_t>(last.count(id));
    last[id] = start;
  }
  for (std::int64_t id = -99; id < 200'000; id += 3) {
    gatherer.need(id);
    gatherer.need(id);
  }
  std::int64_t shared = 0;
  LaunchTable table = gatherer.finish(7_ps, shared);
  EXPECT_EQ(shared, others);
  std::int64_t some = 0;
  for (std::int64_t id = -100; id < 100'000; ++id) {
    const auto found = table.find(id);
    const auto call = last.find(id);
    ASSERT_EQ(found.has_value(), call != last.end() && id % 3 == 0 && id != 0) << id;
    if (!found) continue;
    EXPECT_EQ(found->start, Time{call->second} + 7_ps);
    table.set_slice(*found, SliceId{static_cast<std::uint32_t>(id + 1000)});
    some = id;
  }
  EXPECT_EQ(table.slice(table.find(some).value()), SliceId{static_cast<std::uint32_t>(some + 1000)});
}

TEST(StreamLanes, ForgettingChangesNothingForWhatComesNearlyInOrder) {
  std::mt19937 random(3);
  StreamLanes all(StreamLanes::any_order), few(StreamLanes::nearly_in_order);
  std::int64_t now = 0;
  for (int i = 0; i < 150'000; ++i) {
    now += random() % 20;
    const Time start{now - static_cast<std::int64_t>(random() % 200)};
    const Picoseconds lasts{i % 5000 == 0 ? 100'000 : static_cast<std::int64_t>(random() % 15)};
    const bool kernel = random() % 4 != 0;
    ASSERT_EQ(all.place(start, lasts, kernel), few.place(start, lasts, kernel)) << i;
  }
  const auto expected = all.overlaps(), found = few.overlaps();
  EXPECT_GT(expected.kernels, 0);
  EXPECT_GT(expected.covers, 0);
  EXPECT_EQ(found.kernels, expected.kernels);
  EXPECT_EQ(found.covers, expected.covers);
}

}  // namespace
}  // namespace stave
