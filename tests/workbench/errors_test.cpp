// docs/errors.md has a line for each code that can reach a user, and no other.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "core/base/files.h"

namespace stave {
namespace {

// Codes in quotes, by code: one file that has it. Comments do not count.
std::map<std::string, std::string> codes_of_sources() {
  static const std::regex code("\"(STV[0-9]{4})\"");
  std::map<std::string, std::string> codes;
  for (const char* folder : {"core", "simulator", "executor", "profiles", "analysis", "workbench", "cli"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(STAVE_SOURCE_DIR) / folder)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      const Result<std::string> text = read_file(entry.path().string());
      if (!text) continue;
      std::istringstream lines(*text);
      for (std::string line; std::getline(lines, line);) {
        line.resize(std::min(line.size(), line.find("//")));
        for (std::sregex_iterator at(line.begin(), line.end(), code), end; at != end; ++at)
          codes.emplace((*at)[1], entry.path().string());
      }
    }
  }
  return codes;
}

TEST(ErrorsPage, HasEveryCodeOnce) {
  const std::map<std::string, std::string> used = codes_of_sources();
  ASSERT_GT(used.size(), 200u);
  const Result<std::string> page = read_file(STAVE_SOURCE_DIR "/docs/errors.md");
  ASSERT_TRUE(page);
  static const std::regex row(R"(\| STV[0-9]{4} \|.*)");
  std::set<std::string> documented;
  std::istringstream lines(*page);
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_match(line, row)) continue;
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 4) << "three cells: " << line;
    const std::string code = line.substr(2, 7);
    EXPECT_TRUE(documented.insert(code).second) << code << " stands twice";
    EXPECT_TRUE(used.contains(code)) << code << " is in docs/errors.md and in no source";
  }
  for (const auto& [code, file] : used)
    EXPECT_TRUE(documented.contains(code)) << code << " of " << file << " is not in docs/errors.md";
}

}  // namespace
}  // namespace stave
