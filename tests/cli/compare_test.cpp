// `stave compare` on predicted runs: its sums, its exit codes, its text.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace stave {
namespace {

class Compare : public ::testing::Test {
 protected:
  void predict(const std::string& example, const std::string& file, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"sim", "examples/" + example, "-o", file, "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = stave_(arguments);
    ASSERT_EQ(ran.exit, 0) << ran.err;
  }
  Ran compare(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    return stave_(arguments);
  }

  Program stave_;
};

constexpr const char* sum =
    "SELECT coalesce(sum(json_extract(value, '$.delta_ps')), 0) FROM json_each(?1, '$.contributions')";
constexpr const char* parts =
    "SELECT json_extract(value, '$.kind'), json_extract(value, '$.delta_ps'), json_extract(value, '$.a_slice'), "
    "json_extract(value, '$.b_slice') FROM json_each(?1, '$.contributions') ORDER BY 1, 2, 3, 4";
constexpr const char* exchanged_parts =
    "SELECT CASE json_extract(value, '$.kind') WHEN 'inserted' THEN 'removed' WHEN 'removed' THEN 'inserted' "
    "ELSE json_extract(value, '$.kind') END, -json_extract(value, '$.delta_ps'), json_extract(value, '$.b_slice'), "
    "json_extract(value, '$.a_slice') FROM json_each(?1, '$.contributions') ORDER BY 1, 2, 3, 4";

void expect_sums(const Json& json) {
  const std::string delta = json.at("$.delta_ps");
  EXPECT_EQ(json.one(sum), delta);
  EXPECT_EQ(std::stoll(json.at("$.b_ps")) - std::stoll(json.at("$.a_ps")), std::stoll(delta));
  EXPECT_EQ(json.one("SELECT count(*) FROM json_each(?1, '$.contributions') WHERE json_extract(value, '$.kind') = "
                     "'unexplained' OR json_extract(value, '$.delta_ps') = 0"),
            "0");
}

TEST_F(Compare, ContributionsAddUpAndNegateWhenTheRunsAreExchanged) {
  predict("ring_matmul_2.stave", "ring.sqlite");
  predict("ring_matmul_2.stave", "captured.sqlite", {"--mode", "captured"});
  predict("ring_matmul_2.stave", "small.sqlite", {"--param", "m=2048"});
  predict("all_gather_matmul_2.stave", "gather.sqlite");
  for (const std::string other : {"captured.sqlite", "small.sqlite", "gather.sqlite"}) {
    const Json forth(compare({"ring.sqlite", other, "--json"}).out),
        back(compare({other, "ring.sqlite", "--json"}).out);
    ASSERT_TRUE(forth.valid()) << forth.text();
    expect_sums(forth);
    expect_sums(back);
    EXPECT_EQ(forth.rows(exchanged_parts), back.rows(parts)) << other;
    EXPECT_EQ(forth.at("$.only_a_count"), back.at("$.only_b_count"));
    EXPECT_EQ(forth.at("$.verdict"), other == "gather.sqlite" ? "slower" : "faster");
    EXPECT_EQ(forth.at("$.aligned_by"), other == "gather.sqlite" ? "name" : "command");
  }
}

TEST_F(Compare, TheTimesAreThoseOfReport) {
  predict("ring_matmul_2.stave", "ring.sqlite");
  predict("all_gather_matmul_2.stave", "gather.sqlite");
  const Json json(compare({"ring.sqlite", "gather.sqlite", "--json"}).out);
  EXPECT_EQ(json.at("$.a_ps"), Json(stave_({"report", "ring.sqlite", "--json"}).out).at("$.makespan_ps"));
  EXPECT_EQ(json.at("$.b_ps"), Json(stave_({"report", "gather.sqlite", "--json"}).out).at("$.makespan_ps"));
}

TEST_F(Compare, ARunAgainstItselfHasNoContribution) {
  predict("pipeline_parallel.stave", "a.sqlite");
  const Json json(compare({"a.sqlite", "a.sqlite", "--json"}).out);
  EXPECT_EQ(json.one("SELECT json_array_length(?1, '$.contributions')"), "0");
  EXPECT_EQ(json.at("$.delta_ps"), "0");
  EXPECT_EQ(json.at("$.verdict"), "same");
  EXPECT_EQ(json.at("$.only_a_count"), "0");
  EXPECT_EQ(json.at("$.noise_pct"), "0");
}

TEST_F(Compare, AllListsEveryMatchedSlice) {
  predict("ring_matmul_2.stave", "ring.sqlite");
  predict("ring_matmul_2.stave", "small.sqlite", {"--param", "m=2048"});
  const Json json(compare({"ring.sqlite", "small.sqlite", "--json", "--all"}).out);
  EXPECT_EQ(json.one("SELECT json_array_length(?1, '$.commands')"), json.at("$.matched_count"));
  EXPECT_EQ(json.one("SELECT sum(json_extract(value, '$.delta_duration_ps') > 0) FROM json_each(?1, '$.commands')"),
            "0");
  EXPECT_EQ(Json(compare({"ring.sqlite", "small.sqlite", "--json"}).out).one("SELECT json_type(?1, '$.commands')"),
            "null");
}

TEST_F(Compare, TheTextStartsWithTheVerdictAndItsColumnAddsUp) {
  predict("ring_matmul_8.stave", "ring.sqlite", {"--machine", "h200-x8"});
  predict("ring_matmul_8.stave", "captured.sqlite", {"--machine", "h200-x8", "--mode", "captured"});
  const Ran ran = compare({"captured.sqlite", "ring.sqlite", "--rows", "3"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out.rfind("B is ", 0), 0u) << ran.out;
  std::istringstream lines(ran.out);
  double sum = 0;
  bool in_waterfall = false;
  std::size_t rows = 0;
  std::string unit;
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 100u) << line;
    if (line.find("because of") != std::string::npos) {
      in_waterfall = true;
      continue;
    }
    if (!in_waterfall) continue;
    std::istringstream words(line);
    double value = 0;
    std::string its_unit;
    words >> value >> its_unit;
    if (unit.empty()) unit = its_unit;
    EXPECT_EQ(its_unit, unit) << line;
    if (line.find("in all") == std::string::npos) {
      sum += value;
      ++rows;
      continue;
    }
    EXPECT_NEAR(sum, value, 0.0005 * static_cast<double>(rows + 1));
    in_waterfall = false;
  }
  EXPECT_EQ(rows, 5u) << ran.out;  // three, and the others by kind and family
  EXPECT_EQ(compare({"captured.sqlite", "ring.sqlite", "--quiet"}).out, "");
}

