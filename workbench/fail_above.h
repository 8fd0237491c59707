// Limits on a report's figures, for `--fail-above METRIC=LIMIT`.
#pragma once

#include <optional>
#include <string>

#include "analysis/report.h"

namespace stave {

// A problem (STV1901) if the metric is above the limit, none if it is not or is
// unknown. Metrics are those of the JSON: makespan_ps, step_median_ps,
// exposed_communication_ps, arrival_wait_ps of the worst rank. An unknown metric
// or a limit that is no number is an error (STV0901).
Result<std::optional<Problem>> above_limit(const Report& report, const std::string& metric, const std::string& limit);

}  // namespace stave
