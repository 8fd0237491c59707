// What the text report prints beside its sums.
#include "workbench/report_text.h"

#include <gtest/gtest.h>

#include "analysis/report.h"
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
                           "\n0                    2         2        40 ps\n", "median of timed"})
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
}

}  // namespace
}  // namespace stave
