// What is cancelled is a result: the rows and figures until then.
#include <gtest/gtest.h>

#include "tests/simulator/schedule.h"

namespace stave {
namespace {

constexpr const char* loop =
    "stave 1\nmesh x = 2\nfunc @f(%a: inout f32[4]) {\n  %more = scratch bool[]\n"
    "  while %more (cost = {trips = 20000}) condition {\n    map %a[0] -> %more (f = |v| v > 0.0)\n"
    "  } body {\n    map %a -> %a (f = |v| v)\n  }\n  all_reduce %a -> %a (axis = x, reduction = sum)\n}\n";

TEST(SimulateCancel, KeepsWhatEnded) {
  const Result<Plan> plan = plan_of(loop);
  ASSERT_TRUE(plan);
  const Machine machine = plain_machine(2);
  Progress progress;
  const Result<Prediction> whole = simulate(*plan, machine, {.progress = &progress});
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->summary.cancelled);
  EXPECT_GT(progress.commands, 0);
  EXPECT_LE(progress.commands, whole->summary.instances_count);

  const std::atomic<bool> cancel{true};
  progress.cancel = &cancel;
  const Result<Prediction> part = simulate(*plan, machine, {.progress = &progress});
  ASSERT_TRUE(part);
  EXPECT_TRUE(part->summary.cancelled);
  EXPECT_FALSE(part->summary.deadlock);
  EXPECT_LT(part->summary.instances_count, whole->summary.instances_count);
  EXPECT_LT(part->timeline.slices().size(), whole->timeline.slices().size());
  EXPECT_FALSE(part->timeline.tracks().empty());
}

}  // namespace
}  // namespace stave
