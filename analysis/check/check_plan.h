// Proves of a plan that no run of it can hang, race, read what was never
// written or meet in different collectives, or shows the run that does.
//
// A plan's control flow is unrolled into straight lines, one for each way that
// its predicates can fall: predicates are free, but equal on all ranks of the
// axes along which they are provably uniform, and equal while nobody writes them;
// loops run 0 to 3 times. On a line, what waits for what does not depend on
// timing, so one abstract execution of all ranks decides if it ends, and a
// vector clock over the streams of a rank decides which accesses are ordered.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/check/finding.h"
#include "core/base/progress.h"
#include "core/lower/plan.h"

namespace stave {

struct PlanCheckOptions {
  // Of each device. Collectives whose CTAs (`max_ctas`) do not fit beside each other wait.
  std::int32_t sms = 132;
  // Lines that are looked at, and commands on all of them together; beyond, the result is not exact.
  std::int64_t max_lines = 4096;
  std::int64_t max_commands = 40'000'000;
  bool lints = true;             // warnings of what is only slow, too
  Progress* progress = nullptr;  // gets what was looked at; a check that is cancelled fails (STV0950)
};

struct PlanCheck {
  Findings findings;
  bool exact = true;  // every line was looked at
  // Of the rank that needs most: device memory, and what it would be if scratch buffers that are never used together
  // shared it (none where control flow decides which are used).
  std::int64_t peak_device_bytes = 0;
  std::optional<std::int64_t> peak_device_bytes_shared;
};

Result<PlanCheck> check_plan(const Plan& plan, const PlanCheckOptions& options = {});

}  // namespace stave
