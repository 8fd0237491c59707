// What a command asks of a machine: a demand, never a duration. How long it
// takes follows from who else is there. Formulas and constants: docs/models.md.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/result.h"
#include "core/ir/expanded.h"
#include "core/machine/machine.h"
#include "core/machine/times.h"
#include "core/timeline/family.h"
#include "simulator/engine.h"

namespace stave::simulator {

// Where a command runs: not on the device at all, on SMs, or on a copy engine.
enum class Where : std::uint8_t { Nowhere, Sms, CopyEngine };

enum class Resource : std::uint8_t { Memory, L2, Power, LinkOut, LinkIn, PcieOut, PcieIn };

struct ResourcePart {
  Resource resource = Resource::Memory;
  double fraction = 0;  // of its capacity, while the command runs alone at full speed
};

// Which host call issues it, and so what the call costs.
enum class HostCall : std::uint8_t { Kernel, Gemm, HostCopy, DeviceCopy, Memset, Collective };

struct Demand {
  Where where = Where::Nowhere;
  GridKind kind = GridKind::OnePerTile;
  HostCall call = HostCall::Kernel;
  Family family = Family::Other;
  std::int64_t tiles = 1;
  std::int64_t ctas = 1;
  std::int64_t cluster = 1;
  std::int64_t slots = 1;  // CTAs that are resident when it runs alone
  Footprint footprint;
  double unit_cap = 1;  // the most that one CTA does, as a multiple of its part of full speed
  Picoseconds latency{0};
  Picoseconds time{0};  // alone, `latency` not included
  std::vector<ResourcePart> uses;
  std::string_view rival;  // its name in the machine's [[beside]]; "" for none
  std::string source;
  bool extrapolated = false;
  std::int64_t energy_uj = 0;  // microjoules: of a product, or of what a rank sends
  bool assumed = false;        // a default stands in for a cost that nobody gave

  // Of one tile, so that the command takes `time` alone.
  Work tile_work() const;
};

// Times of products by shape: a schedule has few, and each looks at every row of a table.
class GemmTimes {
 public:
  explicit GemmTimes(const Machine& machine) : machine_(machine) {}

  const TimeEstimate& of(Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count);

 private:
  const Machine& machine_;
  std::map<std::tuple<Dtype, std::int64_t, std::int64_t, std::int64_t, int>, TimeEstimate> known_;
};

struct DemandOf {
  const Machine& machine;
  GemmTimes& gemm_times;
  const Expanded& expanded;
  const Command& command;
  double clock = 1;            // part of the full one
  std::size_t ranks = 1;       // collectives: of the group
  bool crosses_nodes = false;  // collectives: members on several nodes
};

// Codes STV0850 (a collective that the machine does not know).
Result<Demand> demand_of(const DemandOf& context);

// As collective_time and the machine file name it.
std::string_view collective_name(const Payload& payload);
// CTAs that one SM of this device holds.
std::int64_t slots_of(const Device& device, const Footprint& footprint);
SmShape sm_shape(const Device& device);

}  // namespace stave::simulator
