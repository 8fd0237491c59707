#include <gtest/gtest.h>

#include "cli/verbs.h"
#include "tests/cli/program.h"

namespace stave {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

std::string last_line(const std::string& text) {
  std::string last;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!words_of(line).empty()) last = line;
  return last;
}

class HelpOf : public ::testing::TestWithParam<std::string> {};

TEST_P(HelpOf, EndsWithAnExampleThatRuns) {
  const Program stave;
  const Ran help = stave({GetParam(), "--help"});
  EXPECT_EQ(help.exit, 0);
  EXPECT_EQ(help.err, "");
  std::vector<std::string> words = words_of(last_line(help.out));
  ASSERT_GE(words.size(), 2u) << help.out;
  EXPECT_EQ(words[0], "stave");
  EXPECT_EQ(words[1], GetParam());
  words.erase(words.begin());
  // The run files that `report` and `compare` speak of.
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  ASSERT_EQ(stave({"sim", "examples/all_gather_matmul_2.stave", "-o", "all_gather.sqlite"}).exit, 0);
  const Ran example = stave(words);
  EXPECT_EQ(example.exit, 0) << example.err;
  EXPECT_NE(example.out, "");
}

TEST_P(HelpOf, IsWhatTheHelpVerbPrints) {
  const Program stave;
  EXPECT_EQ(stave({"help", GetParam()}).out, stave({GetParam(), "--help"}).out);
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const cli::Verb& verb : cli::verbs()) names.emplace_back(verb.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Verbs, HelpOf, ::testing::ValuesIn(verb_names()), [](const auto& info) { return info.param; });

TEST(Help, OfTheProgramNamesEveryVerb) {
  const Program stave;
  const Ran help = stave({"--help"});
  EXPECT_EQ(help.exit, 0);
  for (const cli::Verb& verb : cli::verbs()) EXPECT_NE(help.out.find(verb.name), std::string::npos) << verb.name;
}

TEST(Help, WithoutAVerbTheHelpVerbPrintsTheList) {
  const Program stave;
  EXPECT_EQ(stave({"help"}).out, stave({"--help"}).out);
}

TEST(Help, TheVersionIsOneLine) {
  const Program stave;
  const Ran version = stave({"--version"});
  EXPECT_EQ(version.exit, 0);
  EXPECT_EQ(version.out, STAVE_VERSION "\n");
}

TEST(Help, WithoutAVerbItSaysWhatToDo) {
  const Program stave;
  const Ran ran = stave({});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("stave --help"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace stave
