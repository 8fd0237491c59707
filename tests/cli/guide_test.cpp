// The guides run: their files are written, their commands print what stands below them.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace stave {
namespace {

struct Fence {
  std::string kind;  // what stands behind the backquotes
  std::string text;
};

std::vector<Fence> fences_of(const std::string& page) {
  std::vector<Fence> fences;
  bool inside = false;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("```")) {
      if (!inside) fences.push_back({line.substr(3), {}});
      inside = !inside;
    } else if (inside) {
      fences.back().text += line + '\n';
    }
  }
  return fences;
}

std::vector<std::string> arguments_of(const std::string& command) {
  std::istringstream words(command);
  std::vector<std::string> out;
  for (std::string word; words >> word;) out.push_back(word);
  return out;
}

TEST(Guide, PrintsWhatItSays) {
  const Program stave;
  int commands = 0;
  for (const Fence& fence : fences_of(file_text(STAVE_SOURCE_DIR "/docs/guide_deadlock.md"))) {
    constexpr std::string_view file = "stave file=";
    if (fence.kind.starts_with(file)) write_text(stave / fence.kind.substr(file.size()), fence.text);
    if (fence.kind != "console") continue;
    const std::size_t newline = fence.text.find('\n');
    std::vector<std::string> words = arguments_of(fence.text.substr(0, newline));
    ASSERT_GT(words.size(), 2u) << fence.text;
    ASSERT_EQ(words[0] + ' ' + words[1], "$ stave");
    words.erase(words.begin(), words.begin() + 2);
    const Ran ran = stave(words);
    EXPECT_EQ(fence.text.substr(newline + 1), ran.err + ran.out) << fence.text.substr(0, newline);
    ++commands;
  }
  EXPECT_EQ(commands, 6);
  EXPECT_EQ(file_text(STAVE_SOURCE_DIR "/docs/guide_deadlock.svg"), file_text(stave / "why.svg"));
  EXPECT_TRUE(Json(file_text(stave / "findings.sarif")).valid());
}

}  // namespace
}  // namespace stave
