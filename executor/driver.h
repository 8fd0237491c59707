// What can run a plan. A driver says what it supports, prepares a plan (all
// allocation, compilation and connection happens there), and then runs steps.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/lower/plan.h"

namespace stave {

// An op or a property of a plan that a driver does not take, with the reason in words.
struct Unsupported {
  std::string what;  // "kernel", "kernel without reference"
  std::string reason;
};

struct DriverInfo {
  std::string_view name;
  std::string_view summary;
  std::uint32_t max_ranks = 0;  // that it runs from this process; 0: any number
  std::vector<Mode> modes;
  bool computes = true;  // false: read() gives nothing, since nothing runs
  std::vector<Unsupported> unsupported;
};

struct PrepareOptions {
  // The reference driver's choice among actions that may run now: 0 is round
  // robin, any other number is one pseudo-random order.
  std::uint64_t seed = 0;
  // Of one `while`, before the run stops with an error.
  std::int64_t max_iterations = 10'000'000;
  // A driver that cannot see that a step will never end calls it a hang after this.
  std::chrono::milliseconds timeout{60'000};
  // A driver whose communication library does not tell what it waits for adds marks to a captured schedule, which
  // cost time, so that a hang names its command.
  bool name_hangs = false;
  // Gets the commands that ended and what their gemms multiply; a step that is cancelled fails (STV0950).
  Progress* progress = nullptr;
};

// One stream's head that cannot go on.
struct Blocked {
  Rank rank = 0;
  StreamRef stream;
  std::string last_done;       // path of the last command that the stream finished; empty: none
  std::string first_pending;   // path of the command that waits
  Place place;                 // of that command
  std::int64_t iteration = 0;  // executions of it that ended before, in this step
  std::optional<Rank> peer;    // whom it waits for
  std::string reason;          // "rank 1 has not issued its part"
};

// A step that can never end: the first is the one to look at, a collective
// whose peer is missing if there is one.
struct Hang {
  std::vector<Blocked> blocked;
};
std::string to_text(const Hang& hang);
// STV0905, at the first command that waits; a note for each stream that does.
Problem problem_of(const Hang& hang);

struct StepReport {
  std::optional<Hang> hang;                         // none: finished
  std::vector<std::vector<std::int64_t>> executed;  // by rank, then command: how often it ran
  std::vector<Picoseconds> durations;               // by rank, on the device's own clock; empty: not measured
  std::vector<Picoseconds> issue;                   // by rank: time that the host spent to issue; empty: not measured
  std::string text;                                 // what a driver that only prints has to say

  bool finished() const { return !hang; }
};

using StepId = std::uint64_t;
using Deadline = std::chrono::steady_clock::time_point;

// A prepared plan. Buffers keep their contents between steps, but for scratch,
// which is undefined at the start of each.
class Execution {
 public:
  virtual ~Execution() = default;
  // The whole buffer, in its layout; between steps only.
  virtual Result<void> write(Rank rank, BufferId buffer, std::span<const std::byte> bytes) = 0;
  virtual Result<void> read(Rank rank, BufferId buffer, std::span<std::byte> bytes) = 0;
  virtual Result<StepId> submit() = 0;  // returns at once where the driver can
  virtual Result<StepReport> wait(StepId step, Deadline deadline) = 0;
  virtual void abort() noexcept = 0;  // final
};

class Driver {
 public:
  virtual ~Driver() = default;
  virtual DriverInfo info() const = 0;
  // May block. The plan must outlive the execution.
  virtual Result<std::unique_ptr<Execution>> prepare(const Plan& plan, const PrepareOptions& options) = 0;
};

// submit() and wait() without a deadline.
Result<StepReport> run_step(Execution& execution);

}  // namespace stave
