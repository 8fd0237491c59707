// The parent survives whatever its GPU process does.
#include "workbench/gpu_process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

class GpuProcess : public testing::Test {
 protected:
  // A program that does this in a shell; the pipe is descriptor 3 there.
  std::string program(const std::string& body) {
    const std::string path = folder_ / "child";
    EXPECT_TRUE(write_file(path, "#!/bin/sh\n" + body + "\n"));
    ::chmod(path.c_str(), 0755);
    return path;
  }
  std::string code_of(const std::string& body, GpuRequest request = {}) {
    const Result<GpuOutcome> outcome = run_gpu_process(program(body), request, nullptr, nullptr);
    return outcome ? "" : outcome.problems()[0].code;
  }

  TempFolder folder_;
};

TEST_F(GpuProcess, AChildThatEndsWithoutAnAnswer) { EXPECT_EQ(code_of("exit 5"), "STV0941"); }

TEST_F(GpuProcess, AChildThatASignalEnds) { EXPECT_EQ(code_of("cat >/dev/null; kill -SEGV $$"), "STV0943"); }

TEST_F(GpuProcess, AChildThatTalksNonsense) {
  EXPECT_EQ(code_of("cat >/dev/null; printf 'cut' >&3"), "STV0944");
  // Kind 1000, no bytes.
  EXPECT_EQ(code_of("cat >/dev/null; printf '\\350\\003\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&3; sleep 1"), "STV0941");
}

TEST_F(GpuProcess, ACancelledRunEndsItsChild) {
  const std::atomic<bool> cancel{true};
  Progress progress;
  progress.cancel = &cancel;
  const Result<GpuOutcome> outcome = run_gpu_process(program("cat >/dev/null; exec sleep 100"), {}, nullptr, &progress);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.problems()[0].code, "STV0950");
}

TEST_F(GpuProcess, IsNotThere) {
  ::setenv("STAVE_GPU", (folder_ / "nothing").c_str(), 1);
  const Result<std::string> found = find_stave_gpu();
  ::unsetenv("STAVE_GPU");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.problems()[0].code, "STV0940");
}

}  // namespace
}  // namespace stave
