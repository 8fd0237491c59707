// What a verb may replace: only what it made itself, or anything with --yes, and never what it reads.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/cli/program.h"

namespace stave {
namespace {

constexpr const char* two_ranks_that_hang =
    "stave 1\nmesh x = 2\nfunc @f(%a: in f32[4], %b: out f32[4]) {\n"
    "  send %a (axis = x, peer = (axis_index(x) + 1) mod 2)\n"
    "  recv -> %b (axis = x, peer = (axis_index(x) + 1) mod 2)\n}\n";

struct WrittenFile {
  const char* name;  // of the file
  std::vector<std::string> verb;
  std::string wrong_ending;
  std::string code = "STV0975";
};

std::ostream& operator<<(std::ostream& out, const WrittenFile& file) { return out << file.name; }

class Outputs : public ::testing::TestWithParam<WrittenFile> {};

TEST_P(Outputs, AreReplacedIfOfTheSameKindOrWithYes) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  write_text(stave / "hang.stave", two_ranks_that_hang);
  const auto with = [&](const std::string& name) {
    std::vector<std::string> arguments = GetParam().verb;
    arguments.back() += name;
    return arguments;
  };
  const std::string name = GetParam().name;
  const auto allowed = [](const Ran& ran) { return ran.exit < 2; };
  EXPECT_TRUE(allowed(stave(with(name))));
  const std::string written = file_text(stave / name);
  ASSERT_NE(written, "");
  EXPECT_TRUE(allowed(stave(with(name)))) << "its own is replaced";

  for (const char* foreign : {"precious", "", "<!DOCTYPE html><title>mine</title>", "<svg xmlns='x'/>", "{}"}) {
    write_text(stave / name, foreign);
    const Ran refused = stave(with(name));
    EXPECT_EQ(refused.exit, 2) << foreign;
    EXPECT_NE(refused.err.find("[" + GetParam().code + "]"), std::string::npos) << refused.err;
    EXPECT_EQ(file_text(stave / name), foreign);
  }
  std::vector<std::string> forced = with(name);
  forced.emplace_back("--yes");
  EXPECT_TRUE(allowed(stave(forced)));
  EXPECT_NE(file_text(stave / name), "{}");

  if (GetParam().wrong_ending.empty()) return;
  std::vector<std::string> wrong = with(GetParam().wrong_ending);
  wrong.emplace_back("--yes");
  const Ran ran = stave(wrong);
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("[STV0930]"), std::string::npos) << ran.err;
  EXPECT_FALSE(std::filesystem::exists(stave / GetParam().wrong_ending));
}

INSTANTIATE_TEST_SUITE_P(
    OfEachKind, Outputs,
    ::testing::Values(WrittenFile{"page.html", {"report", "ring.sqlite", "--html", ""}, "page.txt"},
                      WrittenFile{"both.html", {"compare", "ring.sqlite", "ring.sqlite", "--html", ""}, "mine.stave"},
                      WrittenFile{"why.html", {"check", "hang.stave", "--explain", ""}, "why.png"},
                      WrittenFile{"why.svg", {"check", "hang.stave", "--explain", ""}, "why.stave"},
                      WrittenFile{"all.sarif", {"check", "hang.stave", "--sarif", ""}, "all.txt"},
                      WrittenFile{"c.npy",
                                  {"run", "examples/ring_matmul_2.stave", "--param", "m=4", "--param", "k=4", "--param",
                                   "n=4", "--save", "c="},
                                  ""},
                      WrittenFile{"new.run", {"sim", "examples/all_reduce.stave", "-o", ""}, "", "STV0913"},
                      WrittenFile{"trace.run", {"import", "examples/trace.json", "-o", ""}, "", "STV0913"}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

TEST(OutputNames, WhatIsReadIsNeverReplaced) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "run.html"}).exit, 0);
  const std::string run = file_text(stave / "run.html");
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"report", "run.html"}, {"compare", "run.html", "run.html"}}) {
    std::vector<std::string> arguments = verb;
    arguments.insert(arguments.end(), {"--html", "run.html", "--yes"});
    const Ran ran = stave(arguments);
    EXPECT_EQ(ran.exit, 2);
    EXPECT_NE(ran.err.find("[STV0975]"), std::string::npos) << ran.err;
    EXPECT_EQ(file_text(stave / "run.html"), run);
  }
  write_text(stave / "a.stave", "stave 1\nfunc @f(%a: in f32[4], %b: out f32[4]) {\n  copy %a -> %b\n}\n");
  EXPECT_EQ(stave({"sim", "a.stave", "-o", "a.stave", "--yes"}).exit, 2);
  EXPECT_TRUE(file_text(stave / "a.stave").starts_with("stave 1"));
}

// Refused before a GPU is looked for.
TEST(OutputNames, ARunOnAGpuReplacesNoOtherFile) {
  const Program stave;
  write_text(stave / "precious.txt", "precious");
  const Ran ran = stave({"run", "examples/all_reduce.stave", "--backend", "cuda", "-o", "precious.txt"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("[STV0913]"), std::string::npos) << ran.err;
  EXPECT_EQ(file_text(stave / "precious.txt"), "precious");
}

TEST(Outputs, ADeviceOrPipeIsNeverReplacedByAFile) {
  const Program stave;
  ASSERT_EQ(stave({"sim", "examples/ring_matmul_2.stave", "-o", "ring.sqlite"}).exit, 0);
  const std::string pipe = stave / "pipe.json";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"export", "ring.sqlite", "-o", "pipe.json", "--yes"},
        std::vector<std::string>{"scrub", "ring.sqlite", "-o", "pipe.json", "--yes"},
        std::vector<std::string>{"sim", "examples/ring_matmul_2.stave", "-o", "pipe.json", "--yes"}}) {
    const Ran ran = stave(verb);
    EXPECT_GE(ran.exit, 2) << verb[0];
    EXPECT_NE(ran.err.find("STV0701"), std::string::npos) << verb[0] << ": " << ran.err;
    EXPECT_TRUE(std::filesystem::is_fifo(pipe)) << verb[0];
  }
  const Ran import = stave({"import", "pipe.json", "-o", "run.sqlite"});
  EXPECT_EQ(import.exit, 2);
  EXPECT_NE(import.err.find("it is a pipe"), std::string::npos) << import.err;
}

}  // namespace
}  // namespace stave
