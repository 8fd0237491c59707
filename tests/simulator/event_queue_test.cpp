#include "simulator/event_queue.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "simulator/clock.h"

namespace stave::simulator {
namespace {

RC_GTEST_PROP(EventQueue, GivesEveryEventBackInTimeOrder, (const std::vector<std::uint16_t>& times)) {
  EventQueue queue;
  for (std::uint32_t i = 0; i < times.size(); ++i) queue.push({times[i], 7, i});
  std::vector<std::uint16_t> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  std::vector<bool> seen(times.size());
  for (const std::uint16_t time : sorted) {
    RC_ASSERT(queue.next_time() == time);
    const Event e = queue.pop();
    RC_ASSERT(times[e.id] == time);
    RC_ASSERT(!seen[e.id]);
    seen[e.id] = true;
  }
  RC_ASSERT(queue.empty());
}

TEST(Clock, WorkAndTimeAreInverse) {
  // Half pace: 100 ps of work take 200 ps.
  EXPECT_EQ(time_for(work_of(100), full_pace / 2), 200);
  EXPECT_EQ(work_in(200, full_pace / 2), work_of(100));
  // A third is rounded down, so its time is rounded up, and the work is done by then.
  const std::uint64_t third = full_pace / 3;
  const std::int64_t t = time_for(work_of(1'000'000'000'000), third);
  EXPECT_GE(work_in(t, third), work_of(1'000'000'000'000));
  EXPECT_LT(work_in(t - 1, third), work_of(1'000'000'000'000));
  EXPECT_NEAR(static_cast<double>(t), 3e12, 1000);
}

}  // namespace
}  // namespace stave::simulator
