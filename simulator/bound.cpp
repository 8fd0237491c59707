#include "simulator/bound.h"

namespace stave {

Result<std::optional<Bound>> bound_of(const Plan& plan, const Machine& machine, const SimulateOptions& options) {
  SimulateOptions unhindered = options;
  unhindered.unhindered = true;
  unhindered.all_ranks = unhindered.host_slices = unhindered.counters = false;
  NullSink sink;
  TRY(const PredictionSummary summary, simulate(plan, machine, unhindered, sink));
  if (summary.cancelled) return std::optional<Bound>();
  if (summary.busiest > summary.makespan) return std::optional(Bound{summary.busiest, summary.busiest_resource});
  return std::optional(Bound{summary.makespan, "longest chain"});
}

}  // namespace stave
