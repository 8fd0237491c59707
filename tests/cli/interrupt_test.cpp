// Ctrl-C: exit 130, what is complete under NAME.partial, nothing under NAME.
#include <gtest/gtest.h>

#include "cli/progress_line.h"
#include "tests/cli/terminal.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

// As long as `sim` takes one, and without an end for `run` but its limit.
constexpr const char* long_loop =
    "stave 1\nfunc @f(%a: in f32[16], %b: inout f32[16]) {\n  %more = scratch bool[]\n"
    "  while %more (cost = {trips = 14000000}) condition {\n    map %a[0] -> %more (f = |v| v >= 0.0)\n"
    "  } body {\n    map %a -> %b (f = |v| v + 1.0)\n  }\n}\n";
constexpr const char* long_gemm =
    "stave 1\nparam n = 6144\nfunc @f(%a: in f32[n, n], %b: in f32[n, n], %c: out f32[n, n]) {\n"
    "  gemm %a, %b -> %c\n}\n";

class Interrupt : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_terminals()) GTEST_SKIP() << "there are no pseudo-terminals here: mount /dev/pts";
    write_text(stave_ / "loop.stave", long_loop);
    write_text(stave_ / "gemm.stave", long_gemm);
  }

  Program stave_;
};

TEST_F(Interrupt, SimKeepsWhatIsComplete) {
  OnTerminal sim(stave_, {"sim", "loop.stave", "-o", "loop.sqlite"});
  EXPECT_TRUE(sim.shows("predicting: "));
  const Ran ran = sim.interrupt();
  EXPECT_EQ(ran.exit, 130);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("error: interrupted: what is complete is kept in loop.sqlite.partial"), std::string::npos)
      << ran.err;
  EXPECT_FALSE(fs::exists(stave_ / "loop.sqlite"));

  sqlite3* kept = nullptr;
  ASSERT_EQ(sqlite3_open((stave_ / "loop.sqlite.partial").c_str(), &kept), SQLITE_OK);
  sqlite3_stmt* slices = nullptr;
  ASSERT_EQ(sqlite3_prepare_v2(kept, "SELECT count(*) FROM slices", -1, &slices, nullptr), SQLITE_OK);
  ASSERT_EQ(sqlite3_step(slices), SQLITE_ROW);
  EXPECT_GT(sqlite3_column_int64(slices, 0), 0);
  sqlite3_finalize(slices);
  sqlite3_close(kept);
}

// As early as it hears of it, so that there is not much to read.
TEST_F(Interrupt, ReportReadsWhatIsKept) {
  OnTerminal sim(stave_, {"sim", "loop.stave", "-o", "loop.sqlite"});
  sim.let_it_work(std::chrono::milliseconds(50));
  EXPECT_EQ(sim.interrupt().exit, 130);
  const Ran report = stave_({"report", "loop.sqlite.partial", "--json"});
  EXPECT_EQ(report.exit, 0) << report.err;
  const Json json(report.out);
  EXPECT_EQ(json.at("$.problems[0].code"), "STV0712");
  EXPECT_EQ(json.at("$.run.label"), "predicted");
}

TEST_F(Interrupt, SimLeavesTheOldFile) {
  ASSERT_EQ(stave_({"sim", "examples/ring_matmul_2.stave", "-o", "run.sqlite"}).exit, 0);
  const std::string before = file_text(stave_ / "run.sqlite");
  OnTerminal sim(stave_, {"sim", "loop.stave", "-o", "run.sqlite"});
  EXPECT_TRUE(sim.shows("predicting: "));
  EXPECT_EQ(sim.interrupt().exit, 130);
  EXPECT_EQ(file_text(stave_ / "run.sqlite"), before);
}

TEST_F(Interrupt, RunKeepsNothing) {
  for (const char* file : {"loop.stave", "gemm.stave"}) {
    const std::string output = file == std::string("loop.stave") ? "b" : "c";
    OnTerminal run(stave_, {"run", file, "--input", "a=zeros", "--save", output + "=out.npy"});
    EXPECT_TRUE(run.shows("running: ")) << file;
    const Ran ran = run.interrupt();
    EXPECT_EQ(ran.exit, 130) << file;
    EXPECT_NE(ran.err.find("error: interrupted: nothing is kept"), std::string::npos) << ran.err;
    EXPECT_NE(ran.err.find("[STV0950]"), std::string::npos) << ran.err;
    EXPECT_FALSE(fs::exists(stave_ / "out.npy"));
    EXPECT_FALSE(fs::exists(stave_ / "out.npy.partial"));
  }
}

TEST_F(Interrupt, WithoutATerminalOrWithQuietThereIsNoLine) {
  for (const bool terminal : {true, false})
    for (const char* verb : {"sim", "run"}) {
      std::vector<std::string> arguments{verb, "loop.stave"};
      if (terminal) arguments.emplace_back("--quiet");
      OnTerminal job(stave_, arguments, terminal);
      job.let_it_work();
      const Ran ran = job.interrupt();
      EXPECT_EQ(ran.exit, 130) << verb;
      EXPECT_TRUE(ran.err.starts_with("error: interrupted: nothing is kept")) << ran.err;
    }
}

TEST_F(Interrupt, WithJsonItIsADocument) {
  OnTerminal sim(stave_, {"sim", "loop.stave", "--json"}, false);
  sim.let_it_work();
  const Ran ran = sim.interrupt();
  EXPECT_EQ(ran.exit, 130);
  EXPECT_EQ(ran.err, "");
  const Json json(ran.out);
  EXPECT_EQ(json.at("$.schema"), "stave.error/1");
  EXPECT_EQ(json.at("$.problems[0].code"), "STV0853");
}

TEST(ProgressText, SaysWhatIsKnown) {
  Progress progress;
  progress.begin("storing");
  EXPECT_EQ(cli::progress_text(progress), "storing");
  progress.begin("predicting", 1000);
  progress.ran(412);
  EXPECT_EQ(cli::progress_text(progress), "predicting: 41 %, 412 commands");
  progress.begin("running");
  progress.ran();
  EXPECT_EQ(cli::progress_text(progress), "running: 1 commands");
}

}  // namespace
}  // namespace stave
