#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/core/random_module.h"

namespace stave {
namespace {

std::string problems_text(const Problems& problems, const std::string& source) {
  std::string text;
  for (const Problem& problem : problems) text += to_text(problem, source);
  return text;
}

RC_GTEST_PROP(RoundTrip, parse_undoes_print, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto statements = *rc::gen::inRange<std::size_t>(0, 60);
  const Module module = RandomModule(seed, statements).make();
  const std::string text = print(module);
  const Result<Module> again = parse("random", text);
  if (!again) RC_FAIL(problems_text(again.problems(), text));
  RC_ASSERT(*again == module);
  RC_ASSERT(print(*again) == text);
}

RC_GTEST_PROP(RoundTrip, a_copy_is_equal_and_an_edit_is_not, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const Module module = RandomModule(seed, 30).make();
  Module copy = module;
  RC_ASSERT(copy == module);
  RC_PRE(!module.ops.empty());
  const std::size_t at = *rc::gen::inRange<std::size_t>(0, module.ops.size());
  Op& op = copy.ops[OpId{at}];
  op.blank_before = !op.blank_before;
  RC_ASSERT(!(copy == module));
}

// A damaged text gives a module or problems with places, and never more than the limit.
RC_GTEST_PROP(RoundTrip, damaged_text_is_told, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::string text = print(RandomModule(seed, 20).make());
  const auto edits = *rc::gen::inRange(1, 5);
  for (int i = 0; i < edits; ++i) {
    const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0: text.erase(at, *rc::gen::inRange<std::size_t>(1, 20)); break;
      case 1: text[at] = *rc::gen::arbitrary<char>(); break;
      default:
        text.insert(at, *rc::gen::elementOf(std::vector<std::string>{"{", "}", "(", ")", "[", "\"", "->", "\n"}));
    }
    if (text.empty()) break;
  }
  const Parsed parsed = parse_all("damaged", text);
  RC_ASSERT(parsed.problems.size() <= max_parse_problems);
  for (const Problem& problem : parsed.problems) {
    RC_ASSERT(problem.code.substr(0, 5) == "STV01");
    RC_ASSERT(problem.place.line >= 1u);
    RC_ASSERT(problem.place.column >= 1u);
    RC_ASSERT(problem.message.size() < 400u);
  }
  if (parsed.problems.empty()) {
    const Result<Module> again = parse("damaged", print(parsed.module));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == parsed.module);
  }
}

TEST(RoundTrip, TheGeneratorMakesEveryOp) {
  std::set<std::uint8_t> seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed)
    for (const Op& op : RandomModule(seed, 60).make().ops) seen.insert(static_cast<std::uint8_t>(op.kind));
  EXPECT_EQ(seen.size(), op_table().size());
}

}  // namespace
}  // namespace stave
