// What the text report prints beside its sums.
#include "workbench/report_text.h"

#include <gtest/gtest.h>

#include "analysis/report.h"
#include "tests/analysis/hand_made.h"
#include "workbench/compare_rows.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

TEST(ReportText, NumbersInBracketsThatFollowBecomeRanges) {
  EXPECT_EQ(with_number_ranges("dp [0, 1, 2, 3, 6]"), "dp [0-3, 6]");
  EXPECT_EQ(with_number_ranges("[0, 1]"), "[0, 1]");
  EXPECT_EQ(with_number_ranges("0 [0, 2, 3, 4]"), "0 [0, 2-4]");
  EXPECT_EQ(with_number_ranges("tensor[x] [1, 2, 3]"), "tensor[x] [1, 2, 3]");
  EXPECT_EQ(with_number_ranges("plain"), "plain");
}

// Steps, ranges, a graph of two nodes that was launched twice.
TEST(ReportText, HasStepsRangesAndGraphs) {
  Timeline timeline;
  const TrackId stream = timeline.add(Track{.name = "main", .device = 0, .stream = 0});
  const TrackId host = timeline.add(Track{.kind = TrackKind::Host, .name = "host"});
  const TrackId ranges = timeline.add(Track{.kind = TrackKind::Range, .name = "ranges"});
  const StringId kernel = timeline.intern("kernel"), launch = timeline.intern("graph_launch");
  const auto add = [&](TrackId track, std::int64_t start, std::int64_t duration, StringId name, Family family) {
    return timeline.add(
        Slice{.start = Time{start}, .duration = Picoseconds{duration}, .track = track, .name = name, .family = family});
  };
  for (std::uint32_t step = 0; step < 2; ++step) {
    const std::int64_t at = 100 * step;
    const SliceId call = add(host, at, 5, launch, Family::HostApi);
    const SliceId first = add(stream, at + 10, 20, kernel, Family::Compute);
    const SliceId second = add(stream, at + 30, 20, kernel, Family::Compute);
    timeline.add(SliceFlow{call, first, FlowKind::Graph, Certainty::Predicted});
    timeline.add(SliceFlow{first, second, FlowKind::Graph, Certainty::Predicted});
    add(ranges, at, 60, timeline.intern("forward"), Family::Mark);
    timeline.add(StepSpan{.step = step, .start = Time{at}, .end = Time{at + 60}});
  }
  const TimelineIndex index(timeline);
  const Report report = make_report(index, *window_of(timeline, ""));
  ASSERT_EQ(report.graphs.size(), 1u);
  EXPECT_EQ(report.graphs[0].launches, 2);
  EXPECT_EQ(report.graphs[0].nodes, 2);
  EXPECT_EQ(report.graphs[0].median, Picoseconds{40});
  const std::string text = report_text(timeline, report, {.rows = 10});
  for (const char* line : {"\n0           timed             60 ps         0 ps\n",
                           "\nforward                                                   2        80 ps",
                           "\n0                    2         2        40 ps\n", "median of timed",
                           "\nof it work on devices 40 ps, on hosts 10 ps, gaps 100 ps\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

std::string text_of(const Timeline& timeline, std::string_view window = "") {
  return report_text(timeline, make_report(timeline, *window_of(timeline, window)));
}

TEST(ReportText, BusyAndIdleAreTheMakespanAndIdleHasOneMeaning) {
  HandMade made;
  const TrackId main = made.stream(0, "main");
  made.slice(main, 0, 40, Family::Gemm);
  made.slice(main, 40, 70, Family::Memory, "copy");
  const SliceId collective = made.slice(main, 70, 100, Family::Collective);
  made.part(collective, "arrival_wait", 20);
  const std::string text = text_of(made.timeline);
  EXPECT_NE(text.find("\n0 <          40 ps       30 ps       30 ps    0.0 %       30 ps       20 ps       80 ps"
                      "       20 ps\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("rank 0 is idle for 20 ps: host 0 ps, another stream 0 ps, arrival 20 ps, other 0 ps"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("window    all \n"), std::string::npos) << text;
}

TEST(ReportText, ARunWithoutDevicesSaysSo) {
  HandMade made;
  made.slice(made.host(34), 0, 100, Family::Host);
  made.timeline.add(StepSpan{.step = 7, .rank = 34, .start = Time{0}, .end = Time{100}});
  made.timeline.add(StepSpan{.step = 8, .rank = 34, .start = Time{100}, .end = Time{200}});
  const std::string text = text_of(made.timeline);
  EXPECT_NE(text.find("no work on a device\n"), std::string::npos) << text;
  EXPECT_NE(text.find("a step lasts until its host has seen the end"), std::string::npos) << text;
  for (const char* part : {"is idle", "compute", "work on devices  ", "# gemm"})
    EXPECT_EQ(text.find(part), std::string::npos) << part << text;
}

TEST(ReportText, NamesOfTracesMoveNoCursorAndBreakNoTable) {
  HandMade made;
  const std::string evil = "k\x1b]0;title\x07\n\x1b[31m";
  const TrackId main = made.stream(0, evil);
  const SliceId slice = made.slice(main, 0, 40, Family::Collective, evil);
  made.slice(made.ranges(0), 0, 40, Family::Mark, evil);
  const StringId name = made.timeline.intern(evil);
  made.timeline.add(CollectiveDetail{.slice = slice, .communicator = name, .op = name, .ranks = 1});
  for (const std::string& window : {std::string(), "range:" + evil}) {
    const std::string text = text_of(made.timeline, window);
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
    EXPECT_EQ(text.find('\x07'), std::string::npos) << text;
    EXPECT_NE(text.find("\nk\\x1b]0;title\\x07\\n\\x1b[31m "), std::string::npos) << text;
  }
}

TEST(PathWords, NameTheLongestPartAndCountTheOthers) {
  PathSection section;
  EXPECT_EQ(path_words(section, "gemm"), "gemm");
  section.parts = 2;
  EXPECT_EQ(path_words(section, "gemm"), "gemm and 1 other");
  section.parts = 28971;
  EXPECT_EQ(path_words(section, "a_kernel_with_a_long_name", 30), "a_kernel_w... and 28970 others");
  section.parts = 1;
  section.part.kind = PathPart::Kind::Gap;
  EXPECT_EQ(path_words(section, "gemm"), "(gap before) gemm");
}

TEST(RunWords, SayWhichRanksOfTheProgramTheFileHas) {
  RunLabel run;
  run.kind = "imported";
  run.ranks_count = 1;
  run.world_ranks_count = 8;
  std::vector<RankUse> ranks(1);
  ranks[0].rank = 3;
  EXPECT_EQ(run_words(run, ranks), "imported, rank 3 of 8");
  run.ranks_count = 2;
  ranks.resize(2);
  EXPECT_EQ(run_words(run, ranks), "imported, 2 of 8 ranks");
  run.world_ranks_count = 2;
  run.machine = "h200-x2";
  EXPECT_EQ(run_words(run, ranks), "imported, on h200-x2, 2 ranks");
}

TEST(ContributionRows, WhatIsSmallIsGroupedByKindAndFamilyAndAddsUp) {
  using Kind = Contribution::Kind;
  std::vector<ContributionRow> rows;
  for (const auto& [kind, family, delta] : {std::tuple{Kind::Duration, Family::Gemm, 100},
                                            {Kind::Gap, Family::Gemm, -90},
                                            {Kind::Gap, Family::Collective, 80},
                                            {Kind::Duration, Family::Gemm, 70},
                                            {Kind::Gap, Family::Gemm, -60},
                                            {Kind::Gap, Family::Gemm, -50}})
    rows.push_back(
        {.kind = kind, .family = family, .title = "t", .delta = Picoseconds{delta}, .count = 1, .ranks = {0}});
  EXPECT_EQ(with_rest(rows, 6).size(), 6u);
  const std::vector<ContributionRow> shown = with_rest(rows, 2);
  ASSERT_EQ(shown.size(), 5u);
  EXPECT_EQ(shown[2].delta, Picoseconds{-110});
  EXPECT_EQ(shown[2].what(34), "2 smaller ones, gemm");
  EXPECT_EQ(shown[3].delta, Picoseconds{80});
  EXPECT_EQ(shown[4].delta, Picoseconds{70});
}

}  // namespace
}  // namespace stave
