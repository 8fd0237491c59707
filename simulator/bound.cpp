#include "simulator/bound.h"

namespace stave {

Result<std::optional<Bound>> bound_of(const Plan& plan, const Machine& machine, const SimulateOptions& options) {
  SimulateOptions alone = options;
  alone.alone = true;
  alone.all_ranks = alone.host_slices = alone.counters = false;
  NullSink sink;
  TRY(const PredictionSummary summary, simulate(plan, machine, alone, sink));
  if (summary.cancelled) return std::optional<Bound>();
  if (summary.busiest > summary.makespan) return std::optional(Bound{summary.busiest, summary.busiest_resource});
  return std::optional(Bound{summary.makespan, "longest chain"});
}

}  // namespace stave
