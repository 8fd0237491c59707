#include "core/base/progress.h"

#include <gtest/gtest.h>

#include "core/ir/interpret/compute.h"
#include "core/timeline/timeline.h"

namespace stave {
namespace {

TEST(Progress, IsWantedUntilSomebodyCancels) {
  std::atomic<bool> cancel{false};
  Progress progress;
  EXPECT_TRUE(still_wanted(nullptr));
  EXPECT_TRUE(still_wanted(&progress));
  progress.cancel = &cancel;
  EXPECT_TRUE(still_wanted(&progress));
  cancel = true;
  const Result<void> wanted = still_wanted(&progress);
  ASSERT_FALSE(wanted);
  EXPECT_EQ(wanted.problems()[0].code, "STV0950");
}

// After one of its blocks, not at its end.
TEST(Progress, EndsAGemm) {
  const std::int64_t n = 512;
  const std::vector<std::int64_t> shape{n, n};
  std::vector<std::byte> a(n * n * 4), c(n * n * 4);
  const std::atomic<bool> cancel{true};
  Progress progress;
  progress.cancel = &cancel;
  const std::vector<ConstOperand> operands(2, ConstOperand{a, Dtype::F32, shape});
  const Result<void> done = interpret_gemm({}, operands, std::vector{Operand{c, Dtype::F32, shape}}, &progress);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.problems()[0].code, "STV0950");
  EXPECT_GT(progress.done, 0);
  EXPECT_LT(progress.done, n * n * n / 8);
}

TEST(Progress, EndsAReplayBetweenBatches) {
  Timeline from, to;
  const std::string_view name = "a";
  ASSERT_TRUE(from.on_names({&name, 1}));
  Progress progress;
  ASSERT_TRUE(replay(from, to, &progress));
  EXPECT_EQ(progress.done, 1);
  EXPECT_EQ(to, from);
  const std::atomic<bool> cancel{true};
  progress.cancel = &cancel;
  Timeline nothing;
  EXPECT_EQ(replay(from, nothing, &progress).problems()[0].code, "STV0950");
  EXPECT_EQ(nothing, Timeline());
}

}  // namespace
}  // namespace stave
