// The sums that docs/json/README.md promises, and that equal input gives equal bytes.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace stave {
namespace {

struct Case {
  const char* name;
  const char* schedule;
  const char* machine;
};

class Sums : public ::testing::TestWithParam<std::tuple<Case, const char*>> {
 protected:
  std::vector<std::string> sim(const std::vector<std::string>& more) const {
    const auto& [c, mode] = GetParam();
    std::vector<std::string> all = {
        "sim", std::string("examples/") + c.schedule, "--machine", c.machine, "--mode", mode, "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Program stave_;
};

TEST_P(Sums, TheSustainedClockIsNoFasterAndKeepsTheLimit) {
  const Ran full = stave_(sim({})), kept = stave_(sim({"--clock", "sustained"}));
  ASSERT_EQ(full.exit, 0) << full.err;
  const Json before(full.out), after(kept.out);
  EXPECT_EQ(before.at("$.clock_pct"), "100");
  ASSERT_EQ(kept.exit, 0) << kept.err;
  EXPECT_EQ(after.at("$.clock"), "sustained");
  EXPECT_EQ(after.one("SELECT json_extract(?1, '$.power_w') < 702"), "1") << after.at("$.power_w");
  EXPECT_EQ(after.one("SELECT json_extract(?1, '$.makespan_ps') >= " + before.at("$.makespan_ps")), "1");
  EXPECT_EQ(after.one("SELECT json_extract(?1, '$.clock_pct') < 100") == "1",
            before.one("SELECT json_extract(?1, '$.power_w') > 700") == "1");
}

TEST_P(Sums, HoldInSimAndInTheReportOfItsRun) {
  const Ran first = stave_(sim({"-o", "a.sqlite"}));
  ASSERT_EQ(first.exit, 0) << first.err << first.out;
  const Json json(first.out);
  ASSERT_TRUE(json.valid());

  EXPECT_EQ(json.rows("SELECT value FROM json_each(?1, '$.ranks') WHERE"
                      " value->>'busy_ps' + (value->>'idle_host_ps') + (value->>'idle_event_ps') +"
                      " (value->>'idle_arrival_ps') + (value->>'idle_other_ps') <> json_extract(?1, '$.makespan_ps')")
                .size(),
            0u);
  EXPECT_EQ(json.rows("SELECT value FROM json_each(?1, '$.ranks') WHERE"
                      " value->>'overlap_ps' + (value->>'exposed_communication_ps') <> value->>'communication_ps'")
                .size(),
            0u);
  EXPECT_EQ(json.at("$.run.ranks_count"), json.one("SELECT count(*) FROM json_each(?1, '$.ranks')"));
  EXPECT_EQ(json.at("$.makespan_ps"), json.one("SELECT max(value->>'end_ps') FROM json_each(?1, '$.ranks')"));

  EXPECT_EQ(json.one("SELECT json_extract(?1, '$.bound_ps') BETWEEN 1 AND json_extract(?1, '$.makespan_ps')"), "1");
  EXPECT_EQ(json.one("SELECT abs(json_extract(?1, '$.bound_pct') * json_extract(?1, '$.makespan_ps') -"
                     " 100 * json_extract(?1, '$.bound_ps')) < json_extract(?1, '$.makespan_ps')"),
            "1");
  EXPECT_NE(json.at("$.bound_by"), "NULL");

  EXPECT_EQ(json.one("SELECT sum(value->>'duration_ps') FROM json_each(?1, '$.critical_path')"),
            json.at("$.makespan_ps"));
  EXPECT_EQ(json.at("$.critical_path[0].start_ps"), "0");
  EXPECT_EQ(json.one("SELECT count(*) FROM (SELECT value->>'start_ps' AS start,"
                     " lag(value->>'start_ps' + (value->>'duration_ps'), 1, 0) OVER (ORDER BY key) AS before"
                     " FROM json_each(?1, '$.critical_path')) WHERE start <> before"),
            "0");

  const std::string worst = "$.ranks[" + json.at("$.worst_rank") + "].";
  for (const char* key : {"exposed_communication_ps", "overlap_pct", "arrival_wait_ps"})
    EXPECT_EQ(json.at(std::string("$.") + key), json.at(worst + key)) << key;
  EXPECT_EQ(json.at(worst + "end_ps"), json.at("$.makespan_ps"));
  EXPECT_EQ(json.at("$.peak_device_bytes"),
            json.one("SELECT max(value->>'peak_device_bytes') FROM json_each(?1, '$.ranks')"));

  const Ran second = stave_(sim({"-o", "b.sqlite"}));
  EXPECT_EQ(file_text(stave_ / "a.sqlite"), file_text(stave_ / "b.sqlite"));
  EXPECT_EQ(stave_(sim({"-o", "a.sqlite"})).out, first.out);

  const Ran reported = stave_({"report", "a.sqlite", "--json"});
  ASSERT_EQ(reported.exit, 0) << reported.err;
  const Json report(reported.out);
  const std::string ranks =
      "SELECT json_group_array(json_remove(value, '$.peak_device_bytes')) FROM json_each(?1, '$.ranks')";
  EXPECT_EQ(report.one(ranks), json.one(ranks));
  for (const char* path : {"$.makespan_ps", "$.worst_rank", "$.critical_path", "$.run.schedule_sha256", "$.run.machine",
                           "$.run.machine_sha256", "$.run.mode", "$.run.ranks_count", "$.run.kind"})
    EXPECT_EQ(report.at(path), json.at(path)) << path;
  EXPECT_EQ(stave_({"report", "a.sqlite", "--json"}).out, reported.out);
}

INSTANTIATE_TEST_SUITE_P(
    Examples, Sums,
    ::testing::Combine(::testing::Values(Case{"ring_2", "ring_matmul_2.stave", "h200-x2"},
                                         Case{"ring_8", "ring_matmul_8.stave", "h200-x8"},
                                         Case{"both_ways_8", "bidirectional_ring_matmul_8.stave", "h200-x8"},
                                         Case{"copy_engine_2", "ring_matmul_copy_engine_2.stave", "h200-x2"},
                                         Case{"pipeline_2", "pipeline_parallel.stave", "h200-x2"},
                                         Case{"all_reduce_2", "all_reduce.stave", "h200-x2"},
                                         Case{"collatz", "collatz.stave", "h200-x2"},
                                         Case{"concurrent_branches", "concurrent_branches.stave", "h200-x2"}),
                       ::testing::Values("eager", "captured", "captured_serial")),
    [](const auto& info) { return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param); });

TEST(SustainedClock, AMachineThatDoesNotSayIsRefused) {
  const Program stave;
  const Ran full = stave({"sim", "examples/ring_matmul_2.stave", "--machine", "h100-x8", "--json"});
  EXPECT_EQ(Json(full.out).at("$.power_w"), "NULL");
  const Ran kept = stave({"sim", "examples/ring_matmul_2.stave", "--machine", "h100-x8", "--clock", "sustained"});
  EXPECT_EQ(kept.exit, 2);
  EXPECT_NE(kept.err.find("STV0862"), std::string::npos) << kept.err;
}

TEST(Determinism, JitterAndTheRunAreTheSameTwice) {
  const Program stave;
  const std::vector<std::string> jitter = {"sim", "examples/ring_matmul_2.stave", "--jitter", "5", "--json"};
  const Ran first = stave(jitter);
  const Json json(first.out);
  EXPECT_EQ(stave(jitter).out, first.out);
  EXPECT_LE(std::stoll(json.at("$.makespan_low_ps")), std::stoll(json.at("$.makespan_ps")));
  EXPECT_GE(std::stoll(json.at("$.makespan_high_ps")), std::stoll(json.at("$.makespan_ps")));

  const std::vector<std::string> run = {"run", "examples/all_reduce.stave", "--json"};
  EXPECT_EQ(stave(run).out, stave(run).out);
}

TEST(Determinism, NoAbsolutePathIsStored) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "a.sqlite"}).exit, 0);
  const std::string bytes = file_text(stave / "a.sqlite");
  EXPECT_EQ(bytes.find(stave.folder().path()), std::string::npos);
  EXPECT_EQ(bytes.find(STAVE_SOURCE_DIR "/"), std::string::npos);
}

TEST(StoredParams, AReportCountsWhatWasPredicted) {
  const Program stave;
  const Ran sim = stave({"sim", "examples/ring_matmul_2.stave", "--param", "m=1024", "--json", "-o", "a.sqlite"});
  ASSERT_EQ(sim.exit, 0) << sim.err;
  EXPECT_EQ(Json(sim.out).at("$.params.m"), "1024");
  EXPECT_EQ(Json(stave({"report", "a.sqlite", "--json"}).out).at("$.makespan_ps"), Json(sim.out).at("$.makespan_ps"));
}

}  // namespace
}  // namespace stave
