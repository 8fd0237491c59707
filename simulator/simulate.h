// Predicts when everything in a plan happens on a machine: hosts, streams,
// kernels, copies and collectives, in integer picoseconds. The same input gives
// the same bytes on every machine. docs/models.md has each formula and constant.
//
//   TRY(Prediction p, simulate(plan, machine));
//
// Codes: STV0850 unknown collective, STV0851 outcome of a cond, switch or while
// is missing, STV0852 unknown network model, STV0854 more ranks than devices,
// STV0855 an option names a command that does not exist,
// STV0860 (note) a cost was assumed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/lower/plan.h"
#include "core/machine/machine.h"
#include "core/timeline/timeline.h"

namespace stave {

// The host does not issue this command on this rank before `not_before`.
struct HostDelay {
  Rank rank = 0;
  std::string command;  // its path
  Time not_before{};
};

// How often a while runs its body, or which branch a cond (0 then, 1 else) or a switch takes; goes before `cost`.
struct Outcome {
  std::string command;  // its path
  std::int64_t value = 0;
};

struct SimulateOptions {
  std::string_view network_model = "max-min";
  bool observer_cupti = false;                 // launches cost what they cost under a profiler
  std::optional<std::uint64_t> jitter_seed{};  // host calls take up to a tenth longer
  double clock = 1;                            // part of the full clock; products of the tensor cores follow it
  std::uint32_t steps = 1;                     // executions of the schedule, each after the one before
  std::vector<HostDelay> host_delays{};
  std::vector<Outcome> outcomes{};
  bool unhindered = false;       // nothing waits for room or shares: each command takes the least that it can
  bool fold = true;              // simulate one of each set of equal ranks
  bool all_ranks = true;         // rows for every rank, not only for the simulated ones
  bool host_slices = true;       // rows for host calls and the flows from them
  bool counters = false;         // of each device: SMs held, memory and link bandwidth in use
  Progress* progress = nullptr;  // gets the commands that ended, of all ranks; asked every few thousand events
};

// Nothing can go on though work is left. `cycle` closes on itself; without a
// cycle (a partner never comes) it is the chain to what is missing.
struct Deadlock {
  struct WaitFor {
    Rank rank = 0;
    std::string command;    // its path; "" for the host
    std::string waits_for;  // in words
  };
  std::vector<WaitFor> cycle;
  Time time{};

  std::string to_text() const;
};

// What the work of a rank takes from its device, at the clock that was simulated, in microjoules; zeros where
// the machine has no [energy].
struct RankEnergy {
  std::int64_t products_uj = 0;
  std::int64_t transfers_uj = 0;  // of what it sends

  friend bool operator==(const RankEnergy&, const RankEnergy&) = default;
};

struct PredictionSummary {
  Picoseconds makespan{};  // until the last stream is empty
  std::vector<Picoseconds> rank_end;
  std::vector<RankEnergy> rank_energy;
  std::optional<Deadlock> deadlock;
  bool cancelled = false;  // through `progress`: rows and figures are those until then
  Problems notes;
  std::int64_t instances_count = 0;     // commands that ran on a device, all ranks
  std::int64_t extrapolated_count = 0;  // of these, with a cost outside the machine's tables
  std::int64_t assumed_count = 0;       // of these, with a cost that nobody gave
  std::int64_t events_count = 0;
  std::uint32_t simulated_ranks = 0;  // after folding
  // Unhindered: what would be busy longest with all commands of the schedule, and how long.
  Picoseconds busiest{};
  std::string busiest_resource;
  // Equal for two runs in which the same launches had to wait for room.
  std::uint64_t race_signature = 0;
};

struct Prediction {
  Timeline timeline;
  PredictionSummary summary;
};

Result<Prediction> simulate(const Plan& plan, const Machine& machine, const SimulateOptions& options = {});
// The same with the rows going to a sink.
Result<PredictionSummary> simulate(const Plan& plan, const Machine& machine, const SimulateOptions& options,
                                   TimelineSink& sink);

struct NetworkModelName {
  std::string_view name;
  std::string_view summary;
};
std::vector<NetworkModelName> network_model_names();

}  // namespace stave
