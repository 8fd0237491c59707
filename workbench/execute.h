// Runs a schedule with a driver: inputs in, one step, outputs out and compared.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/ir/interpret/compare.h"
#include "core/lower/plan.h"
#include "core/timeline/run_info.h"
#include "core/timeline/sink.h"
#include "executor/gpu_protocol.h"
#include "workbench/schedule.h"

namespace stave {

struct ExecuteOptions {
  ParamValues params{};
  Mode mode = Mode::Eager;
  std::string backend = "reference";
  std::vector<std::string> inputs{};   // "a=random:7"; a parameter without one gets random:0
  std::vector<std::string> saves{};    // "c=c.npy": shape [ranks, ...]
  std::vector<std::string> expects{};  // "c=FILE.npy": [ranks, ...], or the same on all ranks
  bool replace = false;                // files of any kind by `saves`
  std::uint64_t seed = 0;              // of the reference driver's order
  // Backend cuda only.
  std::uint32_t ranks_per_device = 0;  // 0: as few as the devices allow
  std::uint32_t warmup = 0;            // steps before those that count
  std::uint32_t repeat = 1;
  std::chrono::milliseconds duration{0};      // steps count until then, and at least `repeat`
  std::chrono::milliseconds timeout{60'000};  // of a step, after which it is called a hang
  Profile profile = Profile::Full;            // if it records
  bool flush_l2 = false;                      // before each step
  bool name_hangs = false;                    // PrepareOptions
  TimelineSink* timeline = nullptr;           // gets what the recorder saw
  bool record = false;                        // without `timeline`, too: another process of the run stores it
  Progress* progress = nullptr;
  std::function<void(const Problem&)> note{};  // gets what is worth knowing before it starts (STV0951)
};

// An out or inout parameter of one rank after the step.
struct Output {
  std::string parameter;
  Rank rank = 0;
  Dtype dtype = Dtype::F32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;
};

struct Expectation {
  std::string parameter;
  Rank rank = 0;
  BufferComparison comparison;
};

struct Executed {
  std::size_t ranks = 0;
  StepReport report;
  std::string gpu;                        // "2 x NVIDIA H200"; backend cuda only
  std::vector<Picoseconds> durations;     // of each step that counts, the slowest rank's; empty: not measured
  std::vector<Picoseconds> issue;         // of each step that counts: host time to issue it, the slowest rank's
  std::vector<Output> outputs;            // by rank, then in the order of the parameters
  std::vector<Expectation> expectations;  // by rank within each --expect

  bool as_expected() const;
};

// Failing: it breaks a rule, an input does not fit, the driver refuses, or it is
// cancelled before all commands ran (STV0950): then no file is written. A hang
// and a difference are results. Codes STV0902-0909; backend cuda: STV0940-0944 and the
// driver's own.
Result<Executed> execute(const Schedule& schedule, const ExecuteOptions& options);

// What a run file says of a run on GPUs: label "measured".
RunInfo measured_run(const Schedule& schedule, const ExecuteOptions& options);

// Outputs of few elements in full, the first ones of others; then what was compared.
std::string execute_text(const Executed& executed);
// schema stave.run/1.
std::string execute_json(const Schedule& schedule, const ExecuteOptions& options, const Executed& executed);

}  // namespace stave
