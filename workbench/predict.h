// Predicts a schedule's timeline on a machine, stores it, and says what it shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/report.h"
#include "core/machine/machine.h"
#include "simulator/bound.h"
#include "simulator/power.h"
#include "simulator/simulate.h"
#include "workbench/schedule.h"

namespace stave {

struct PredictOptions {
  ParamValues params{};
  std::string machine = "h200-x2";  // a name or a file
  Mode mode = Mode::Eager;
  bool sustained = false;           // at the clock that a device keeps when the schedule is repeated for long
  std::string label = "predicted";  // the run's name in a file
  SimulateOptions simulate{};
  std::uint32_t jitter = 0;  // further predictions with seeded host jitter; 0: none
};

// What host jitter does to the makespan.
struct JitterResult {
  Picoseconds low{};
  Picoseconds high{};
  bool fragile = false;  // the winner of a race for SMs differs between them
};

struct Predicted {
  Machine machine{};
  Prediction prediction{};
  std::optional<Bound> bound{};  // none after a deadlock
  std::optional<JitterResult> jitter{};
  Report report{};  // of the whole timeline
  PredictOptions options{};
  std::int64_t peak_device_bytes = 0;  // of the rank that needs most
  std::optional<double> power_w{};     // average of the device that draws most; none: the machine does not say
  std::size_t ranks = 0;
  bool cancelled = false;  // there is no report, and maybe only a part of the timeline
};

// Failing: it breaks a rule, the machine is unknown or too small, or a cost is
// missing, or `sustained` on a machine without [energy]. A deadlock is a result, and so is what `simulate.progress`
// cancelled. STV0910: more ranks than the machine has devices.
Result<Predicted> predict(const Schedule& schedule, const PredictOptions& options);

struct SaveOptions {
  bool replace = false;  // a file that is no run file too
  Progress* progress = nullptr;
};

// Stores the prediction as a run file. A file of that name is replaced only if
// it is a run file, too (STV0913), unless `replace`. False: the prediction was
// cancelled or this is, and what there is stays in `path`.partial as a run that
// was not finished.
Result<bool> save(const Schedule& schedule, const Predicted& predicted, const std::string& path,
                  const SaveOptions& options = {});

// STV0890 at the first command that waits, with a note for each; none if it ended.
std::optional<Problem> deadlock_of(const Predicted& predicted, const Schedule& schedule);

std::string predict_text(const Schedule& schedule, const Predicted& predicted);
// schema stave.sim/1; `output` is the run file, none if it was not stored.
std::string predict_json(const Schedule& schedule, const Predicted& predicted,
                         const std::optional<std::string>& output);

}  // namespace stave
