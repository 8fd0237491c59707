// Texts of traces in the cells of a table.
#include "workbench/units_text.h"

#include <gtest/gtest.h>

#include "core/base/problem.h"
#include "core/base/utf8.h"

namespace stave {
namespace {

TEST(Printable, WhatATerminalWouldObeyStandsAsText) {
  EXPECT_EQ(printable("void gemm<4>(float*)"), "void gemm<4>(float*)");
  EXPECT_EQ(printable("\x1b]0;title\x07\x1b[31m"), "\\x1b]0;title\\x07\\x1b[31m");
  EXPECT_EQ(printable("two\nlines\r\tand\x7f"), "two\\nlines\\x0d\\tand\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u009b31m");  // C1: CSI in one character
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a\\u202eb");                          // turns the direction
  EXPECT_EQ(printable("\xff\xc3"), "\\xff\\xc3");  // no UTF-8
  EXPECT_EQ(printable("π 矩阵 \xf0\x9f\x9a\x80"), "π 矩阵 \xf0\x9f\x9a\x80");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable_lines("one\ntwo\x1b"), "one\ntwo\\x1b");
}

TEST(Cut, CountsCharactersAndSplitsNone) {
  EXPECT_EQ(cut("gemm", 4), "gemm");
  EXPECT_EQ(cut("kernels", 6), "ker...");
  EXPECT_EQ(cut("πππππππ", 6), "πππ...");
  EXPECT_EQ(cut("a\nb", 10), "a\\nb");
  EXPECT_EQ(cut_front("main/gemm#2", 8), "...emm#2");
  EXPECT_EQ(cut_front("πππππππ", 6), "...πππ");
}

TEST(ProblemText, IsSafeForATerminal) {
  const Problem problem{Severity::Warning, "STV0001", "no \x1b[2J", {.file = "a\x1b[31m\nb.json"}, {{"\x07", {}}}};
  const std::string text = to_text(problem);
  EXPECT_EQ(text, "a\\x1b[31m\\nb.json: warning: no \\x1b[2J [STV0001]\nnote: \\x07\n");
}

TEST(CountText, HasAnSForAllButOne) {
  EXPECT_EQ(count_text(0, "step"), "0 steps");
  EXPECT_EQ(count_text(1, "step"), "1 step");
  EXPECT_EQ(count_text(2, "step"), "2 steps");
}

}  // namespace
}  // namespace stave
