#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/machine/machine.h"
#include "core/machine/times.h"

namespace stave {
namespace {

std::set<int> ranks_with_rows(const Machine& machine, const Collective& collective) {
  std::set<int> ranks;
  for (const Table& table : machine.tables)
    if (table.op == "collective" && table.algorithm == collective.algorithm)
      for (const CollectiveRow& row : table.collective)
        if (row.op == collective.op) ranks.insert(row.ranks);
  return ranks;
}

// Collectives of the same rank counts share a line.
void add_collectives(const Machine& machine, std::vector<std::string>& notes) {
  std::vector<std::pair<std::set<int>, std::string>> groups;
  for (const Collective& collective : machine.collectives) {
    std::set<int> ranks = ranks_with_rows(machine, collective);
    if (ranks.empty()) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == ranks; });
    if (same == groups.end())
      groups.emplace_back(std::move(ranks), collective.op);
    else
      same->second += ", " + collective.op;
  }
  for (const auto& [ranks, ops] : groups) {
    int covered = 0;
    for (const int n : ranks) covered += n > 1 && n <= machine.devices();
    const bool all = covered == machine.devices() - 1;
    notes.push_back(fmt::format("{}: rows for {} ranks win over bus_bandwidth{}", ops, fmt::join(ranks, ", "),
                                all ? ", base_latency and step_latency, which are not used"
                                    : ", which is not used; base_latency and step_latency serve other rank counts"));
  }
  const Link* link = machine.device_link();
  if (link && !groups.empty())
    notes.push_back(
        fmt::format("link {}: its bandwidth decides only how much transfers that run together slow each other; the "
                    "time of one alone is its row's or its [[collective]]'s",
                    link->scope));
}

void add_gemms(const Machine& machine, std::vector<std::string>& notes) {
  std::set<std::string> dtypes;
  for (const Table& table : machine.tables) {
    if (table.op != "gemm" || !(table.device == table_device(machine, table.dtype))) continue;
    if (!table.gemm.empty()) dtypes.insert(table.dtype);
  }
  if (dtypes.empty()) return;
  notes.push_back(
      fmt::format("gemm {}: a row of the shape wins over the peaks and bandwidths of [device], and between rows these "
                  "only shape the way; without [table.device] the rows are taken as measured on the device as it "
                  "stands in this file",
                  fmt::join(dtypes, ", ")));
}

}  // namespace

std::vector<std::string> table_notes(const Machine& machine) {
  std::vector<std::string> notes;
  add_collectives(machine, notes);
  add_gemms(machine, notes);
  return notes;
}

}  // namespace stave
