#include "analysis/intervals.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/analysis/hand_made.h"

namespace stave {
namespace {

TEST(Intervals, UnionSortsMergesTouchingOnesAndDropsEmptyOnes) {
  EXPECT_EQ(union_of({span(5, 7), span(0, 2), span(2, 3), span(6, 9), span(4, 4), span(12, 10)}),
            (Intervals{span(0, 3), span(5, 9)}));
  EXPECT_TRUE(union_of(std::vector<Interval>{}).empty());
}

TEST(Intervals, IntersectionIsHalfOpen) {
  EXPECT_EQ(intersection_of({span(0, 4), span(6, 10)}, {span(2, 6), span(8, 9)}), (Intervals{span(2, 4), span(8, 9)}));
  EXPECT_TRUE(intersection_of({span(0, 4)}, {span(4, 8)}).empty());
}

TEST(Intervals, DifferenceCutsHoles) {
  EXPECT_EQ(difference_of({span(0, 10), span(20, 30)}, {span(2, 3), span(5, 22), span(29, 40)}),
            (Intervals{span(0, 2), span(3, 5), span(22, 29)}));
  EXPECT_TRUE(difference_of({span(3, 4)}, {span(0, 9)}).empty());
}

// Sets as 64 flags: what each instant says is what the interval operations must say.
using Flags = std::vector<bool>;

Flags flags_of(const Intervals& set) {
  Flags flags(64);
  for (const Interval& i : set)
    for (std::int64_t t = i.begin.count(); t < i.end.count(); ++t) flags[static_cast<std::size_t>(t)] = true;
  return flags;
}

Intervals random_set() {
  std::vector<Interval> any;
  const auto ends = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 64), rc::gen::inRange(0, 64)));
  for (const auto& [a, b] : ends) any.push_back(span(std::min(a, b), std::max(a, b)));
  return union_of(std::move(any));
}

RC_GTEST_PROP(IntervalsProperty, OperationsAreThoseOfSets, ()) {
  const Intervals a = random_set(), b = random_set();
  const Flags in_a = flags_of(a), in_b = flags_of(b);
  Flags both(64), either(64), only_a(64);
  for (std::size_t t = 0; t < 64; ++t) {
    both[t] = in_a[t] && in_b[t];
    either[t] = in_a[t] || in_b[t];
    only_a[t] = in_a[t] && !in_b[t];
  }
  RC_ASSERT(flags_of(intersection_of(a, b)) == both);
  RC_ASSERT(flags_of(union_of(a, b)) == either);
  RC_ASSERT(flags_of(difference_of(a, b)) == only_a);
  RC_ASSERT(length_of(a).count() == std::count(in_a.begin(), in_a.end(), true));
  RC_ASSERT(length_of(difference_of(a, b)) + length_of(intersection_of(a, b)) == length_of(a));
}

}  // namespace
}  // namespace stave
