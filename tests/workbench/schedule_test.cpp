#include "workbench/schedule.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/files.h"
#include "tests/temp_folder.h"
#include "tests/workbench/schedule_of.h"
#include "workbench/check.h"
#include "workbench/templates.h"

namespace stave {
namespace {

constexpr const char* text = R"(stave 1
// How large it is.
param n = 8 in 1..1000
param t = bf16  // the type
param scale = 1.5

func @main(%a: inout bf16[n]) {
  // Nothing but a scaling.
  map %a -> %a (f = |x| x * 2.0)
}
)";

std::string replaced(std::string in, std::string_view old, std::string_view by) {
  const std::size_t at = in.find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return in.replace(at, old.size(), by);
}

TEST(TextWithParams, WithoutValuesIsTheTextItself) {
  const std::string odd = std::string(text) + "\n\n// the end\n";
  EXPECT_EQ(text_with_params(schedule_of(odd), {}), odd);
}

TEST(TextWithParams, ReplacesTheValueAndKeepsCommentsAndAllElse) {
  EXPECT_EQ(text_with_params(schedule_of(text), {{"n", "1000"}}), replaced(text, "n = 8", "n = 1000"));
  EXPECT_EQ(text_with_params(schedule_of(text), {{"t", "f32"}, {"scale", "-0.25"}}),
            replaced(replaced(text, "= bf16", "= f32"), "1.5", "-0.25"));
}

TEST(TextWithParams, WhatItGivesChecksAsTheParamsDid) {
  const Schedule edited = schedule_of(text_with_params(schedule_of(text), {{"n", "1000"}}));
  EXPECT_EQ(check_schedule(edited, {}, Mode::Eager)->peak_device_bytes,
            check_schedule(schedule_of(text), {{"n", "1000"}}, Mode::Eager)->peak_device_bytes);
}

TEST(OpenSchedule, TellsAMissingFileFromABrokenOne) {
  TempFolder folder;
  const Result<Schedule> missing = open_schedule(folder / "none.stave");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.problems()[0].code, "STV0001");
  ASSERT_TRUE(write_file(folder / "bad.stave", "stave 1\nfunc main\n"));
  const Result<Schedule> bad = open_schedule(folder / "bad.stave");
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.problems()[0].place.line, 2u);
}

TEST(CheckSchedule, CountsErrors) {
  const CheckReport clean = *check_schedule(schedule_of(text), {}, Mode::Eager);
  EXPECT_EQ(clean.verdict(), "clean");
  EXPECT_EQ(clean.peak_device_bytes, 256);
  EXPECT_TRUE(clean.findings.empty());

  const CheckReport broken = *check_schedule(schedule_of(text), {{"n", "1001"}}, Mode::Eager);
  EXPECT_EQ(broken.verdict(), "errors");
  EXPECT_EQ(broken.errors, 1);
  EXPECT_FALSE(broken.peak_device_bytes.has_value());
}

TEST(CheckSchedule, EveryExampleIsCleanOrSaysWhyNot) {
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(STAVE_SOURCE_DIR "/examples")) {
    if (entry.path().extension() != ".stave") continue;
    const Result<Schedule> schedule = open_schedule(entry.path());
    ASSERT_TRUE(schedule) << entry.path();
    for (const Mode mode : {Mode::Eager, Mode::Captured}) {
      const Result<CheckReport> report = check_schedule(*schedule, {}, mode);
      ASSERT_TRUE(report) << entry.path();
      EXPECT_EQ(report->verdict(), "clean") << entry.path();
    }
    ++examples;
  }
  EXPECT_GT(examples, 30u);
}

struct Pair {
  const char* name;
  const char* example;
};

class Templates : public ::testing::TestWithParam<Pair> {};

TEST_P(Templates, IsItsExample) {
  const std::string path = std::string(STAVE_SOURCE_DIR "/examples/") + GetParam().example;
  const Result<std::string> example = read_file(path);
  ASSERT_TRUE(example) << path;
  for (const Template& t : templates()) {
    if (t.name != GetParam().name) continue;
    EXPECT_EQ(t.text, *example);
    EXPECT_EQ(check_schedule(schedule_of(std::string(t.text)), {}, Mode::Eager)->verdict(), "clean");
    return;
  }
  FAIL() << "there is no template " << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(All, Templates,
                         ::testing::Values(Pair{"ring-matmul", "ring_matmul_2.stave"},
                                           Pair{"all-gather-matmul", "all_gather_matmul_2.stave"},
                                           Pair{"two-streams", "concurrent_branches.stave"},
                                           Pair{"device-loop", "power_of_two_loop.stave"}),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST(TemplateTable, HoldsTheFourAbove) { EXPECT_EQ(templates().size(), 4u); }

}  // namespace
}  // namespace stave
