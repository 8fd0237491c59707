#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/in_number.h"
#include "core/text/nearest.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "core/text/reference.h"

namespace stave {
namespace {

using ::testing::HasSubstr;

std::string repeated(std::string_view part, std::size_t n) {
  std::string text;
  text.reserve(part.size() * n);
  for (std::size_t i = 0; i < n; ++i) text += part;
  return text;
}

std::string in_function(const std::string& statements) { return "stave 1\nfunc @main() {\n" + statements + "\n}\n"; }

// The only problem of a text.
Problem only_problem(const std::string& text) {
  const Parsed parsed = parse_all("test.stave", text);
  EXPECT_EQ(parsed.problems.size(), 1u) << text.substr(0, 200);
  return parsed.problems.empty() ? Problem{} : parsed.problems.front();
}

TEST(Parse, PlacesCountLinesAndColumnsFromOne) {
  const Problem problem = only_problem(in_function("  memzero -> %a\n  gem %a"));
  EXPECT_EQ(problem.place, (Place{"test.stave", 4, 3, 4, 6}));
  EXPECT_EQ(problem.code, "STV0108");
}

TEST(Parse, CarriageReturnsAreBlanks) {
  const std::string text = "stave 1\n\n// c\nfunc @main() {\n  memzero -> %a  // zero\n\n  memzero -> %a\n}\n";
  std::string windows;
  for (const char c : text) windows += c == '\n' ? "\r\n" : std::string(1, c);
  const Result<Module> module = parse("a", windows);
  ASSERT_TRUE(module);
  EXPECT_EQ(print(*module), text);
  EXPECT_TRUE(*module == *parse("b", text));
  EXPECT_TRUE(parse("c", "\xef\xbb\xbf" + text)) << "a byte order mark is skipped";
}

TEST(Parse, BinaryInputIsOneProblem) {
  using std::string_literals::operator""s;
  EXPECT_EQ(only_problem("\0\0\0\0"s).code, "STV0101");
  EXPECT_EQ(only_problem("\x7f"
                         "ELF\x02\x01"s)
                .code,
            "STV0101");
  EXPECT_EQ(only_problem("stave 1\nfunc @f() {\n  memzero\0 -> %a\n}\n"s).code, "STV0101");
  EXPECT_EQ(only_problem("stave 1\n\xff\xfe\n").message,
            "the byte 0xff is not UTF-8 and cannot stand in a schedule; is this a text file?");
  EXPECT_EQ(only_problem("stave 1\n\xc3(\n").code, "STV0101");
  EXPECT_EQ(only_problem("stave 1\nmesh \xe2\x82\xac = 2\n").code, "STV0102") << "a good character in a bad place";
  EXPECT_TRUE(parse("a", "stave 1 // \xff\xfe\x01 anything\n")) << "comments hold all bytes";
}

TEST(Parse, EveryBeginningOfATextIsReadOrTold) {
  const std::string text = print(*parse("a", R"(stave 1
mesh x = 2
param m = 4 in [4, 8]
source @p = cuda """
void f() {}
"""
// a comment
func @main(%a: in bf16[m, 2] (uniform = [x]), %b: out bf16[m, 2]) {
  %t[0] = async_start (stream = communication 0) {
    map %a[0 : +1], %b -> %b (f = |x, y| (x * 2.0 + y) mod 3, name = "q\"\x01", cost = {flops = 0x1f})  // t
  }
  cond %a then { async_done %t[0] } else { }
}
entry @main on 0 .. 1
)"));
  for (std::size_t n = 0; n < text.size(); ++n) {
    const Parsed parsed = parse_all("a", text.substr(0, n));
    EXPECT_LE(parsed.problems.size(), 3u) << text.substr(0, n);
    EXPECT_TRUE(!parsed.problems.empty() || parse("b", print(parsed.module))) << n;
  }
}

// A million brackets, and a file of any size, end in one problem and in time.
TEST(Parse, DepthIsBounded) {
  const std::size_t n = 300'000;
  for (const auto& [open, close] : std::vector<std::pair<std::string, std::string>>{
           {"(", ")"}, {"[", "]"}, {"{a = ", "}"}, {"f(", ")"}, {"-(", ")"}, {"(1, ", ")"}}) {
    for (const bool closed : {false, true}) {
      const std::string nested = repeated(open, n) + "1" + (closed ? repeated(close, n) : "");
      const Parsed parsed = parse_all("a", in_function("  memset -> %a (value = " + nested + ")"));
      ASSERT_FALSE(parsed.problems.empty());
      EXPECT_LE(parsed.problems.size(), 2u) << open;  // and the region that never closes
      EXPECT_EQ(parsed.problems.front().code, "STV0107") << open;
    }
  }
  EXPECT_EQ(only_problem(in_function(repeated("when (test = 1 < 2) { ", n) + repeated("} ", n))).code, "STV0107");
  EXPECT_EQ(only_problem(in_function(repeated("when (test = 1 < 2) {\n", n) + repeated("}\n", n))).code, "STV0107");
  EXPECT_EQ(only_problem("stave 1\nparam n = 1" + repeated(" + 1", n) + "\n").code, "STV0107");
  EXPECT_EQ(only_problem("stave 1\nparam n = 1" + repeated(" * 1", n) + "\n").code, "STV0107");
}

TEST(Parse, WhatNestsAsDeepAsAllowedPrintsAndReadsBack) {
  const std::string regions =
      in_function(repeated("when (test = 1 < 2) { ", max_nesting - 1) + repeated("} ", max_nesting - 1));
  const std::string chain = "stave 1\nparam n = 1" + repeated(" + 1", max_nesting - 1) + "\n";
  const std::string right =
      "stave 1\nparam n = " + repeated("1 - (", max_nesting - 1) + "1" + repeated(")", max_nesting - 1) + "\n";
  const std::string minus = "stave 1\nparam n = " + repeated("-(", 127) + "-1" + repeated(")", 127) + "\n";
  for (const std::string& text : {regions, chain, right, minus}) {
    const Result<Module> module = parse("a", text);
    ASSERT_TRUE(module) << to_text(module.problems().front());
    const Result<Module> again = parse("b", print(*module));
    ASSERT_TRUE(again) << to_text(again.problems().front());
    EXPECT_TRUE(*again == *module);
  }
}

TEST(Parse, OneLongLineIsToldShortly) {
  const std::size_t n = 20'000'000;
  const Problem word = only_problem(in_function("  " + std::string(n, 'a')));
  EXPECT_LT(word.message.size(), 200u);
  EXPECT_THAT(word.message, HasSubstr("..."));
  EXPECT_LT(to_text(word, std::string(n, 'a')).size(), 600u);
  EXPECT_LT(only_problem(std::string(n, 'a')).message.size(), 200u);
  EXPECT_LT(only_problem(in_function("  memset -> %a (value = " + std::string(n, '1') + ")")).message.size(), 300u);
  EXPECT_LT(only_problem(in_function("  custom_call (target = \"" + std::string(n, 'a'))).message.size(), 300u);
  EXPECT_LE(parse_all("a", "stave 1\n" + std::string(n, ')')).problems.size(), 2u);
}

TEST(Parse, SkipsAMistakeAndReadsOn) {
  const Parsed parsed = parse_all("a", in_function("  memzero -> %a\n"
                                                   "  copy %a (\n"
                                                   "  memzero -> %b\n"
                                                   "  cond %p then {\n    nonsense {\n }\n  memzero -> %c\n }\n"
                                                   "  memzero -> %d") +
                                           "func @g() { memzero -> %a }\n");
  EXPECT_EQ(parsed.problems.size(), 2u);
  EXPECT_EQ(parsed.module.functions.size(), 2u);
  std::set<std::string> zeroed;
  for (const ViewRef& view : parsed.module.views) zeroed.insert(std::string(parsed.module.text(view.value)));
  EXPECT_TRUE(zeroed.count("c") && zeroed.count("d"));
}

TEST(Parse, OpsOfARegionStandTogether) {
  const Result<Module> module =
      parse("a", in_function("memzero -> %a; when (test = 1 < 2) { memset -> %a (value = u32 1);"
                             " range { copy %a -> %b } }; memzero -> %b"));
  ASSERT_TRUE(module);
  const Region& body = module->regions[module->functions[FunctionId{0}].body];
  ASSERT_EQ(body.ops.size(), 3u);
  EXPECT_EQ(info_of(module->ops[body.ops[1]].kind).name, "when");
  EXPECT_EQ(info_of(module->ops[body.ops[2]].kind).name, "memzero");
  const Region& inner = module->regions[module->ops[body.ops[1]].regions[0]];
  ASSERT_EQ(inner.ops.size(), 2u);
  EXPECT_LT(inner.ops[1].value, body.ops[0].value);
  EXPECT_EQ(module->place(module->ops[inner.ops[0]].loc), (Place{"a", 3, 38, 3, 38}));
}

TEST(Parse, NumbersKeepTheirBits) {
  const Result<Module> module = parse("a",
                                      "stave 1\nparam a = 9223372036854775807\nparam b = 0xFFFFFFFFFFFFFFFF\n"
                                      "param c = 0.1\nparam d = 4.9406564584124654e-324\nparam e = 1E3\n");
  ASSERT_TRUE(module);
  const auto value = [&](std::size_t i) { return module->exprs[module->params[i].value]; };
  EXPECT_EQ(value(0).as_integer(), INT64_MAX);
  EXPECT_EQ(value(1).as_integer(), -1);
  EXPECT_TRUE(value(1).hex);
  EXPECT_EQ(value(2).as_number(), 0.1);
  EXPECT_EQ(value(3).as_number(), 4.9406564584124654e-324);
  EXPECT_EQ(value(4).as_number(), 1000.0);
}

TEST(Print, FloatsAreTheShortestWithADot) {
  EXPECT_EQ(float_text(1), "1.0");
  EXPECT_EQ(float_text(0.1), "0.1");
  EXPECT_EQ(float_text(1e100), "1.0e+100");
  EXPECT_EQ(float_text(2.5e-7), "2.5e-07");
  EXPECT_EQ(float_text(4.9406564584124654e-324), "5.0e-324");
}

TEST(Print, StatementsAndExpressionsForMessages) {
  const Result<Module> module =
      parse("a", in_function("  // c\n  map %x, %y[1:] -> %o (f = |x, y| ((x)) + y, name = \"m\")  // t"));
  ASSERT_TRUE(module);
  const Op& op = module->ops[OpId{0}];
  EXPECT_EQ(print_statement(*module, op), "map %x, %y[1:] -> %o (f = |x, y| x + y, name = \"m\")");
  EXPECT_EQ(print_expr(*module, module->attr(op, "f")), "|x, y| x + y");
  EXPECT_FALSE(module->attr(op, "cost"));
}

TEST(Print, OpExamplesParse) {
  for (const OpEntry& entry : op_table()) {
    const std::string text = in_function("  " + std::string(entry.info.example));
    const Result<Module> module = parse("example", text);
    ASSERT_TRUE(module) << to_text(module.problems().front(), text);
    const Op& op = module->ops[OpId{module->ops.size() - 1}];
    EXPECT_EQ(info_of(op.kind).name, entry.info.name);
  }
}

TEST(Reference, NamesEveryOpAndAttribute) {
  const std::string text = ir_reference();
  for (const OpEntry& entry : op_table()) {
    EXPECT_THAT(text, HasSubstr("### " + std::string(entry.info.name) + "\n"));
    EXPECT_THAT(text, HasSubstr(std::string(entry.info.example)));
    for (const FieldInfo& field : entry.fields) EXPECT_THAT(text, HasSubstr("| `" + std::string(field.name) + "` |"));
  }
  const std::size_t begin = text.find("stave 1\n");
  const std::string example = text.substr(begin, text.find("```", begin) - begin);
  EXPECT_TRUE(parse("example", example)) << example;
}

TEST(Nearest, SuggestsWhatIsClose) {
  const std::vector<std::string_view> names = {"gemm", "reduce", "all_reduce"};
  EXPECT_EQ(nearest_name("gem", names), "gemm");
  EXPECT_EQ(nearest_name("allreduce", names), "all_reduce");
  EXPECT_EQ(nearest_name("xyz", names), "");
  EXPECT_EQ(nearest_name(std::string(1000, 'a'), names), "");
}

TEST(InNumber, TakesTheHalvesThatFit) {
  const std::string_view text = "{} [event ends|events end] before [it starts|they start]; a[0], [";
  EXPECT_EQ(in_number(text, 1), "{} event ends before it starts; a[0], [");
  EXPECT_EQ(in_number(text, 0), "{} events end before they start; a[0], [");
  EXPECT_EQ(in_number(text, 2), in_number(text, 0));
  EXPECT_EQ(in_number("", 1), "");
}

}  // namespace
}  // namespace stave
