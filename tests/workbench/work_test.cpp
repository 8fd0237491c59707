#include "workbench/work.h"

#include <gtest/gtest.h>

#include "tests/workbench/schedule_of.h"

namespace stave {
namespace {

Work work_of_text(const std::string& text, Mode mode = Mode::Eager) {
  Result<Expansion> expansion = expand_and_verify(schedule_of(text).module);
  EXPECT_TRUE(expansion);
  const Result<Plan> plan = lower(*std::move(expansion), mode);
  EXPECT_TRUE(plan);
  return work_of(*plan);
}

constexpr const char* two_gemms =
    "stave 1\nmesh x = 4\nfunc @f(%a: in f32[2, 8, 16], %b: in f32[2, 32, 16], %c: out f32[2, 8, 32]) {\n"
    "  repeat (index = i, to = 2) {\n    gemm %a, %b -> %c (transpose_b = true)\n  }\n}\n";

TEST(WorkOf, CountsCommandsAndMultiplyAddsOfAllRanks) {
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    const Work work = work_of_text(two_gemms, mode);
    EXPECT_EQ(work.commands, 4 * 2);
    EXPECT_EQ(work.multiply_adds, 4.0 * 2 * (2 * 8 * 32 * 16));
  }
}

TEST(WorkOf, KnowsLoopsOnlyByTheirTrips) {
  const Work work = work_of_text(
      "stave 1\nfunc @f(%a: in f32[4, 4], %c: out f32[4, 4]) {\n  %more = scratch bool[]\n"
      "  while %more (cost = {trips = 10}) condition {\n    map %a[0][0] -> %more (f = |v| v > 0.0)\n  } body {\n"
      "    gemm %a, %a -> %c\n  }\n}\n");
  EXPECT_EQ(work.commands, std::nullopt);
  EXPECT_EQ(work.multiply_adds, 640);
}

TEST(SlowNote, NamesSmallerParamsThatKeepTheRules) {
  const Schedule schedule = schedule_of(
      "stave 1\nparam m = 8192\nparam k = 1024\nfunc @f(%a: in f32[m, k], %b: in f32[k, m], %c: out f32[m, m]) {\n"
      "  gemm %a, %b -> %c\n}\n");
  EXPECT_FALSE(slow_note(schedule, {}, {1, 2e11}));
  const std::optional<Problem> note = slow_note(schedule, {{"k", "4096"}}, {1, 8192.0 * 8192 * 4096});
  ASSERT_TRUE(note);
  EXPECT_EQ(note->code, "STV0951");
  EXPECT_NE(note->message.find("2.7e+11 multiply-adds"), std::string::npos) << note->message;
  EXPECT_NE(note->message.find("--param m=1024 --param k=1024"), std::string::npos) << note->message;
}

TEST(SlowNote, IsSilentAboutParamsThatAreNone) {
  const std::optional<Problem> note = slow_note(schedule_of(two_gemms), {}, {1, 1e13});
  ASSERT_TRUE(note);
  EXPECT_EQ(note->message.find("--param"), std::string::npos) << note->message;
}

}  // namespace
}  // namespace stave
