// `stave export` as a user runs it.
#include <gtest/gtest.h>

#include "profiles/export/exporter.h"
#include "tests/cli/program.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

class ExportVerb : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(stave_({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0); }
  std::string code(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"export"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    all.emplace_back("--json");
    return Json(stave_(all).out).at("$.problems[0].code");
  }
  Program stave_;
};

TEST_F(ExportVerb, WritesEachFormatThatItsHelpNames) {
  const std::string help = stave_({"export", "--help"}).out;
  for (const Exporter& exporter : exporters()) {
    const std::string output = "out" + std::string(exporter.extension);
    const Ran ran = stave_({"export", "ring.sqlite", "-o", output, "--json"});
    EXPECT_EQ(ran.exit, 0) << ran.err;
    EXPECT_EQ(Json(ran.out).at("$.format"), exporter.name);
    EXPECT_EQ(Json(ran.out).at("$.slices_count"), "22");
    EXPECT_GT(fs::file_size(stave_ / output), 500u);
    EXPECT_FALSE(fs::exists(stave_ / (output + ".partial")));
    EXPECT_NE(help.find(std::string(exporter.name)), std::string::npos);
    fs::remove(stave_ / output);
  }
}

TEST_F(ExportVerb, WhatItWroteIsImportedWithTheSameReport) {
  const Json before(stave_({"report", "ring.sqlite", "--json"}).out);
  for (const char* output : {"out.json", "out.sqlite"}) {
    ASSERT_EQ(stave_({"export", "ring.sqlite", "-o", output}).exit, 0);
    ASSERT_EQ(stave_({"import", output, "-o", "back.sqlite", "--strict"}).exit, 0);
    const Json after(stave_({"report", "back.sqlite", "--json"}).out);
    EXPECT_EQ(after.at("$.kernels[0].name"), "gemm");
    EXPECT_EQ(after.at("$.kernels[0].calls_count"), before.at("$.kernels[0].calls_count"));
    // To the nanosecond, rounded down.
    EXPECT_EQ(after.one("SELECT json_extract(?1, '$.makespan_ps') / 1000"),
              before.one("SELECT json_extract(?1, '$.makespan_ps') / 1000"));
  }
}

TEST_F(ExportVerb, SaysWhatCannotBeDone) {
  EXPECT_EQ(code({"ring.sqlite", "-o", "out.xyz"}), "STV0960");
  EXPECT_EQ(code({"ring.sqlite", "-o", "out.csv", "--rank", "7"}), "STV0963");
  EXPECT_EQ(code({"ring.sqlite", "-o", "out.csv", "--window", "5s..6s"}), "STV0961");
  EXPECT_EQ(code({"ring.sqlite", "-o", "out.csv", "--window", "range:none"}), "STV1900");
  EXPECT_EQ(code({"ring.sqlite", "-o", "ring.sqlite", "--format", "nsys", "--yes"}), "STV0962");
  EXPECT_EQ(code({"ring.sqlite", "-o", "out.csv", "--run", "other"}), "STV0709");
  EXPECT_FALSE(fs::exists(stave_ / "out.csv"));
  EXPECT_EQ(stave_({"export", "none.sqlite", "-o", "out.csv"}).exit, 2);
  EXPECT_EQ(stave_({"export", "ring.sqlite", "-o", "no/folder/out.csv"}).exit, 3);
}

TEST_F(ExportVerb, OutputsAreReplacedOnlyWhenAsked) {
  write_text(stave_ / "out.csv", "mine");
  EXPECT_EQ(code({"ring.sqlite", "-o", "out.csv"}), "STV0962");
  EXPECT_EQ(file_text(stave_ / "out.csv"), "mine");
  EXPECT_EQ(stave_({"export", "ring.sqlite", "-o", "out.csv", "--yes"}).exit, 0);
  EXPECT_NE(file_text(stave_ / "out.csv"), "mine");
}

TEST_F(ExportVerb, WhatIsLeftOutIsANote) { EXPECT_EQ(code({"ring.sqlite", "-o", "out.csv"}), "STV0965"); }

TEST_F(ExportVerb, TimesBeforeZeroAreMovedAndThatIsANote) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open((stave_ / "early.db").c_str(), &handle), SQLITE_OK);
  sqlite3_exec(handle,
               "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, \"end\", deviceId, streamId);"
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(-100, -50, 0, 7), (0, 20, 0, 7);",
               nullptr, nullptr, nullptr);
  sqlite3_close(handle);
  ASSERT_EQ(stave_({"import", "early.db", "-o", "early.sqlite"}).exit, 0);
  const Json json(stave_({"export", "early.sqlite", "-o", "early.pftrace", "--json"}).out);
  EXPECT_EQ(json.at("$.shift_ps"), "100000");
  EXPECT_EQ(json.one("SELECT count(*) FROM json_each(?1, '$.problems') WHERE value->>'code' = 'STV0964'"), "1");
}

TEST_F(ExportVerb, AFullDiskLeavesNothing) {
  const Ran ran = stave_({"export", "ring.sqlite", "-o", "out.sqlite"}, "ulimit -f 8; trap '' XFSZ;");
  EXPECT_EQ(ran.exit, 3) << ran.err;
  EXPECT_FALSE(fs::exists(stave_ / "out.sqlite"));
  EXPECT_FALSE(fs::exists(stave_ / "out.sqlite.partial"));
}

TEST_F(ExportVerb, AWindowOfAStep) {
  const Json json(stave_({"export", "ring.sqlite", "-o", "step.svg", "--window", "step:0", "--json"}).out);
  EXPECT_EQ(json.at("$.slices_count"), "22");
  EXPECT_EQ(json.at("$.window"), "step:0");
}

}  // namespace
}  // namespace stave
