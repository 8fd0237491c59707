// How fast a schedule could be on a machine if nothing got in anything's way.
#pragma once

#include <optional>
#include <string>

#include "simulator/simulate.h"

namespace stave {

// No prediction of this schedule on this machine file, in this network model, takes less than `time`: the longer of
//   - its longest chain: host calls, and commands that wait for each other, each as fast as it can be;
//   - what one resource needs for all that is asked of it (docs/models.md, "Lower bound").
struct Bound {
  Picoseconds time{};
  std::string by;  // "longest chain", "SMs of rank 0", "links out of rank 3"
};

// As `simulate`, whose codes these are. None: it was cancelled.
Result<std::optional<Bound>> bound_of(const Plan& plan, const Machine& machine, const SimulateOptions& options = {});

}  // namespace stave
