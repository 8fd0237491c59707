// One mistake in a schedule of this repository: the checker finds exactly those that
// trying all interleavings finds.
#include "tests/checker/mutants.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/base/files.h"
#include "core/text/parse.h"
#include "tests/checker/verdict.h"

namespace stave {
namespace {

std::vector<std::string> schedules() {
  std::vector<std::string> paths;
  for (const char* folder : {"examples", "tests/run", "tests/verify"})
    for (const auto& file : std::filesystem::directory_iterator(std::string(STAVE_SOURCE_DIR) + "/" + folder))
      if (file.path().extension() == ".stave" && !file.path().filename().string().starts_with("fail_"))
        paths.push_back(file.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// What is above 64 becomes 8: sizes do not matter here, and the bytes of all buffers are kept.
Result<Expansion> small_expansion(const std::string& path) {
  TRY(const std::string text, read_file(path));
  TRY(Module module, parse(path, text));
  ExpandOptions options;
  for (const ParamDecl& p : module.params) {
    const Expr& value = module.exprs[p.value];
    if (value.kind == ExprKind::Integer && value.as_integer() > 64)
      options.params.emplace_back(module.text(p.name), "8");
  }
  return expand_and_verify(std::make_shared<const Module>(std::move(module)), options);
}

TEST(Mutants, AreAsTheCheckerSays) {
  std::map<std::string, int> counts;
  int disagreements = 0;
  for (const std::string& path : schedules()) {
    const Result<Expansion> expansion = small_expansion(path);
    if (!expansion) continue;  // it needs params
    std::vector<Mutant> all = mutants_of(*expansion);
    all.push_back({"as it is", *expansion});
    for (const Mutant& mutant : all)
      for (const Mode mode : {Mode::Eager, Mode::Captured, Mode::CapturedSerial}) {
        const Result<Plan> plan = lower(mutant.expansion, mode);
        if (!plan) continue;
        const Compared result = compare(*plan, {.max_states = 5'000, .report = true});
        ++counts[result.outcome == Outcome::TooLarge ? "(too large)" : result.explored];
        if (result.outcome != Outcome::Disagrees || ++disagreements > 5) continue;
        ADD_FAILURE() << path << ", " << mutant.what << ", " << name_of(mode) << ": the explorer says "
                      << result.explored << ", the checker says " << result.checked << "\n"
                      << result.report;
      }
  }
  for (const auto& [verdict, count] : counts) std::printf("%6d  %s\n", count, verdict.c_str());
  EXPECT_EQ(disagreements, 0);
}

}  // namespace
}  // namespace stave
