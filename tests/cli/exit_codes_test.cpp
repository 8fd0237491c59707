// The exit codes of the contract, and with --json one document for each of them.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

constexpr const char* good = "stave 1\nfunc @f(%a: in f32[4], %b: out f32[4]) {\n  copy %a -> %b\n}\n";
constexpr const char* broken_rule = "stave 1\nfunc @f(%a: in f32[4], %b: out f32[5]) {\n  copy %a -> %b\n}\n";
constexpr const char* no_text = "stave 1\nfunc f(\n";
constexpr const char* deadlock =
    "stave 1\nmesh x = 2\n"
    "func @first(%a: inout f32[2]) {\n  send %a (axis = x, peer = 1)\n}\n"
    "func @second(%a: inout f32[2]) {\n  map %a -> %a (f = |v| v + 1.0)\n}\n"
    "entry @first on 0\nentry @second on 1\n";

class ExitCodes : public ::testing::Test {
 protected:
  ExitCodes() {
    write_text(stave_ / "good.stave", good);
    write_text(stave_ / "broken.stave", broken_rule);
    write_text(stave_ / "no_text.stave", no_text);
    write_text(stave_ / "deadlock.stave", deadlock);
  }

  // With --json on 2 and 3: one document of stave.error/1 that holds `code`. Without: the code on stderr.
  void expect_failure(const std::vector<std::string>& arguments, int exit, const std::string& code) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    const Ran plain = stave_(arguments);
    EXPECT_EQ(plain.exit, exit) << plain.err;
    EXPECT_EQ(plain.out, "");
    EXPECT_NE(plain.err.find("[" + code + "]"), std::string::npos) << plain.err;
    if (arguments.empty() || !takes_json(arguments[0])) return;
    std::vector<std::string> with_json = arguments;
    with_json.push_back("--json");
    const Ran ran = stave_(with_json);
    EXPECT_EQ(ran.exit, exit);
    const Json json(ran.out);
    ASSERT_TRUE(json.valid()) << ran.out;
    EXPECT_EQ(json.at("$.schema"), "stave.error/1");
    EXPECT_EQ(json.at("$.problems[0].code"), code);
    EXPECT_EQ(json.at("$.problems[0].severity"), "error");
    EXPECT_EQ(ran.err, "");
  }

  void expect_success(const std::vector<std::string>& arguments) {
    const Ran ran = stave_(arguments);
    EXPECT_EQ(ran.exit, 0) << ::testing::PrintToString(arguments) << ran.err;
  }

  // Exit code and JSON schema of a document that is a result, not an error.
  void expect_result(std::vector<std::string> arguments, int exit, const std::string& schema) {
    SCOPED_TRACE(::testing::PrintToString(arguments));
    EXPECT_EQ(stave_(arguments).exit, exit);
    arguments.push_back("--json");
    const Ran ran = stave_(arguments);
    EXPECT_EQ(ran.exit, exit) << ran.err;
    const Json json(ran.out);
    ASSERT_TRUE(json.valid()) << ran.out;
    EXPECT_EQ(json.at("$.schema"), schema);
  }

  static bool takes_json(const std::string& verb) {
    return verb == "check" || verb == "run" || verb == "sim" || verb == "report";
  }

  Program stave_;
};

TEST_F(ExitCodes, Check) {
  expect_result({"check", "good.stave"}, 0, "stave.check/1");
  expect_result({"check", "good.stave", "--strict"}, 0, "stave.check/1");
  expect_result({"check", "broken.stave"}, 1, "stave.check/1");
  expect_result({"check", "good.stave", "--param", "n=1"}, 1, "stave.check/1");
  expect_failure({"check", "no_text.stave"}, 2, "STV0106");
  expect_failure({"check", "missing.stave"}, 2, "STV0001");
  expect_failure({"check", "examples"}, 2, "STV0001");
  expect_failure({"check", "good.stave", "--frobnicate"}, 2, "STV0901");
  expect_failure({"check", "good.stave", "--param", "n"}, 2, "STV0901");
  expect_failure({"check", "good.stave", "--mode", "fast"}, 2, "STV0901");
  expect_failure({"check"}, 2, "STV0901");
}

