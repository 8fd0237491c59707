// That tables win is what the notes say, and what the times do.
#include <gtest/gtest.h>

#include "core/machine/machine.h"
#include "core/machine/times.h"

namespace stave {
namespace {

Machine machine_of(const std::string& name) {
  Result<Machine> machine = load_machine(STAVE_SOURCE_DIR "/machines/" + name + ".toml");
  EXPECT_TRUE(machine);
  return *std::move(machine);
}

std::string notes_of(const Machine& machine) {
  std::string all;
  for (const std::string& note : table_notes(machine)) all += note + "\n";
  return all;
}

// As if every formula number of the file were ten times as fast.
Machine edited(Machine machine) {
  for (Link& link : machine.links) link.bandwidth_bytes_per_s.value *= 10;
  machine.links_in_file = machine.links;
  for (Collective& collective : machine.collectives) {
    collective.bus_bandwidth_bytes_per_s.value *= 10;
    collective.base_latency_ps.value /= 10;
    collective.step_latency_ps.value /= 10;
  }
  return machine;
}

TEST(TableNotes, NameTheKeysThatRowsReplace) {
  const Machine machine = machine_of("h200-x2");
  const std::string notes = notes_of(machine);
  EXPECT_NE(notes.find("all_reduce"), std::string::npos) << notes;
  EXPECT_NE(notes.find("win over bus_bandwidth, base_latency and step_latency, which are not used"), std::string::npos)
      << notes;
  EXPECT_NE(notes.find("link peer: its bandwidth decides only"), std::string::npos) << notes;
  EXPECT_NE(notes.find("gemm bf16: a row of the shape wins"), std::string::npos) << notes;
  EXPECT_NE(summary(machine).find(notes.substr(0, notes.find('\n'))), std::string::npos);
  for (const char* op : {"all_reduce", "all_gather", "collective_permute"})
    EXPECT_EQ(collective_time(machine, op, 2, Bytes{1 << 24})->time(),
              collective_time(edited(machine), op, 2, Bytes{1 << 24})->time())
        << op;
}

TEST(TableNotes, NameWhatServesOtherRankCounts) {
  const Machine machine = machine_of("h200-x8");
  const std::string notes = notes_of(machine);
  EXPECT_NE(notes.find("bus_bandwidth, which is not used; base_latency and step_latency serve other rank counts"),
            std::string::npos)
      << notes;
  EXPECT_NE(collective_time(machine, "all_reduce", 6, Bytes{1 << 24})->time(),
            collective_time(edited(machine), "all_reduce", 6, Bytes{1 << 24})->time());
  Machine without = machine;
  without.tables.clear();
  EXPECT_TRUE(table_notes(without).empty());
}

TEST(TableNotes, AreSilentAboutGemmsOfAnotherDevice) {
  Machine machine = machine_of("h200-x2");
  for (Table& table : machine.tables) table.device.flops_per_s /= 2;
  EXPECT_EQ(notes_of(machine).find("gemm"), std::string::npos);
}

}  // namespace
}  // namespace stave
