#include "simulator/tiles.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <queue>

namespace stave::simulator {
namespace {

// 1664 tiles on 132 CTAs: twelve whole waves, then 80 tiles. 52 CTAs leave when the twelfth ends, 80 when the last
// does.
TEST(Tiles, APersistentGridDrainsInItsLastWave) {
  Tiles t;
  t.start(GridKind::PersistentDynamic, 1664, 132, 1000);
  t.place(132, 0);
  EXPECT_EQ(t.next(false), 12000);
  EXPECT_EQ(t.advance(12000, false), 52);
  EXPECT_EQ(t.working(), 80);
  EXPECT_EQ(t.next(false), 13000);
  EXPECT_EQ(t.advance(13000, false), 80);
  EXPECT_TRUE(t.done());
}

// Static: 10 tiles on 4 CTAs are 3, 3, 2, 2.
TEST(Tiles, AStaticGridHasLongAndShortCtas) {
  Tiles t;
  t.start(GridKind::PersistentStatic, 10, 4, 100);
  t.place(3, 0);
  EXPECT_EQ(t.next(false), 200);
  EXPECT_EQ(t.advance(200, false), 1);
  t.place(1, 250);
  EXPECT_EQ(t.advance(300, false), 2);
  EXPECT_EQ(t.next(false), 450);
  EXPECT_EQ(t.advance(450, false), 1);
  EXPECT_TRUE(t.done());
}

// A CTA a tile that must let others in gives up its SMs at the next boundary.
TEST(Tiles, YieldsAtATileBoundary) {
  Tiles t;
  t.start(GridKind::OnePerTile, 1000, 1000, 100);
  t.place(10, 0);
  EXPECT_EQ(t.next(false), 10000);
  EXPECT_EQ(t.advance(150, false), 0);
  EXPECT_EQ(t.next(true), 200);
  EXPECT_EQ(t.advance(200, true), 10);
  EXPECT_EQ(t.waiting(), 980);
}

// The closed form against a CTA-by-CTA simulation.
RC_GTEST_PROP(Tiles, GivesTheSameEndsAsCountingTileByTile, ()) {
  const std::int64_t tiles = *rc::gen::inRange(1, 200);
  const std::int64_t work = *rc::gen::inRange(1, 50);
  struct Placement {
    Work clock;
    std::int64_t ctas;
  };
  std::vector<Placement> placements;
  Work clock = 0;
  const auto count = *rc::gen::inRange(1, 5);
  for (int i = 0; i < count; ++i) {
    placements.push_back({clock, *rc::gen::inRange(1, 12)});
    clock += *rc::gen::inRange(1, 120);
  }
  // By hand.
  std::vector<Work> expected;
  {
    std::int64_t pool = tiles;
    std::priority_queue<Work, std::vector<Work>, std::greater<>> ends;
    std::size_t next = 0;
    while (next < placements.size() || !ends.empty()) {
      // Ends before placements of the same instant, as the engine does.
      if (!ends.empty() && (next == placements.size() || ends.top() <= placements[next].clock)) {
        const Work at = ends.top();
        ends.pop();
        if (pool > 0) {
          --pool;
          ends.push(at + work);
        } else {
          expected.push_back(at);
        }
        continue;
      }
      for (std::int64_t i = 0; i < placements[next].ctas && pool > 0; ++i) {
        --pool;
        ends.push(placements[next].clock + work);
      }
      ++next;
    }
  }
  Tiles t;
  t.start(GridKind::PersistentDynamic, tiles, 1000, work);
  std::vector<Work> ends;
  const auto run_to = [&](Work limit) {
    while (t.next(false) <= limit) {
      const Work at = t.next(false);
      const std::int64_t left = t.advance(at, false);
      RC_ASSERT(left > 0);
      ends.insert(ends.end(), static_cast<std::size_t>(left), at);
    }
    RC_ASSERT(t.advance(limit, false) == 0);
  };
  for (const Placement& p : placements) {
    run_to(p.clock);
    t.place(std::min(p.ctas, t.waiting()), p.clock);
  }
  run_to(no_work - 1);
  RC_ASSERT(ends == expected);
}

}  // namespace
}  // namespace stave::simulator