TEST_F(ExitCodes, CheckOfSeveralFilesIsOneDocument) {
  expect_result({"check", "good.stave", "good.stave"}, 0, "stave.checks/1");
  expect_result({"check", "good.stave", "broken.stave"}, 1, "stave.checks/1");
  const Json json(stave_({"check", "good.stave", "broken.stave", "--json"}).out);
  EXPECT_EQ(json.at("$.verdict"), "errors");
  EXPECT_EQ(json.at("$.errors_count"), "1");
  EXPECT_EQ(json.at("$.files[0].file"), "good.stave");
  EXPECT_EQ(json.at("$.files[0].verdict"), "clean");
  EXPECT_EQ(json.at("$.files[1].findings[0].code"), "STV0401");
  const Ran unreadable = stave_({"check", "good.stave", "no_text.stave", "missing.stave", "--json"});
  EXPECT_EQ(unreadable.exit, 2);
  const Json all(unreadable.out);
  EXPECT_EQ(all.at("$.schema"), "stave.checks/1");
  EXPECT_EQ(all.at("$.files[0].verdict"), "clean");
  EXPECT_EQ(all.at("$.files[1].findings[0].code"), "STV0106");
  EXPECT_EQ(all.at("$.files[2].findings[0].code"), "STV0001");
}

TEST_F(ExitCodes, CheckQuietSaysNothingUnlessThereAreErrors) {
  const Ran clean = stave_({"check", "good.stave", "--quiet"});
  EXPECT_EQ(clean.out + clean.err, "");
  EXPECT_NE(stave_({"check", "broken.stave", "--quiet"}).err, "");
}

TEST_F(ExitCodes, Sim) {
  expect_result({"sim", "good.stave"}, 0, "stave.sim/1");
  expect_result({"sim", "deadlock.stave"}, 1, "stave.sim/1");
  expect_failure({"sim", "broken.stave"}, 2, "STV0401");
  expect_failure({"sim", "no_text.stave"}, 2, "STV0106");
  expect_failure({"sim", "missing.stave"}, 2, "STV0001");
  expect_failure({"sim", "good.stave", "--machine", "abacus"}, 2, "STV0608");
  expect_failure({"sim", "good.stave", "--machine", "./missing.toml"}, 2, "STV0001");
  expect_failure({"sim", "good.stave", "--param", "n=1"}, 2, "STV0202");
  expect_failure({"sim", "good.stave", "--network-model", "pigeons"}, 2, "STV0901");
  expect_failure({"sim", "examples/ring_matmul_8.stave", "--machine", "h200-x2"}, 2, "STV0910");
  expect_failure({"sim", "good.stave", "-o", "missing/run.sqlite"}, 3, "STV0702");
  EXPECT_FALSE(fs::exists(stave_ / "missing"));
}

// A copy that does not wait for what it reads is fast.
TEST_F(ExitCodes, SimOfARaceSaysSo) {
  write_text(stave_ / "race.stave",
             "stave 1\nfunc @f(%a: in f32[4], %b: out f32[4], %c: out f32[4]) {\n"
             "  %t = async_start (stream = computation 1) {\n    copy %a -> %b\n  }\n"
             "  copy %b -> %c\n  async_done %t\n}\n");
  const Ran text = stave_({"sim", "race.stave"});
  EXPECT_EQ(text.exit, 0);
  EXPECT_NE(text.out.find("warning: `stave check` finds an error here"), std::string::npos) << text.out << text.err;
  const Json json(stave_({"sim", "race.stave", "--json"}).out);
  EXPECT_EQ(json.at("$.problems[0].code"), "STV0917");
  EXPECT_EQ(json.at("$.problems[0].severity"), "warning");
  EXPECT_NE(json.at("$.makespan_ps"), "NULL");
}

