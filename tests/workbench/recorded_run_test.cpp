// What the recorder left behind on two H200s (tests/data/h200_ring) is complete, and
// can be compared with a prediction.
#include <gtest/gtest.h>

#include <map>

#include "analysis/compare.h"
#include "core/base/files.h"
#include "tests/workbench/schedule_of.h"
#include "workbench/open_run.h"
#include "workbench/predict.h"

namespace stave {
namespace {

constexpr std::size_t steps = 5, ranks = 2;

OpenedRun recorded(const std::string& mode) {
  Result<OpenedRun> run = open_run(std::string(STAVE_SOURCE_DIR) + "/tests/data/h200_ring/" + mode + ".sqlite");
  EXPECT_TRUE(run) << to_text(run.problems()[0]);
  return *std::move(run);
}

class RecordedRun : public testing::TestWithParam<std::string> {};

TEST_P(RecordedRun, HoldsEachCommandOfEachRankAndStep) {
  const OpenedRun opened = recorded(GetParam());
  const Timeline& t = opened.timeline;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>, int> found;
  for (const Slice& slice : t.slices()) {
    if (!slice.command) continue;
    ++found[{slice.step.value, t.track(slice.track).rank, std::string(t.command(slice.command).key)}];
    EXPECT_GT(slice.duration.count(), 0);
  }
  for (std::uint32_t step = 0; step < steps; ++step)
    for (std::uint32_t rank = 0; rank < ranks; ++rank)
      for (const char* key : {"ring_matmul/collective_permute#1", "ring_matmul/gemm#1", "ring_matmul/gemm#2[s=1]"})
        EXPECT_EQ((found[{step, rank, key}]), 1) << step << " " << rank << " " << key;
  EXPECT_EQ(found.size(), steps * ranks * 3);
}

TEST_P(RecordedRun, SaysWhichStepsWarmUpAndWhichCollectiveComesWhen) {
  const OpenedRun opened = recorded(GetParam());
  EXPECT_TRUE(opened.problems.empty());
  int warmup = 0;
  for (const StepSpan& step : opened.timeline.steps()) warmup += step.phase == StepPhase::Warmup;
  EXPECT_EQ(opened.timeline.steps().size(), steps * ranks);
  EXPECT_EQ(warmup, 2 * ranks);
  std::map<std::int64_t, int> sequences;
  for (const CollectiveDetail& row : opened.timeline.collectives()) {
    ++sequences[row.sequence];
    EXPECT_EQ(row.ranks, ranks);
    EXPECT_EQ(row.bytes, 256 * 256 * 2);
  }
  ASSERT_EQ(sequences.size(), steps);
  for (std::int64_t s = 0; s < static_cast<std::int64_t>(steps); ++s) EXPECT_EQ(sequences[s], ranks) << s;
}

TEST_P(RecordedRun, ComparesWithAPrediction) {
  const std::string example = std::string(STAVE_SOURCE_DIR) + "/examples/ring_matmul_2.stave";
  const Result<std::string> text = read_file(example);
  ASSERT_TRUE(text);
  PredictOptions options;
  options.params = {{"m", "256"}, {"n", "256"}, {"k", "256"}};
  options.mode = *mode_named(GetParam());
  const Result<Predicted> predicted = predict(schedule_of(*text), options);
  ASSERT_TRUE(predicted) << to_text(predicted.problems()[0]);
  const OpenedRun opened = recorded(GetParam());
  const TimelineIndex a(predicted->prediction.timeline), b(opened.timeline);
  const Result<Comparison> compared = compare({&a, RunKind::Predicted, "a"}, {&b, RunKind::Measured, "b"});
  ASSERT_TRUE(compared) << to_text(compared.problems()[0]);
  // Two gemms and a shift on each of two ranks, found by their commands.
  EXPECT_EQ(compared->alignment.matched.size(), 6U);
  EXPECT_TRUE(compared->only_a.empty());
  EXPECT_TRUE(compared->only_b.empty());
}

INSTANTIATE_TEST_SUITE_P(Modes, RecordedRun, testing::Values("eager", "captured"),
                         [](const auto& chosen) { return chosen.param; });

}  // namespace
}  // namespace stave
