#include "tests/file_test.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FileTest parsed(std::string_view text, const std::string& name = "sim/a.stave") {
  Result<FileTest> test = parse_file_test("/root/" + name, name, text);
  EXPECT_TRUE(test) << to_text(test.problems().front());
  return test ? *std::move(test) : FileTest{};
}

std::string message_of(std::string_view text) {
  const Result<FileTest> test = parse_file_test("/root/a.stave", "a.stave", text);
  return test ? "" : to_text(test.problems().front());
}

TEST(FileTest, ReadsRunLineProgramAndExpectation) {
  const FileTest test = parsed(
      "// RUN: sim machine=two_gpus  network=max-min\n"
      "stave 1\n"
      "// a comment\n"
      "// CHECK: one\n"
      "// CHECK:\n"
      "// CHECK:   two spaces before\n");
  EXPECT_EQ(test.mode, "sim");
  EXPECT_THAT(test.args, ElementsAre("machine=two_gpus", "network=max-min"));
  EXPECT_EQ(test.option("network"), "max-min");
  EXPECT_EQ(test.option("net"), "");
  EXPECT_EQ(test.option("mode", "eager"), "eager");
  EXPECT_EQ(test.input, "// RUN: sim machine=two_gpus  network=max-min\nstave 1\n// a comment\n");
  EXPECT_THAT(test.expected, ElementsAre("one", "", "  two spaces before"));
}

TEST(FileTest, RefusesWhatItCannotRunInFull) {
  EXPECT_EQ(message_of("stave 1\n"), "a.stave:1:1: error: the first line must start with \"// RUN:\"\n");
  EXPECT_EQ(message_of(""), "a.stave:1:1: error: the first line must start with \"// RUN:\"\n");
  EXPECT_EQ(message_of("// RUN:  \n"), "a.stave:1:1: error: \"// RUN:\" needs a mode after it\n");
  EXPECT_EQ(message_of("// RUN: print\n// CHECK: a\nstave 1\n"),
            "a.stave:3:1: error: the CHECK lines must be the last of the file\n");
}

TEST(FileTest, AllOutputMustMatchInOrder) {
  const FileTest test = parsed("// RUN: print\n// CHECK: one\n// CHECK:\n// CHECK: two\n");
  EXPECT_EQ(judge(test, "one\n\ntwo\n"), "");
  EXPECT_EQ(judge(test, "one\n\ntwo"), "");
  EXPECT_THAT(judge(test, "one\ntwo\n"), HasSubstr("  one\n- \n  two\n"));
  EXPECT_THAT(judge(test, "one\n\ntwo\nthree\n"), HasSubstr("+ three\n"));
  EXPECT_THAT(judge(test, "one\n\ntwo \n"), HasSubstr("- two\n+ two \n"));
  EXPECT_THAT(judge(test, "two\n\none\n"), HasSubstr("--update"));
  EXPECT_THAT(judge(parsed("// RUN: print\n"), ""), HasSubstr("printed nothing"));
  EXPECT_THAT(judge(parsed("// RUN: print\n"), "one\n"), HasSubstr("+ one\n"));
}

TEST(FileTest, AFailFileMustPrintAnError) {
  const std::string text = "// RUN: print\n// CHECK: fine\n";
  EXPECT_EQ(judge(parsed(text, "sim/a.stave"), "fine\n"), "");
  EXPECT_THAT(judge(parsed(text, "sim/fail_a.stave"), "fine\n"), HasSubstr("\"error:\""));
  EXPECT_THAT(judge(parsed(text, "fail_a.stave"), "fine\n"), HasSubstr("\"error:\""));
  EXPECT_EQ(judge(parsed("// RUN: print\n// CHECK: a:1:1: error: b\n", "sim/fail_a.stave"), "a:1:1: error: b\n"), "");
}

TEST(FileTest, ADiffShowsTheChangesAndWhatIsAround) {
  std::vector<std::string> expected;
  for (int i = 0; i < 12; ++i) expected.push_back(std::to_string(i));
  std::vector<std::string> actual = expected;
  EXPECT_EQ(line_diff(expected, actual), "");
  actual[5] = "five";
  actual.erase(actual.begin());
  EXPECT_EQ(line_diff(expected, actual), "- 0\n  1\n  2\n  3\n  4\n- 5\n+ five\n  6\n  7\n  ...\n");
}

TEST(FileTest, ADiffOfLongOutputsStaysCheap) {
  const std::vector<std::string> expected(5000, "a");
  const std::vector<std::string> actual(5000, "b");
  const std::string diff = line_diff(expected, actual);
  EXPECT_EQ(diff.size(), 10000 * std::string_view("- a\n").size());
}

TEST(FileTest, UpdateRewritesTheExpectationOnly) {
  const TempFolder folder;
  const std::string path = folder / "a.stave";
  const std::string program = "// RUN: twice\nstave 1\n\n";
  ASSERT_TRUE(write_file(path, program + "// CHECK: old\n"));
  const std::map<std::string, TestMode> modes = {{"twice", [](const FileTest& t) { return t.name + "\n\n" + t.mode; }}};

  EXPECT_THAT(run_file_test(path, "a.stave", modes, false), HasSubstr("- old\n+ a.stave\n"));
  EXPECT_EQ(*read_file(path), program + "// CHECK: old\n") << "a run without update leaves the file alone";

  EXPECT_EQ(run_file_test(path, "a.stave", modes, true), "");
  EXPECT_EQ(*read_file(path), program + "// CHECK: a.stave\n// CHECK:\n// CHECK: twice\n");
  EXPECT_EQ(run_file_test(path, "a.stave", modes, false), "");

  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    left.push_back(entry.path().filename().string());
  EXPECT_THAT(left, ElementsAre("a.stave"));
}

TEST(FileTest, UpdateDoesNotExcuseAFailFileWithoutError) {
  const TempFolder folder;
  const std::string path = folder / "fail_a.stave";
  ASSERT_TRUE(write_file(path, "// RUN: ok\n"));
  const std::map<std::string, TestMode> modes = {{"ok", [](const FileTest&) { return std::string("ok\n"); }}};
  EXPECT_THAT(run_file_test(path, "fail_a.stave", modes, true), HasSubstr("\"error:\""));
}

TEST(FileTest, SaysWhichModesThereAre) {
  const TempFolder folder;
  ASSERT_TRUE(write_file(folder / "a.stave", "// RUN: pirnt\n"));
  const std::map<std::string, TestMode> modes = {{"print", nullptr}, {"sim", nullptr}};
  EXPECT_EQ(run_file_test(folder / "a.stave", "a.stave", modes, false), "no mode \"pirnt\"; there are: print sim\n");
  EXPECT_THAT(run_file_test(folder / "b.stave", "b.stave", modes, false), HasSubstr("cannot read"));
}

RC_GTEST_PROP(FileTestLaw, AnUpdatedFilePasses, (const std::vector<std::string>& words)) {
  std::string output = "x\n";
  for (std::string word : words) {
    std::erase(word, '\n');
    output += word + "\n";
  }
  const FileTest test = parsed("// RUN: print\nstave 1");
  const FileTest updated = parsed(updated_text(test, output));
  RC_ASSERT(judge(updated, output) == "");
  RC_ASSERT(updated_text(updated, output) == updated_text(test, output));
}

}  // namespace
}  // namespace stave