TEST_F(ExitCodes, SimOnAMachineFileSaysWhatItsTablesWinOver) {
  const Json named(stave_({"sim", "good.stave", "--json"}).out);
  EXPECT_EQ(named.at("$.problems"), "[]");
  const std::string path = STAVE_SOURCE_DIR "/machines/h200-x2.toml";
  const Json file(stave_({"sim", "good.stave", "--machine", path, "--json"}).out);
  EXPECT_EQ(file.at("$.problems[0].code"), "STV0918");
  EXPECT_EQ(file.at("$.problems[0].severity"), "note");
  EXPECT_EQ(file.at("$.makespan_ps"), named.at("$.makespan_ps"));
}

// The file that was asked for, not what it is written as.
TEST_F(ExitCodes, AMissingFolderIsNamed) {
  expect_success({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"});
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Ran ran = stave_(arguments);
    EXPECT_EQ(ran.exit, 3) << ran.err;
    return ran.err;
  };
  const std::string words = ": error: cannot write: the folder missing does not exist [STV0702]\n";
  EXPECT_EQ(error({"sim", "good.stave", "-o", "missing/x.sqlite"}), "missing/x.sqlite" + words);
  EXPECT_EQ(error({"export", "ring.sqlite", "-o", "missing/x.svg"}), "missing/x.svg" + words);
  EXPECT_EQ(error({"scrub", "ring.sqlite", "-o", "missing/x.sqlite"}), "missing/x.sqlite" + words);
  EXPECT_EQ(error({"import", "examples/trace.json", "-o", "missing/x.sqlite"}), "missing/x.sqlite" + words);
  EXPECT_EQ(error({"sim", "good.stave", "-o", "good.stave/x.sqlite"}),
            "good.stave/x.sqlite: error: cannot write: good.stave is not a folder [STV0702]\n");
  if (!fs::exists("/proc/self")) return;  // where nobody may write
  EXPECT_TRUE(error({"sim", "good.stave", "-o", "/proc/x.sqlite"}).starts_with("/proc/x.sqlite: error: unable"));
}

TEST_F(ExitCodes, SimThatDeadlocksSaysWhoWaits) {
  const Ran text = stave_({"sim", "deadlock.stave", "--quiet"});
  EXPECT_TRUE(text.err.starts_with("deadlock.stave:4:3: error: deadlock: ")) << text.err;
  EXPECT_NE(text.err.find("deadlock.stave:4:3: note: rank 0 at first/send#1: waits for rank 1"), std::string::npos)
      << text.err;
  EXPECT_EQ(text.out, "");
  const Json json(stave_({"sim", "deadlock.stave", "--json"}).out);
  EXPECT_EQ(json.at("$.problems[0].code"), "STV0890");
  EXPECT_EQ(json.at("$.problems[0].line"), "4");
  EXPECT_EQ(json.at("$.makespan_ps"), "NULL");
}

TEST_F(ExitCodes, Run) {
  expect_result({"run", "good.stave", "--input", "a=iota", "--save", "b=b.npy"}, 0, "stave.run/1");
  expect_result({"run", "good.stave", "--input", "a=iota", "--expect", "b=b.npy"}, 0, "stave.run/1");
  expect_result({"run", "good.stave", "--input", "a=zeros", "--expect", "b=b.npy"}, 1, "stave.run/1");
  expect_failure({"run", "broken.stave"}, 2, "STV0401");
  expect_failure({"run", "no_text.stave"}, 2, "STV0106");
  expect_failure({"run", "missing.stave"}, 2, "STV0001");
  expect_failure({"run", "good.stave", "--input", "c=iota"}, 2, "STV0902");
  expect_failure({"run", "good.stave", "--input", "a=often"}, 2, "STV0680");
  expect_failure({"run", "good.stave", "--input", "a=missing.npy"}, 2, "STV0001");
  expect_failure({"run", "good.stave", "--save", "a=a.npy"}, 2, "STV0902");
  expect_failure({"run", "good.stave", "--expect", "b=missing.npy"}, 2, "STV0001");
  expect_failure({"run", "good.stave", "--backend", "gpu9"}, 2, "STV0904");
  expect_failure({"run", "good.stave", "-o", "run.sqlite"}, 2, "STV0901");
  ::setenv("STAVE_GPU", "/nowhere/stave-gpu", 1);
  expect_failure({"run", "good.stave", "--backend", "cuda", "-o", "run.sqlite"}, 3, "STV0940");
  expect_failure({"run", "good.stave", "--backend", "cuda", "--param", "n=1"}, 2, "STV0202");
  expect_failure({"run", "deadlock.stave", "--backend", "cuda"}, 1, "STV1013");
  expect_failure({"run", "deadlock.stave", "--backend", "cuda", "--no-check"}, 3, "STV0940");
  ::unsetenv("STAVE_GPU");
  EXPECT_FALSE(fs::exists(stave_ / "run.sqlite"));
  expect_failure({"run", "good.stave", "--save", "b=missing/b.npy"}, 3, "STV0002");
  EXPECT_FALSE(fs::exists(stave_ / "missing"));
}

TEST_F(ExitCodes, RunThatDeadlocksSaysWhoWaits) {
  const Ran ran = stave_({"run", "deadlock.stave", "--json"});
  EXPECT_EQ(ran.exit, 1);
  const Json json(ran.out);
  ASSERT_TRUE(json.valid());
  EXPECT_EQ(json.at("$.problems[0].code"), "STV0905");
  EXPECT_EQ(json.at("$.problems[0].line"), "4");
  EXPECT_NE(json.at("$.problems[0].message").find("rank 1 has no recv"), std::string::npos);
  EXPECT_EQ(json.at("$.finished"), "0");
  const Ran text = stave_({"run", "deadlock.stave", "--quiet"});
  EXPECT_EQ(text.exit, 1);
  EXPECT_TRUE(text.err.starts_with("deadlock.stave:4:3: error: deadlock: no rank can go on [STV0905]\n")) << text.err;
  EXPECT_NE(text.err.find("deadlock.stave:4:3: note: rank 0, main: `first/send#1` waits: rank 1 has no recv"),
            std::string::npos)
      << text.err;
}

TEST_F(ExitCodes, AParamThatIsNotInItsListIsNamedAsGiven) {
  write_text(stave_ / "chunks.stave",
             "stave 1\nparam chunks = 2 in [1, 2, 4]\nfunc @f(%a: inout f32[4]) {\n  memzero -> %a\n}\n");
  const Ran ran = stave_({"run", "chunks.stave", "--param", "chunks=9"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(ran.err.starts_with("chunks.stave:2:7: error: --param chunks=9: `chunks` must be one of [1, 2, 4]"))
      << ran.err;
}

TEST_F(ExitCodes, ANanHasNoSign) {
  write_text(stave_ / "nan.stave",
             "stave 1\nfunc @f(%a: in f32[1], %b: out f32[1], %c: out bf16[1]) {\n"
             "  map %a -> %b (f = |v| (v - v) / (v - v))\n  map %a -> %c (f = |v| 0.0 - sqrt(v - 9.0))\n}\n");
  const Ran ran = stave_({"run", "nan.stave", "--save", "b=b.npy"});
  EXPECT_EQ(ran.out, "rank 0  b: f32[1] = nan\nrank 0  c: bf16[1] = nan\n");
  EXPECT_EQ(stave_({"run", "good.stave", "--input", "a=zeros", "--save", "b=zeros.npy"}).exit, 0);
  write_text(stave_ / "nans.stave",
             "stave 1\nfunc @f(%a: in f32[4], %b: out f32[4]) {\n  map %a -> %b (f = |v| 0.0 - sqrt(v - 9.0))\n}\n");
  const Ran compared = stave_({"run", "nans.stave", "--expect", "b=zeros.npy"});
  EXPECT_EQ(compared.exit, 1);
  EXPECT_NE(compared.out.find("expected 0, got nan"), std::string::npos) << compared.out;
  EXPECT_EQ(compared.out.find("-nan"), std::string::npos) << compared.out;
}

// Its loop ends at once: that the trips are fewer than its cost says, nobody knows before.
TEST_F(ExitCodes, RunThatMayBeSlowSaysSo) {
  write_text(stave_ / "slow.stave",
             "stave 1\nparam n = 32\nfunc @f(%a: in f32[n, n], %c: inout f32[n, n]) {\n  %more = scratch bool[]\n"
             "  while %more (cost = {trips = 10000000}) condition {\n    map %a[0][0] -> %more (f = |v| v > 2.0)\n"
             "  } body {\n    gemm %a, %a -> %c\n  }\n}\n");
  const Ran ran = stave_({"run", "slow.stave"});
  EXPECT_EQ(ran.exit, 0);
  EXPECT_TRUE(ran.err.starts_with("slow.stave: note: this is 3.3e+11 multiply-adds; the CPU reference")) << ran.err;
  EXPECT_NE(ran.err.find("for a quick run: --param n=4 [STV0951]"), std::string::npos) << ran.err;
  EXPECT_EQ(stave_({"run", "slow.stave", "--quiet"}).err, "");
  EXPECT_EQ(stave_({"run", "slow.stave", "--backend", "print"}).err, "");
}

TEST_F(ExitCodes, Report) {
  expect_success({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"});
  expect_result({"report", "ring.sqlite"}, 0, "stave.report/1");
  expect_result({"report", "ring.sqlite", "--run", "predicted"}, 0, "stave.report/1");
  expect_result({"report", "ring.sqlite", "--window", "0s..100us"}, 0, "stave.report/1");
  expect_result({"report", "ring.sqlite", "--fail-above", "makespan_ps=1"}, 1, "stave.report/1");
  expect_result({"report", "ring.sqlite", "--fail-above", "makespan_ps=1000000000000"}, 0, "stave.report/1");
  expect_result({"report", "ring.sqlite", "--fail-above", "makespan_ps=1.5us"}, 1, "stave.report/1");
  expect_result({"report", "ring.sqlite", "--fail-above", "makespan_ps=1s"}, 0, "stave.report/1");
  expect_failure({"report", "ring.sqlite", "--fail-above", "beauty=1"}, 2, "STV0901");
  expect_failure({"report", "ring.sqlite", "--fail-above", "makespan_ps=fast"}, 2, "STV0901");
  // What is not known has not passed.
  expect_success({"import", "examples/trace.json", "-o", "trace.sqlite"});
  expect_failure({"report", "trace.sqlite", "--fail-above", "arrival_wait_ps=1s"}, 2, "STV1902");
  expect_failure({"report", "ring.sqlite", "--window", "step:99"}, 2, "STV1900");
  expect_failure({"report", "ring.sqlite", "--run", "measured"}, 2, "STV0709");
  expect_failure({"report", "missing.sqlite"}, 2, "STV0702");
  expect_failure({"report", "good.stave"}, 2, "STV0703");
}

TEST_F(ExitCodes, FailAboveNamesFigureAndLimit) {
  expect_success({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"});
  const Json json(stave_({"report", "ring.sqlite", "--json", "--fail-above", "makespan_ps=1"}).out);
  EXPECT_EQ(json.at("$.problems[0].code"), "STV1901");
  EXPECT_NE(json.at("$.problems[0].message").find(json.at("$.makespan_ps")), std::string::npos);
  const Ran ran = stave_({"report", "ring.sqlite", "--fail-above", "makespan_ps=0.7ms"});
  // The makespan as the report's own line has it.
  const std::size_t at = ran.out.find("makespan  "), end = ran.out.find('\n', at);
  ASSERT_NE(at, std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("makespan_ps is " + ran.out.substr(at + 10, end - at - 10) + " ("), std::string::npos)
      << ran.err;
  EXPECT_NE(ran.err.find(" ps), above the limit of 700.000 us [STV1901]"), std::string::npos) << ran.err;
  // The help has each metric that the error lists.
  const std::string help = stave_({"report", "--help"}).out;
  for (const char* metric : {"makespan_ps", "step_median_ps", "exposed_communication_ps", "arrival_wait_ps"})
    EXPECT_NE(help.find(metric), std::string::npos) << metric;
}

TEST_F(ExitCodes, Fmt) {
  expect_success({"fmt", "good.stave"});
  expect_success({"fmt", "good.stave", "--check"});
  expect_success({"fmt", "good.stave", "--form", "mlir"});
  write_text(stave_ / "ugly.stave", "stave 1\nfunc @f(%a: in f32[4],%b: out f32[4]) {\ncopy %a->%b\n}\n");
  EXPECT_EQ(stave_({"fmt", "ugly.stave", "good.stave", "--check"}).exit, 1);
  expect_success({"fmt", "ugly.stave", "--write"});
  EXPECT_EQ(file_text(stave_ / "ugly.stave"), good);
  expect_failure({"fmt", "no_text.stave"}, 2, "STV0106");
  expect_failure({"fmt", "missing.stave"}, 2, "STV0001");
  expect_failure({"fmt", "good.stave", "--form", "mlir", "--rank", "7"}, 2, "STV0901");
  expect_failure({"fmt", "good.stave", "--form", "poem"}, 2, "STV0901");
}

TEST_F(ExitCodes, FmtLeavesAFileThatDoesNotParse) {
  EXPECT_EQ(stave_({"fmt", "no_text.stave", "--write"}).exit, 2);
  EXPECT_EQ(file_text(stave_ / "no_text.stave"), no_text);
}

TEST_F(ExitCodes, New) {
  expect_success({"new"});
  expect_success({"new", "ring-matmul"});
  expect_success({"check", "ring_matmul.stave"});
  expect_failure({"new", "ring-matmul"}, 2, "STV0002");  // it is there already
  expect_success({"new", "ring-matmul", "--yes"});
  expect_failure({"new", "sonata"}, 2, "STV0901");
  expect_failure({"new", "ring-matmul", "-o", "missing/a.stave"}, 3, "STV0002");
}

TEST_F(ExitCodes, Machines) {
  expect_success({"machines"});
  expect_success({"machines", "h200-x2"});
  expect_failure({"machines", "abacus"}, 2, "STV0608");
  write_text(stave_ / "empty.toml", "");
  expect_failure({"machines", "./empty.toml"}, 2, "STV0601");
}

TEST_F(ExitCodes, DocsAndDemoThatCannotWrite) {
  expect_failure({"docs", "-o", "missing/ir.md"}, 3, "STV0002");
  const Ran demo = stave_({"demo", "-o", "missing/demo.sqlite"});
  EXPECT_EQ(demo.exit, 3) << demo.err;
  EXPECT_FALSE(fs::exists(stave_ / "missing"));
}

TEST_F(ExitCodes, CompletionsAndHelp) {
  expect_success({"completions", "fish"});
  expect_failure({"completions"}, 2, "STV0901");
  expect_failure({"completions", "csh"}, 2, "STV0901");
  expect_success({"help"});
  expect_failure({"help", "symphony"}, 2, "STV0901");
}

// The first option that nobody knows, not the words around it, and the verb's own help.
TEST_F(ExitCodes, AnUnknownOptionOrNameTellsTheNearest) {
  const auto error = [&](const std::vector<std::string>& arguments) {
    const Ran ran = stave_(arguments);
    EXPECT_EQ(ran.exit, 2);
    return ran.err;
  };
  EXPECT_EQ(error({"sim", "good.stave", "--machin", "h200-x2", "--wat"}),
            "error: unknown option --machin; did you mean `--machine`? [STV0901]\nRun `stave sim --help`.\n");
  EXPECT_EQ(error({"sim", "good.stave", "extra", "--frobnicate=3"}),
            "error: unknown option --frobnicate [STV0901]\nRun `stave sim --help`.\n");
  EXPECT_EQ(error({"report", "a.sqlite", "b.sqlite"}),
            "error: 'b.sqlite' is one argument too many [STV0901]\nRun `stave report --help`.\n");
  EXPECT_EQ(error({"--versio"}),
            "error: unknown option --versio; did you mean `--version`? [STV0901]\nRun `stave --help`.\n");
  EXPECT_NE(error({"sim", "good.stave", "--machine", "h200x2"}).find("; did you mean `h200-x2`? [STV0608]"),
            std::string::npos);
  EXPECT_NE(error({"new", "ringmatmul"}).find("; did you mean `ring-matmul`? [STV0901]"), std::string::npos);
}

TEST_F(ExitCodes, AnUnknownVerb) {
  expect_failure({"symphony"}, 2, "STV0901");
  const Json json(stave_({"symphony", "--json"}).out);
  EXPECT_EQ(json.at("$.schema"), "stave.error/1");
}

TEST_F(ExitCodes, AFullDiskBehindStandardOutput) {
  if (!fs::is_character_file("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"sim", "good.stave"}, {"sim", "good.stave", "--json"}, {"docs"}, {"machines"}}) {
    const Ran ran = stave_(arguments, "", "/dev/full");
    EXPECT_EQ(ran.exit, 3) << arguments[0];
    EXPECT_NE(ran.err.find("STV0002"), std::string::npos) << ran.err;
  }
}

// A limit on the size of files stands for a full disk: in the first pages, and in the middle.
TEST_F(ExitCodes, AFullDiskLeavesNothingUnderTheFinalName) {
  for (const char* limit : {"trap '' XFSZ; ulimit -f 8;", "trap '' XFSZ; ulimit -f 128;"}) {
    const Ran sim =
        stave_({"sim", "examples/ring_matmul_8.stave", "--machine", "h200-x8", "-o", "run.sqlite", "--json"}, limit);
    EXPECT_EQ(sim.exit, 3) << sim.err;
    EXPECT_EQ(Json(sim.out).at("$.schema"), "stave.error/1");
    EXPECT_EQ(stave_({"demo", "-o", "demo.sqlite"}, limit).exit, 3);
  }
  const Ran save = stave_({"run", "examples/all_gather.stave", "--save", "whole=whole.npy", "--json"},
                          "trap '' XFSZ; ulimit -f 0;", "/dev/null");
  EXPECT_EQ(save.exit, 3) << save.err;
  for (const char* name : {"run.sqlite", "demo.sqlite", "whole.npy", "whole.npy.partial"})
    EXPECT_FALSE(fs::exists(stave_ / name)) << name;
}

TEST_F(ExitCodes, AFolderIsNotReplacedByARun) {
  fs::create_directory(stave_ / "folder");
  EXPECT_EQ(stave_({"sim", "good.stave", "-o", "folder"}).exit, 3);
  EXPECT_TRUE(fs::is_directory(stave_ / "folder"));
}

TEST_F(ExitCodes, ARunThatFailsLeavesTheOldFile) {
  expect_success({"sim", "good.stave", "-o", "run.sqlite"});
  const std::string before = file_text(stave_ / "run.sqlite");
  EXPECT_EQ(stave_({"sim", "examples/ring_matmul_2.stave", "-o", "run.sqlite"}, "trap '' XFSZ; ulimit -f 8;").exit, 3);
  EXPECT_EQ(stave_({"sim", "broken.stave", "-o", "run.sqlite"}).exit, 2);
  EXPECT_EQ(file_text(stave_ / "run.sqlite"), before);
}

TEST_F(ExitCodes, WhatARunOnAGpuIsAskedFor) {
  for (const auto& option : {std::pair{"--repeat", "0"},
                             {"--timeout", "-1"},
                             {"--duration", "-1"},
                             {"--profile", "all"},
                             {"--profile", "graph"},
                             {"--progress", "often"}})
    expect_failure({"run", "good.stave", "--backend", "cuda", option.first, option.second}, 2, "STV0901");
  EXPECT_NE(stave_({"run", "good.stave", "--repeat", "0"}).err.find("0 is not a number above 0"), std::string::npos);
}

}  // namespace
}  // namespace stave
