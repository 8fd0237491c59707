#include "workbench/demo.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/temp_folder.h"
#include "workbench/doctor.h"
#include "workbench/open_run.h"

namespace stave {
namespace {

TEST(Demo, ChecksRunsPredictsComparesAndStores) {
  TempFolder folder;
  std::string said;
  const Result<void> shown = demo({.output = folder / "demo.sqlite"}, [&](std::string_view text) { said += text; });
  ASSERT_TRUE(shown) << to_text(shown.problems()[0]);
  for (const char* part : {"func @ring_matmul", "1. check: clean, 0 errors", "2. run on the CPU, 2 ranks", "3. predict",
                           "makespan", "4. the same product in other ways", "next: stave report"})
    EXPECT_NE(said.find(part), std::string::npos) << part;
  const Result<OpenedRun> opened = open_run(folder / "demo.sqlite");
  ASSERT_TRUE(opened) << to_text(opened.problems()[0]);
  EXPECT_EQ(opened->label.machine, "h200-x2");
  EXPECT_TRUE(opened->problems.empty());
}

TEST(Demo, FailsWhereItCannotStore) {
  TempFolder folder;
  const Result<void> shown = demo({.output = folder / "none/demo.sqlite"}, [](std::string_view) {});
  ASSERT_FALSE(shown);
  EXPECT_EQ(shown.problems()[0].code, "STV0702");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(Doctor, FindsTheDriversAndTheMachines) {
  std::string all;
  for (const DoctorLine& line : doctor()) all += line.what + "\n";
  for (const char* what : {"driver reference\n", "machine h200-x2\n", "CUDA driver\n", "disk\n"})
    EXPECT_NE(all.find(what), std::string::npos) << what << " is not in\n" << all;
}

}  // namespace
}  // namespace stave
