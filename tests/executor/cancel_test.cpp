// A step that nobody waits for any more ends inside its commands, not after them.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "core/text/parse.h"
#include "executor/drivers.h"

namespace stave {
namespace {

Result<StepReport> step(std::string_view text, Mode mode, Progress& progress) {
  Result<Module> module = parse("test.stave", text);
  EXPECT_TRUE(module) << to_text(module.problems()[0]);
  Result<Expansion> expansion = expand_and_verify(std::make_shared<const Module>(*std::move(module)));
  EXPECT_TRUE(expansion) << to_text(expansion.problems()[0]);
  TRY(const Plan plan, lower(*std::move(expansion), mode));
  TRY(const std::unique_ptr<Execution> execution, driver_named("reference")->prepare(plan, {.progress = &progress}));
  return run_step(*execution);
}

constexpr const char* gemms =
    "stave 1\nmesh x = 2\nfunc @f(%a: in f32[300, 70], %b: in f32[70, 200], %c: inout f32[300, 200]) {\n"
    "  gemm %a, %b -> %c\n  all_reduce %c -> %c (axis = x, reduction = sum)\n}\n";
constexpr const char* endless =
    "stave 1\nfunc @f(%a: in s32[], %b: inout s32[]) {\n  %more = scratch bool[]\n"
    "  while %more condition {\n    map %a -> %more (f = |v| v == v)\n  } body {\n"
    "    map %b -> %b (f = |v| v + 1)\n  }\n}\n";
// The loop is inside the kernel's reference; the kernel counts as it starts.
constexpr const char* kernel =
    "stave 1\nsource @p = ptx \"\"\nfunc @loop(%a: in s32[], %b: inout s32[]) {\n  %more = scratch bool[]\n"
    "  while %more condition {\n    map %a -> %more (f = |v| v == v)\n  } body {\n"
    "    map %b -> %b (f = |v| v + 1)\n  }\n}\n"
    "func @f(%a: in s32[], %b: inout s32[]) {\n"
    "  kernel %a -> %b (source = @p, entry = \"k\", grid = [1, 1, 1], block = [1, 1, 1], reference = @loop)\n}\n";

TEST(StepProgress, CountsCommandsAndMultiplyAdds) {
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    Progress progress;
    const Result<StepReport> report = step(gemms, mode, progress);
    ASSERT_TRUE(report) << to_text(report.problems()[0]);
    EXPECT_EQ(progress.commands, 4);
    EXPECT_EQ(progress.done, 4 + 2 * 300 * 200 * 70);
  }
}

class StepCancel : public ::testing::TestWithParam<const char*> {};

TEST_P(StepCancel, EndsInsideItsCommands) {
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    std::atomic<bool> cancel{false};
    Progress progress;
    progress.cancel = &cancel;
    const std::jthread user([&](const std::stop_token& over) {
      while (progress.commands == 0 && !over.stop_requested()) std::this_thread::yield();
      cancel = true;
    });
    const Result<StepReport> report = step(GetParam(), mode, progress);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.problems()[0].code, "STV0950");
  }
}

INSTANTIATE_TEST_SUITE_P(Schedules, StepCancel, ::testing::Values(endless, kernel));

}  // namespace
}  // namespace stave
