// `stave import` as a user runs it: exit codes, what is told, and what a kill leaves.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <thread>

#include "profiles/store_reader.h"
#include "tests/cli/program.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

class ImportVerb : public ::testing::Test {
 protected:
  void write_executable(const std::string& path, const std::string& text) {
    write_text(path, text);
    fs::permissions(path, fs::perms::owner_all);
  }
  Program stave_;
};

TEST_F(ImportVerb, TellsWhatItReadAndIsReported) {
  const Ran ran = stave_({"import", "examples/trace.json", "-o", "run.sqlite"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_NE(ran.out.find("kernels              2"), std::string::npos) << ran.out;
  const Ran report = stave_({"report", "run.sqlite", "--json"});
  EXPECT_EQ(report.exit, 0);
  EXPECT_EQ(Json(report.out).at("$.run.kind"), "imported");
  EXPECT_EQ(Json(report.out).at("$.overlap_pct"), "66.2983425414365");
}

TEST_F(ImportVerb, EqualInputGivesEqualBytes) {
  for (const char* name : {"a.sqlite", "b.sqlite"})
    ASSERT_EQ(stave_({"import", "examples/trace.json", "-o", name}).exit, 0);
  EXPECT_EQ(file_text(stave_ / "a.sqlite"), file_text(stave_ / "b.sqlite"));
}

TEST_F(ImportVerb, LostDataIsAFindingOnlyIfStrict) {
  std::string text = file_text(STAVE_SOURCE_DIR "/examples/trace.json");
  write_text(stave_ / "cut.json", text.substr(0, text.rfind("\"Seq\"")));
  const Ran lenient = stave_({"import", "cut.json", "-o", "run.sqlite"});
  EXPECT_EQ(lenient.exit, 0);
  EXPECT_NE(lenient.err.find("cut.json: warning: the file ends too early"), std::string::npos) << lenient.err;
  EXPECT_NE(lenient.err.find("[STV0741]"), std::string::npos);
  EXPECT_EQ(stave_({"import", "cut.json", "-o", "run.sqlite", "--strict"}).exit, 1);
  EXPECT_EQ(stave_({"import", "examples/trace.json", "-o", "run.sqlite", "--strict"}).exit, 0);
  const Json json(stave_({"import", "cut.json", "-o", "run.sqlite", "--json"}).out);
  EXPECT_EQ(json.at("$.data_lost"), "1");
  EXPECT_EQ(json.at("$.problems[0].code"), "STV0741");
  EXPECT_EQ(json.at("$.problems[0].byte"), std::to_string(text.rfind("{\"ph\"")));
}

// Keys of JSON have no order; what tells the format may come late, and a reader may give less than was asked for.
TEST_F(ImportVerb, WhatTellsTheFormatMayComeAfterOtherKeys) {
  const std::string trace = file_text(STAVE_SOURCE_DIR "/examples/trace.json");
  write_text(stave_ / "late.json",
             "{\"about\": \"" + std::string(20'000, 'x') + "\", " + trace.substr(trace.find('{') + 1));
  const Ran ran = stave_({"import", "late.json", "-o", "run.sqlite"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("kernels              2"), std::string::npos) << ran.out;
}

TEST_F(ImportVerb, UnknownFormatsListTheKnownOnes) {
  const Ran ran = stave_({"import", "examples/ring_matmul_2.stave", "-o", "run.sqlite"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("[STV0730]"), std::string::npos) << ran.err;
  EXPECT_NE(ran.err.find("kineto"), std::string::npos);
  EXPECT_NE(ran.err.find("nsys"), std::string::npos);
  EXPECT_FALSE(fs::exists(stave_ / "run.sqlite"));
  EXPECT_FALSE(fs::exists(stave_ / "run.sqlite.partial"));
}

TEST_F(ImportVerb, OutputsAreNotReplacedUnasked) {
  write_text(stave_ / "mine.txt", "mine");
  EXPECT_EQ(stave_({"import", "examples/trace.json", "-o", "mine.txt"}).exit, 2);
  EXPECT_EQ(file_text(stave_ / "mine.txt"), "mine");
  EXPECT_EQ(stave_({"import", "examples/trace.json", "-o", "examples/trace.json", "--yes"}).exit, 2);
  EXPECT_EQ(stave_({"import", "examples/trace.json", "-o", "no/folder/run.sqlite"}).exit, 3);
  EXPECT_EQ(stave_({"import", "examples/trace.json", "-o", "mine.txt", "--yes"}).exit, 0);
}

TEST_F(ImportVerb, AFullDiskIsTold) {
  const Ran ran = stave_({"import", "examples/trace.json", "-o", "run.sqlite"}, "ulimit -f 8; trap '' XFSZ;");
  EXPECT_EQ(ran.exit, 3) << ran.err;
  EXPECT_NE(ran.err.find("[STV0701]"), std::string::npos) << ran.err;
  EXPECT_FALSE(fs::exists(stave_ / "run.sqlite"));
}

TEST_F(ImportVerb, NsightsReportsAreExportedWithoutAShell) {
  const std::string report = "it's $(touch owned).nsys-rep";
  write_text(stave_ / report, "report");
  const Ran told = stave_({"import", report, "-o", "run.sqlite"});
  EXPECT_EQ(told.exit, 2);
  EXPECT_NE(told.err.find("nsys export --type sqlite"), std::string::npos) << told.err;
  // An nsys of our own: it writes down its arguments and makes a database.
  write_executable(stave_ / "nsys",
                   "#!/bin/sh\nfor a in \"$@\"; do echo \"$a\" >> arguments; done\n"
                   "while [ \"$1\" != --output ]; do shift; done\n"
                   "sqlite3 \"$2\" \"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId); "
                   "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(5, 9, 0, 7)\"\n");
  const Ran ran = stave_({"import", report, "-o", "run.sqlite", "--with-nsys"}, "PATH=.:$PATH;");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(file_text(stave_ / "arguments").find(report + "\n"), std::string::npos);
  EXPECT_FALSE(fs::exists(stave_ / "owned"));
  write_executable(stave_ / "nsys", "#!/bin/sh\nexit 4\n");
  const Ran failed = stave_({"import", report, "-o", "run.sqlite", "--with-nsys"}, "PATH=.:$PATH;");
  EXPECT_EQ(failed.exit, 2);
  EXPECT_NE(failed.err.find("[STV0735]"), std::string::npos) << failed.err;
}

// Sends a signal to imports of one large trace at random moments.
class ImportKilled : public ImportVerb {
 protected:
  static constexpr std::size_t events = 90000;

  void SetUp() override {
    std::ofstream out(stave_ / "big.json");
    out << "{\"traceEvents\": [";
    for (std::size_t i = 0; i < events; ++i)
      out << (i > 0 ? ",\n" : "") << R"({"ph": "X", "cat": "kernel", "name": "k)" << i % 50
          << R"(", "pid": 0, "tid": 7, "ts": )" << 10 * i << R"(, "dur": )" << i % 9
          << R"(, "args": {"device": 0, "stream": 7, "correlation": )" << i << "}}";
    out << "]}";
    out.close();
    const auto started = std::chrono::steady_clock::now();
    ASSERT_EQ(stave_({"import", "big.json", "-o", "run.sqlite", "--quiet"}).exit, 0);
    whole_ = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started);
  }

  // The wait status of an import that got `signal` after some of its usual time.
  int killed(int signal) {
    fs::remove(output_);
    fs::remove(partial_);
    const std::string input = stave_ / "big.json";
    const pid_t child = ::fork();
    if (child < 0) {  // kill() would reach every process there is
      std::perror("fork");
      std::abort();
    }
    if (child == 0) {
      ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
      ::execl(STAVE_BINARY, "stave", "import", input.c_str(), "-o", output_.c_str(), "--quiet", nullptr);
      ::_exit(127);
    }
    std::this_thread::sleep_for(whole_ * static_cast<int>(random_() % 1000) / 1000);
    ::kill(child, signal);
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return status;
  }

  // How many slices the file has that is there, which are checked to be the
  // trace's first ones in whole batches; none: no tables yet.
  std::optional<std::size_t> slices() {
    const std::string found = fs::exists(output_) ? output_ : partial_;
    if (!fs::exists(found)) return std::nullopt;
    auto store = open_store(found);
    if (!store) {
      EXPECT_EQ(found, partial_);
      const std::string code = store.problems()[0].code;
      EXPECT_TRUE(code == "STV0703" || code == "STV0704" || code == "STV0706") << to_text(store.problems()[0]);
      return std::nullopt;
    }
    if (store->runs().empty()) return std::nullopt;
    const auto timeline = store->load(1);
    if (!timeline) {
      ADD_FAILURE() << to_text(timeline.problems()[0]);
      return std::nullopt;
    }
    const std::size_t n = timeline->slices().size();
    EXPECT_TRUE(n == events || n % 16384 == 0) << n;
    // A kill may come between the end and the name.
    EXPECT_TRUE(store->runs()[0].complete || found == partial_);
    for (std::size_t i = 0; i < n; ++i) {
      const Slice& slice = timeline->slices()[i];
      if (slice.start.count() == static_cast<std::int64_t>(i) * 10'000'000 &&
          timeline->text(slice.name) == "k" + std::to_string(i % 50))
        continue;
      ADD_FAILURE() << "slice " << i;
      break;
    }
    return n;
  }

  std::string output_ = stave_ / "run.sqlite";
  std::string partial_ = output_ + ".partial";
  std::chrono::microseconds whole_{};
  std::mt19937 random_{7};
};

TEST_F(ImportKilled, AKillLeavesWhatWasStored) {
  int opened = 0;
  for (int turn = 0; turn < 50; ++turn) {
    killed(SIGKILL);
    opened += slices().has_value();
  }
  EXPECT_GT(opened, 5);
}

TEST_F(ImportKilled, CtrlCKeepsWhatWasStored) {
  int interrupted = 0;
  for (int turn = 0; turn < 20; ++turn) {
    const int status = killed(SIGINT);
    // Before the program listens, the signal ends it.
    if (!WIFEXITED(status)) continue;
    EXPECT_TRUE(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 130) << WEXITSTATUS(status);
    interrupted += WEXITSTATUS(status) == 130;
    EXPECT_EQ(fs::exists(output_), WEXITSTATUS(status) == 0);
    slices();
  }
  EXPECT_GT(interrupted, 0);
}

}  // namespace
}  // namespace stave
