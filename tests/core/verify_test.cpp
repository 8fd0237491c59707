#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/ir/verify_state.h"
#include "tests/core/expand_support.h"

namespace stave {
namespace {

Problems verified(Expanded e) {
  Expansion all;
  all.class_of_rank.assign(e.ranks.size(), 0);
  all.classes.push_back(std::move(e));
  return verify(all);
}

std::string codes(const Problems& problems) {
  std::string out;
  for (const Problem& p : problems) out += (out.empty() ? "" : " ") + p.code;
  return out;
}

constexpr std::string_view two_tokens = R"(stave 1
func @f(%a: inout f32[4]) {
  %t = async_start (stream = computation 0) {
    %u = async_start (stream = computation 1) {
    }
    async_done %u
  }
  async_done %t
  memzero -> %a
}
)";

// The text cannot say these, a program that makes an Expanded can.
TEST(Verify, TokensOfAnExpandedThatNoTextGave) {
  const Expanded good = expanded(two_tokens);
  EXPECT_EQ(codes(verified(good)), "");
  const auto token_named = [&](std::string_view name) {
    for (const TokenId id : good.tokens.all())
      if (good.module->text(good.tokens[id].name) == name) return id;
    return TokenId{};
  };
  const TokenId t = token_named("t"), u = token_named("u");
  Expanded outside = good;
  outside.commands[outside.tokens[t].done].token = u;
  EXPECT_NE(codes(verified(outside)).find("STV0423"), std::string::npos);
  Expanded early = good;
  early.commands[early.tokens[u].done].token = t;
  EXPECT_NE(codes(verified(early)).find("STV0422"), std::string::npos);
  Expanded never = good;
  never.tokens[t].done = {};
  EXPECT_EQ(codes(verified(never)), "STV0420");
}

TEST(Verify, ViewsOfAnExpandedThatNoTextGave) {
  Expanded e = expanded(two_tokens);
  e.views[ViewId{0}].offset.constant = 4;
  EXPECT_EQ(codes(verified(e)), "STV0400");
  e.views[ViewId{0}].offset.constant = -1;
  EXPECT_EQ(codes(verified(e)), "STV0400");
}

TEST(Verify, ReportsAtMostAHundredProblems) {
  std::string text = "stave 1\nfunc @f(%a: in f32[4]) {\n";
  for (int i = 0; i < 150; ++i) text += "  memzero -> %a\n";
  EXPECT_EQ(verified(expanded(text + "}\n")).size(), max_problems);
}

TEST(Verify, ReportsAStatementOnceForAllIterations) {
  const Problems problems = verified(expanded(
      "stave 1\nfunc @f(%a: in f32[4]) {\n  repeat (index = s, from = 2, to = 1000) {\n    memzero -> %a\n  }\n}\n"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0].place.line, 4u);
  ASSERT_EQ(problems[0].notes.size(), 2u);
  EXPECT_EQ(problems[0].notes[1].message, "with s = 2");
}

TEST(Verify, ALargeGroupIsCheckedInReasonableTime) {
  std::string text =
      "stave 1\nmesh x = 2\nfunc @f(%a: in f32[20000, 4], %b: out f32[20000, 4]) {\n  collective_group {\n";
  for (int i = 0; i < 20000; ++i)
    text += fmt::format("    collective_permute %a[{0}] -> %b[{0}] (axis = x, shift = 1)\n", i);
  EXPECT_EQ(codes(verified(expanded(text + "  }\n}\n"))), "");
}

// Two views of one buffer at offsets that move with the coordinates: the
// relation is what a look at every byte of every rank says.
RC_GTEST_PROP(Verify, RelationAgreesWithBytes, ()) {
  const auto piece = [] {
    return fmt::format("%a[(axis_index(x) * {} + axis_index(y) + {}) mod {} : +{}]", *rc::gen::inRange(0, 4),
                       *rc::gen::inRange(0, 5), *rc::gen::inRange(1, 9), *rc::gen::inRange(1, 5));
  };
  const Expanded e = expanded(
      fmt::format("stave 1\nmesh x = 2, y = 3\nfunc @f(%a: inout u8[16]) {{\n  copy {} -> {}\n}}\n", piece(), piece()));
  const View &a = e[ViewId{0}], &b = e[ViewId{1}];
  bool overlap = false, partial = false;
  for (Rank r = 0; r < 6; ++r) {
    const std::int64_t x = e.at(a.offset, r), y = e.at(b.offset, r);
    bool here = false;
    for (std::int64_t i = x; i < x + a.bytes; ++i) here = here || (i >= y && i < y + b.bytes);
    overlap = overlap || here;
    partial = partial || (here && (x != y || a.bytes != b.bytes));
  }
  Problems problems;
  const Relation got = Verification(e, problems).relation(a, b);
  RC_ASSERT(got.overlap == overlap);
  RC_ASSERT(got.partial == partial);
}

}  // namespace
}  // namespace stave