TEST_F(Compare, ThePageShowsWhatIsPrinted) {
  predict("all_gather_matmul_2.stave", "all_gather.sqlite");
  predict("ring_matmul_2.stave", "ring.sqlite");
  const Ran ran = compare({"all_gather.sqlite", "ring.sqlite"});
  EXPECT_NE(file_text(STAVE_SOURCE_DIR "/docs/compare.md").find(ran.out), std::string::npos) << ran.out;
}

TEST_F(Compare, FailAboveExitsWithOne) {
  predict("ring_matmul_2.stave", "ring.sqlite");
  predict("all_gather_matmul_2.stave", "gather.sqlite");
  const Ran failed = compare({"ring.sqlite", "gather.sqlite", "--fail-above", "slower_pct=5"});
  EXPECT_EQ(failed.exit, 1);
  EXPECT_NE(failed.err.find("STV1901"), std::string::npos) << failed.err;
  EXPECT_EQ(compare({"gather.sqlite", "ring.sqlite", "--fail-above", "slower_pct=5"}).exit, 0);
  EXPECT_EQ(compare({"gather.sqlite", "ring.sqlite", "--fail-above", "abs_delta_pct=5"}).exit, 1);
  for (const std::string metric : {"delta_ps", "delta_pct", "only_a_count", "only_b_count"}) {
    EXPECT_EQ(compare({"ring.sqlite", "gather.sqlite", "--fail-above", metric + "=0"}).exit, 1) << metric;
    EXPECT_EQ(compare({"ring.sqlite", "gather.sqlite", "--fail-above", metric + "=1e12"}).exit, 0) << metric;
  }
  const Ran slower = compare({"ring.sqlite", "gather.sqlite", "--fail-above", "delta_ps=20us"});
  EXPECT_EQ(slower.exit, 1);
  EXPECT_NE(slower.err.find(" ps), above the limit of 20.000 us"), std::string::npos) << slower.err;
  EXPECT_EQ(compare({"ring.sqlite", "gather.sqlite", "--fail-above", "delta_ps=1s"}).exit, 0);
  for (const std::string wrong :
       {"delta_pct=1ms", "delta_ps=1h", "speed=1", "delta_pct=fast", "delta_pct=nan", "delta_pct"})
    EXPECT_EQ(compare({"ring.sqlite", "gather.sqlite", "--fail-above", wrong}).exit, 2) << wrong;
}

TEST_F(Compare, WhatCannotBeComparedIsSaid) {
  predict("ring_matmul_2.stave", "ring.sqlite");
  predict("collatz.stave", "collatz.sqlite");
  const Ran nothing = compare({"collatz.sqlite", "ring.sqlite", "--json"});
  EXPECT_EQ(nothing.exit, 2);
  const Json json(nothing.out);
  EXPECT_EQ(json.at("$.schema"), "stave.error/1");
  EXPECT_EQ(json.at("$.problems[0].code"), "STV1910");
  EXPECT_EQ(json.at("$.problems[0].file"), "ring.sqlite");
  EXPECT_EQ(compare({"ring.sqlite", "none.sqlite"}).exit, 2);
  EXPECT_EQ(compare({"ring.sqlite", "ring.sqlite", "--window", "step:7"}).exit, 2);
  EXPECT_EQ(compare({"ring.sqlite", "ring.sqlite", "--run-b", "other"}).exit, 2);
}

}  // namespace
}  // namespace stave
