// The checker says of random schedules what trying all interleavings says.
#include "tests/checker/random_schedule.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/checker/shrink.h"
#include "tests/checker/verdict.h"

namespace stave {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int programs = 1'000;  // each takes ten times as long
#else
constexpr int programs = 5'000;
#endif

std::string counts_text(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [verdict, count] : counts) text += fmt::format("{:6}  {}\n", count, verdict);
  return text;
}

// Without a race, which makes what follows undefined.
std::string comparable(const Exploration& exploration) {
  return exploration.shows(Defect::Race) ? "race" : to_text(exploration);
}

TEST(RandomSchedules, TheReductionFindsWhatAllInterleavingsDo) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const RandomSchedule schedule = random_schedule(seed);
    const Result<Plan> plan = plan_of_text(schedule.text, schedule.mode);
    if (!plan) continue;
    const Result<Exploration> all = explore(*plan, {.max_states = 5'000, .reduce = false});
    if (!all) continue;
    const Result<Exploration> reduced = explore(*plan);
    ASSERT_TRUE(reduced) << to_text(reduced.problems()[0]);
    ASSERT_EQ(comparable(*reduced), comparable(*all)) << "seed " << seed << ", " << name_of(schedule.mode) << "\n"
                                                      << schedule.text;
    ++compared;
  }
  EXPECT_GT(compared, 200);
}

TEST(RandomSchedules, AreAsTheCheckerSays) {
  std::map<std::string, int> counts;
  int compared = 0;
  for (std::uint64_t seed = 1; compared < programs; ++seed) {
    ASSERT_LT(seed, 2 * programs) << "too few verify";
    const RandomSchedule schedule = random_schedule(seed);
    const Compared result = compare(schedule.text, schedule.mode);
    if (result.outcome == Outcome::Invalid || result.outcome == Outcome::TooLarge) continue;
    ++compared;
    ++counts[result.explored];
    if (result.outcome != Outcome::Disagrees) continue;
    const std::string small = shrink(schedule.text, [&](const std::string& text) {
      return compare(text, schedule.mode).outcome == Outcome::Disagrees;
    });
    const Compared now = compare(small, schedule.mode, {.report = true});
    FAIL() << "seed " << seed << ", " << name_of(schedule.mode) << ": the explorer says " << now.explored
           << ", the checker says " << now.checked << "\n"
           << now.report << small;
  }
  std::printf("%s", counts_text(counts).c_str());
  for (const std::string verdict : {"clean", "race", "uninitialised", "mismatch", "deadlock"})
    EXPECT_GT(counts[verdict], programs / 100) << verdict;
}

TEST(RandomSchedules, ShrinkToWhatMatters) {
  const std::string small = shrink(random_schedule(1).text, [](const std::string& text) {
    return plan_of_text(text, Mode::Eager).has_value() && text.find("%b: inout") != std::string::npos;
  });
  EXPECT_EQ(small, "stave 1\nfunc @f(\n  %b: inout f32[8]\n) {\n}\n");
}

}  // namespace
}  // namespace stave
