// Limits on the figures of a report or a comparison, for `--fail-above METRIC=LIMIT`.
#pragma once

#include <optional>
#include <string>

#include "analysis/compare.h"
#include "analysis/report.h"

namespace stave {

// A problem (STV1901) if the metric is above the limit, none if it is not or is
// unknown. Metrics are those of the JSON: makespan_ps, step_median_ps,
// exposed_communication_ps, arrival_wait_ps of the worst rank. The limit is a time
// with a unit or a whole number of picoseconds. An unknown metric or any other limit
// is an error (STV0901).
Result<std::optional<Problem>> above_limit(const Report& report, const std::string& metric, const std::string& limit);

// Of a comparison: delta_ps, delta_pct, abs_delta_pct, slower_pct (delta_pct if B is
// slower by more than the noise, else 0), only_a_count, only_b_count. The limit is a
// decimal number; of delta_ps also a time with a unit.
Result<std::optional<Problem>> above_limit(const Comparison& comparison, const std::string& metric,
                                           const std::string& limit);

}  // namespace stave
