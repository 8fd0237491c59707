#include "analysis/sequence_diff.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>
#include <string_view>

namespace stave {
namespace {

using Tokens = std::vector<std::uint32_t>;

Tokens tokens(std::string_view letters) { return {letters.begin(), letters.end()}; }

// The first sequence with what was matched in capitals, then the second.
std::string shown(std::string_view a, std::string_view b) {
  std::string x(a), y(b);
  for (const SequenceMatch& at : sequence_diff(tokens(a), tokens(b))) {
    x[at.a] = static_cast<char>(std::toupper(x[at.a]));
    y[at.b] = static_cast<char>(std::toupper(y[at.b]));
  }
  return x + " " + y;
}

void expect_valid(const Tokens& a, const Tokens& b, const std::vector<SequenceMatch>& matches) {
  for (std::size_t i = 0; i < matches.size(); ++i) {
    ASSERT_LT(matches[i].a, a.size());
    ASSERT_LT(matches[i].b, b.size());
    ASSERT_EQ(a[matches[i].a], b[matches[i].b]);
    if (i == 0) continue;
    ASSERT_LT(matches[i - 1].a, matches[i].a);
    ASSERT_LT(matches[i - 1].b, matches[i].b);
  }
}

// The length of a longest common subsequence, by the textbook's table.
std::size_t longest_common(const Tokens& a, const Tokens& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (const auto token : a) {
    std::size_t diagonal = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t above = row[j + 1];
      row[j + 1] = token == b[j] ? diagonal + 1 : std::max(above, row[j]);
      diagonal = above;
    }
  }
  return row.back();
}

TEST(SequenceDiff, MatchesWhatIsInBoth) {
  EXPECT_EQ(shown("abc", "abc"), "ABC ABC");
  EXPECT_EQ(shown("abcd", "abxcd"), "ABCD ABxCD");
  EXPECT_EQ(shown("abcd", "acd"), "AbCD ACD");
  EXPECT_EQ(shown("ab", "cd"), "ab cd");
  EXPECT_EQ(shown("", "ab"), " ab");
}

TEST(SequenceDiff, ARepeatedLayerIsOneInsertion) {
  EXPECT_EQ(shown("sgmngmne", "sgmngmngmne"), "SGMNGMNE SGMNGMNgmnE");
}

RC_GTEST_PROP(SequenceDiff, MatchesAsManyAsThereCanBe, ()) {
  const auto letters = *rc::gen::inRange<std::uint32_t>(1, 7);
  const auto any = rc::gen::container<Tokens>(rc::gen::inRange<std::uint32_t>(0, letters));
  const Tokens a = *any, b = *any;
  const std::vector<SequenceMatch> matches = sequence_diff(a, b);
  expect_valid(a, b, matches);
  RC_ASSERT(matches.size() == (a.empty() ? 0 : longest_common(a, b)));
}

RC_GTEST_PROP(SequenceDiff, ExchangingTheSequencesExchangesThePairs, ()) {
  const auto any = rc::gen::container<Tokens>(rc::gen::inRange<std::uint32_t>(0, 4));
  const Tokens a = *any, b = *any;
  std::vector<SequenceMatch> back = sequence_diff(b, a);
  for (SequenceMatch& at : back) std::swap(at.a, at.b);
  RC_ASSERT(back == sequence_diff(a, b));
}

// Layers of `period` kernels, of which some are lost and some are new: too many
// edits for the search alone.
Tokens noisy(std::size_t length, std::uint32_t period, double edits, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = static_cast<std::uint32_t>(edits * 4294967295.0);
  Tokens out;
  for (std::uint32_t i = 0; out.size() < length; ++i) {
    if (random() < below) out.push_back(random() % (2 * period));
    if (random() >= below) out.push_back(i % period);
  }
  return out;
}

struct Large {
  const char* name;
  std::uint32_t period;
  double edits;
  double least;  // of the tokens matched
};

class LargeSequences : public ::testing::TestWithParam<Large> {};

TEST_P(LargeSequences, AreMatchedWellAndTheSameFromBothSides) {
  const Tokens a = noisy(20'000, GetParam().period, GetParam().edits, 1),
               b = noisy(20'000, GetParam().period, GetParam().edits, 2);
  const std::vector<SequenceMatch> matches = sequence_diff(a, b);
  expect_valid(a, b, matches);
  EXPECT_GE(static_cast<double>(matches.size()), GetParam().least * static_cast<double>(a.size()));
  std::vector<SequenceMatch> back = sequence_diff(b, a);
  for (SequenceMatch& at : back) std::swap(at.a, at.b);
  EXPECT_EQ(back, matches);
}

INSTANTIATE_TEST_SUITE_P(Sequences, LargeSequences,
                         ::testing::Values(Large{"few_edits", 100, 0.001, 0.99}, Large{"layers", 100, 0.05, 0.88},
                                           Large{"unique_names", 1'000'000, 0.05, 0.88},
                                           Large{"two_names", 2, 0.2, 0.75}),
                         [](const auto& info) { return std::string(info.param.name); });

// More new tokens in one place than a search goes through.
TEST(SequenceDiff, ABlockThatMovedIsLeftOut) {
  Tokens a(8'000);
  for (std::uint32_t i = 0; i < a.size(); ++i) a[i] = i;
  Tokens b(a.begin() + 3'000, a.end());
  b.insert(b.end(), a.begin(), a.begin() + 3'000);
  EXPECT_EQ(sequence_diff(a, b).size(), 5'000u);
}

TEST(SequenceDiff, ReversedSequencesEnd) {
  Tokens a(20'000), b;
  for (std::uint32_t i = 0; i < a.size(); ++i) a[i] = i;
  b.assign(a.rbegin(), a.rend());
  EXPECT_EQ(sequence_diff(a, b).size(), 1u);
}

}  // namespace
}  // namespace stave
