// Text tests: a file that says what to do with it and what must come out.
//
//   // RUN: sim machine=two_gpus
//   stave 1
//   ...
//   // CHECK: first line of the output
//   // CHECK:
//   // CHECK: third line; the one before is empty
//
// The CHECK lines stand at the end, one for each line of the output, all of it,
// in order. `--update` (or STAVE_UPDATE=1) rewrites them in place. A file named
// fail_*.stave must print at least one line with "error:".
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stave {

struct FileTest {
  std::string path;  // to open it
  std::string name;  // relative to the root of the tests: what output may show
  std::string mode;
  std::vector<std::string> args;
  std::string input;                  // without the CHECK lines; with the RUN line, so that lines count as in the file
  std::vector<std::string> expected;  // what the CHECK lines say

  // V of an argument KEY=V.
  std::string_view option(std::string_view key, std::string_view otherwise = {}) const;

  friend bool operator==(const FileTest&, const FileTest&) = default;
};

// What a RUN line's first word does; returns the output, errors included.
using TestMode = std::function<std::string(const FileTest&)>;

// Problems: no RUN line first, no mode in it, text after a CHECK line.
Result<FileTest> parse_file_test(std::string path, std::string name, std::string_view text);

// The text of the file with `output` as its expectation.
std::string updated_text(const FileTest& test, std::string_view output);

// What is wrong with `output`, for people; empty if the test passes.
std::string judge(const FileTest& test, std::string_view output);

// "- expected" and "+ actual" lines with two lines around each; empty if equal.
std::string line_diff(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

// Runs the test in `path`, which may be updated. Returns what is wrong, or nothing.
std::string run_file_test(const std::string& path, const std::string& name,
                          const std::map<std::string, TestMode>& modes, bool update);

// Registers a gtest FileTest.NAME for each .stave file below `root` that has a
// RUN or a CHECK line, and runs them. Returns the exit code of the program.
int run_file_tests(int argc, char** argv, const std::string& root, std::map<std::string, TestMode> modes);

}  // namespace stave
