#include "workbench/gantt.h"
#include "workbench/units_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace stave {
namespace {

constexpr std::size_t margin = 10 + 4 + 1;  // "rank N", the longest name ("main"), a blank

struct Drawn {
  Timeline timeline;
  TrackId main = timeline.add(Track{.name = "main"});

  SliceId slice(std::int64_t begin, std::int64_t end, Family family, std::string_view name = "") {
    return timeline.add(Slice{.start = Time{begin},
                              .duration = Picoseconds{end - begin},
                              .track = main,
                              .name = timeline.intern(name),
                              .family = family});
  }
  std::vector<std::string> lines(std::int64_t end, std::size_t columns = 40) const {
    std::istringstream text(gantt(timeline, {Time{0}, Time{end}}, {.columns = margin + columns}));
    std::vector<std::string> all;
    for (std::string line; std::getline(text, line);) all.push_back(line);
    return all;
  }
  std::string bar(std::int64_t end, std::size_t columns = 40) const { return lines(end, columns)[0].substr(margin); }
};

TEST(Gantt, AColumnShowsWhatFillsIt) {
  Drawn drawn;
  drawn.slice(0, 100, Family::Gemm);
  drawn.slice(100, 200, Family::Compute);
  drawn.slice(300, 350, Family::Memory);
  EXPECT_EQ(drawn.bar(400), "##########**********..........+++++.....");
}

TEST(Gantt, ACollectiveWaitsAndThenMoves) {
  Drawn drawn;
  const SliceId sum = drawn.slice(0, 400, Family::Collective);
  drawn.timeline.add(CostPart{.slice = sum,
                              .part = drawn.timeline.intern("arrival_wait"),
                              .duration = 100_ps,
                              .model = drawn.timeline.intern("by hand"),
                              .source = drawn.timeline.intern("by hand")});
  EXPECT_EQ(drawn.bar(400), "----------==============================");
}

TEST(Gantt, AShortSliceIsVisibleWhereNothingElseIs) {
  Drawn drawn;
  drawn.slice(0, 1'000'000, Family::Gemm);
  drawn.slice(2'000'003, 2'000'004, Family::Compute);
  drawn.slice(3'000'000, 3'000'000, Family::Memory);
  drawn.slice(500'000, 500'001, Family::Memory);  // the gemm fills this column
  EXPECT_EQ(drawn.bar(4'000'000), "##########..........*.........+.........");
}

TEST(Gantt, TheLastInstantIsInTheLastColumn) {
  Drawn drawn;
  drawn.slice(399, 400, Family::Gemm);
  EXPECT_EQ(drawn.bar(400), std::string(39, '.') + "#");
}

TEST(Gantt, NamesStandBelowTheirBars) {
  Drawn drawn;
  drawn.slice(0, 200, Family::Gemm, "first");
  drawn.slice(200, 400, Family::Gemm, "second");
  EXPECT_EQ(drawn.lines(400)[1].substr(margin), "first               second");
}

TEST(Gantt, EveryLineFitsItsColumns) {
  Drawn drawn;
  for (int i = 0; i < 50; ++i) drawn.slice(i * 10, i * 10 + 9, Family::Gemm, "a_name_that_is_much_longer_than_its_bar");
  for (const std::size_t columns : {30, 60, 100})
    for (const std::string& line : drawn.lines(500, columns))
      if (line[0] != '#') {
        EXPECT_LE(line.size(), margin + columns) << line;
      }
}

TEST(Gantt, ANarrowScreenStillGetsTwentyColumns) {
  Drawn drawn;
  drawn.slice(0, 100, Family::Gemm);
  std::istringstream text(gantt(drawn.timeline, {0_ps, 200_ps}, {.columns = 0}));
  std::string first;
  std::getline(text, first);
  EXPECT_EQ(first.substr(margin), "##########..........");
}

TEST(Gantt, AnEmptyWindowAndAnEmptyTimelineDraw) {
  Drawn drawn;
  drawn.slice(0, 100, Family::Gemm);
  EXPECT_FALSE(gantt(drawn.timeline, {5_ps, 5_ps}).empty());
  EXPECT_FALSE(gantt(Timeline{}, {0_ps, 0_ps}).empty());
}

TEST(Gantt, RanksBeyondTheLimitAreCounted) {
  Timeline timeline;
  for (std::uint32_t rank = 0; rank < 5; ++rank) {
    const TrackId track = timeline.add(Track{.rank = rank, .name = "main"});
    timeline.add(Slice{.duration = 10_ps, .track = track, .name = timeline.intern("k"), .family = Family::Gemm});
  }
  const std::string text = gantt(timeline, {0_ps, 10_ps}, {.max_ranks = 2});
  EXPECT_NE(text.find("rank 1"), std::string::npos);
  EXPECT_EQ(text.find("rank 2"), std::string::npos);
  EXPECT_NE(text.find("3 more ranks are not drawn"), std::string::npos) << text;
}

TEST(DurationText, TakesTheLargestUnitThatFits) {
  EXPECT_EQ(duration_text(0_ps), "0 ps");
  EXPECT_EQ(duration_text(999_ps), "999 ps");
  EXPECT_EQ(duration_text(1'000_ps), "1.000 ns");
  EXPECT_EQ(duration_text(1'500'000_ps), "1.500 us");
  EXPECT_EQ(duration_text(726'027'908_ps), "726.028 us");
  EXPECT_EQ(duration_text(Picoseconds{1'234'000'000}), "1.234 ms");
  EXPECT_EQ(duration_text(Picoseconds{2'000'000'000'000}), "2.000 s");
  EXPECT_EQ(duration_text(Picoseconds{-1'500}), "-1.500 ns");
}

TEST(BytesText, CountsInPowersOf1024) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.0 KiB");
  EXPECT_EQ(bytes_text(std::int64_t{5} << 19), "2.5 MiB");
  EXPECT_EQ(bytes_text(std::int64_t{141} << 30), "141.0 GiB");
  EXPECT_EQ(bytes_text(std::int64_t{1} << 52), "4096.0 TiB");
}

}  // namespace
}  // namespace stave
