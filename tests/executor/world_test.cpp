// Processes of one run find each other and exchange bytes; threads stand for them here.
#include "executor/world.h"

#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "core/base/files.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

using std::chrono::milliseconds;

World::Deadline in(milliseconds time) { return std::chrono::steady_clock::now() + time; }

Result<std::optional<WorldPlace>> place_with(std::map<std::string, std::string> variables) {
  return world_place([&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

TEST(WorldPlace, ComesFromTheVariablesOfALauncher) {
  ASSERT_TRUE(place_with({}));
  EXPECT_FALSE(*place_with({}));
  const auto own = place_with({{"STAVE_RANK", "1"}, {"STAVE_WORLD_SIZE", "2"}, {"STAVE_RENDEZVOUS", "file:/r"}});
  EXPECT_EQ(**own, (WorldPlace{1, 2, 1, "file:/r", ""}));
  const auto mpi = place_with({{"OMPI_COMM_WORLD_RANK", "5"},
                               {"OMPI_COMM_WORLD_SIZE", "8"},
                               {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                               {"PMIX_NAMESPACE", "job 7"}});
  EXPECT_EQ(**mpi, (WorldPlace{5, 8, 1, "tcp://127.0.0.1:29517", "job 7"}));
  const auto slurm = place_with({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_LOCALID", "0"}});
  EXPECT_EQ((*slurm)->processes, 4U);
  // A batch script is no step: one process.
  EXPECT_FALSE(*place_with({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}}));
  EXPECT_FALSE(*place_with({{"STAVE_RANK", "0"}, {"STAVE_WORLD_SIZE", "1"}}));
}

TEST(WorldPlace, RefusesNumbersThatDoNotFit) {
  for (const auto& [rank, size] : std::map<std::string, std::string>{{"2", "2"}, {"x", "2"}, {"0", ""}, {"-1", "2"}})
    EXPECT_EQ(place_with({{"STAVE_RANK", rank}, {"STAVE_WORLD_SIZE", size}}).problems()[0].code, "STV0828") << rank;
  EXPECT_EQ(place_with({{"STAVE_RANK", "0"}}).problems()[0].code, "STV0828");
  EXPECT_EQ(place_with({{"STAVE_WORLD_SIZE", "2"}}).problems()[0].code, "STV0828");
}

// `body` for each process, in threads, all joined over a file.
template <class Body>
void in_world(std::uint32_t processes, Body body) {
  TempFolder folder;
  std::vector<std::thread> threads;
  for (std::uint32_t p = 0; p < processes; ++p)
    threads.emplace_back([&, p] {
      Result<World> world =
          World::join({p, processes, p, "file:" + (folder / "rendezvous"), ""}, in(milliseconds(10000)));
      ASSERT_TRUE(world) << to_text(world.problems()[0]);
      body(*std::move(world));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(World, EveryoneGetsWhatEveryoneGave) {
  in_world(3, [](World world) {
    for (int round = 0; round < 20; ++round) {
      const std::string own(static_cast<std::size_t>(round) * 1000, static_cast<char>('a' + world.process()));
      const auto all = world.all_gather("numbers", own, in(milliseconds(10000)));
      ASSERT_TRUE(all) << to_text(all.problems()[0]);
      ASSERT_EQ(all->size(), 3U);
      for (std::size_t p = 0; p < 3; ++p) EXPECT_EQ((*all)[p], std::string(own.size(), static_cast<char>('a' + p)));
    }
  });
}

TEST(World, DifferentCallsAreAnErrorOfAll) {
  in_world(3, [](World world) {
    const auto all = world.all_gather(world.process() == 1 ? "b" : "a", "", in(milliseconds(10000)));
    ASSERT_FALSE(all);
    EXPECT_EQ(all.problems()[0].code, "STV0829");
  });
}

TEST(World, OneThatEndsIsSeenByTheOthers) {
  in_world(2, [](World world) {
    if (world.process() == 1) return;  // closes
    const World::Deadline limit = in(milliseconds(10000));
    while (!world.broken() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
    EXPECT_TRUE(world.broken());
    const auto all = world.all_gather("a", "", limit);
    ASSERT_FALSE(all);
    EXPECT_EQ(all.problems()[0].code, "STV0828");
    EXPECT_NE(all.problems()[0].message.find("process 1"), std::string::npos);
  });
}

TEST(World, WhoDoesNotComeIsWaitedForOnlySoLong) {
  TempFolder folder;
  const std::string at = "file:" + (folder / "rendezvous");
  EXPECT_EQ(World::join({0, 2, 0, at, ""}, in(milliseconds(50))).problems()[0].code, "STV0828");
  EXPECT_EQ(World::join({1, 2, 1, "file:" + (folder / "other"), ""}, in(milliseconds(50))).problems()[0].code,
            "STV0828");
  EXPECT_EQ(World::join({0, 2, 0, "here", ""}, in(milliseconds(50))).problems()[0].code, "STV0828");
}

// Two of the second kind of process: the first one is told why the other cannot come, and nobody waits for good.
TEST(World, AProcessOfAnotherRunIsRefusedWithTheReason) {
  const std::string at = "tcp://127.0.0.1:29519";
  std::string refused;
  std::thread stranger([&] {
    const auto world = World::join({1, 2, 1, at, "another job"}, in(milliseconds(1500)));
    if (!world) refused = world.problems()[0].message;
  });
  EXPECT_FALSE(World::join({0, 2, 0, at, "this job"}, in(milliseconds(2500))));
  stranger.join();
  EXPECT_NE(refused.find("another run"), std::string::npos) << refused;
}

}  // namespace
}  // namespace stave
