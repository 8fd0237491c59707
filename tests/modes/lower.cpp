// RUN: lower [mode=eager|captured|captured_serial|all] [param=NAME=VALUE ...]
// Prints the issue form of each class; all: of the three modes in turn.
#include <memory>

#include "core/lower/plan.h"
#include "core/text/parse.h"
#include "tests/modes/modes.h"

namespace stave {

namespace {

Result<Expansion> expansion_of(const FileTest& test) {
  TRY(Module module, parse(test.name, test.input));
  ExpandOptions options;
  for (const std::string& arg : test.args) {
    const std::string_view text = arg;
    if (text.substr(0, 6) != "param=") continue;
    const std::size_t equals = text.find('=', 6);
    options.params.emplace_back(text.substr(6, equals - 6), text.substr(equals + 1));
  }
  return expand_and_verify(std::make_shared<const Module>(std::move(module)), options);
}

}  // namespace

std::string run_lower(const FileTest& test) {
  const std::string_view wanted = test.option("mode", "all");
  std::string text;
  for (const Mode mode : {Mode::Eager, Mode::Captured, Mode::CapturedSerial}) {
    if (wanted != "all" && wanted != name_of(mode)) continue;
    Result<Expansion> expansion = expansion_of(test);
    if (!expansion) return text_of(expansion.problems());
    const Result<Plan> plan = lower(*std::move(expansion), mode);
    if (!plan) {
      text += text_of(plan.problems());
      continue;
    }
    for (const RankClass& c : plan->classes) text += issue_text(c, mode);
  }
  return text;
}

}  // namespace stave
