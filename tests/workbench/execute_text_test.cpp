#include <gtest/gtest.h>

#include <algorithm>

#include "workbench/execute.h"

namespace stave {
namespace {

std::string text_of(std::vector<std::int64_t> microseconds) {
  Executed executed;
  executed.gpu = "2 x GPU";
  for (const std::int64_t us : microseconds) executed.durations.push_back(Picoseconds{us * 1'000'000});
  return execute_text(executed);
}

TEST(ExecuteText, TellsMedianMinimumAndNinetiethPercentileByNearestRank) {
  EXPECT_EQ(text_of({30}), "2 x GPU: 1 step, median 30.000 us, min 30.000 us, p90 30.000 us\n");
  EXPECT_EQ(text_of({10, 40, 20, 30}), "2 x GPU: 4 steps, median 20.000 us, min 10.000 us, p90 40.000 us\n");
}

// 15 steps of an 8192^3 ring on two H200s, in microseconds, whose clocks fell after the ninth.
TEST(ExecuteText, SaysWhenAGpuLoweredItsClock) {
  const std::string text = text_of({681, 683, 683, 681, 681, 683, 683, 711, 711, 711, 710, 716, 741, 742, 740});
  EXPECT_NE(text.find("the last quarter of the steps took 8.5 % longer than the first: a GPU lowers its clock"),
            std::string::npos)
      << text;
}

TEST(ExecuteText, DoesNotTakeNoiseForAClock) {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  EXPECT_EQ(lines(text_of({97, 97, 97, 97, 103, 96, 100, 103, 97, 97, 98, 101, 104, 101, 96})), 1) << "overlapping";
  EXPECT_EQ(lines(text_of({100, 100, 100, 100, 102, 102, 102, 102})), 1) << "two per cent";
  EXPECT_EQ(lines(text_of({100, 100, 100, 100, 90, 90, 90, 90})), 1) << "faster";
  EXPECT_EQ(lines(text_of({100, 100, 110, 110})), 1) << "too few";
  EXPECT_EQ(lines(text_of({100, 100, 100, 100, 100, 100, 110, 110})), 2);
}

}  // namespace
}  // namespace stave
