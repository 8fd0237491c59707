#include "workbench/fail_above.h"

#include <charconv>

namespace stave {

Result<std::optional<Problem>> above_limit(const Report& report, const std::string& metric, const std::string& limit) {
  const RankUse* worst = report.worst();
  std::optional<Picoseconds> value;
  if (metric == "makespan_ps") {
    value = report.makespan;
  } else if (metric == "step_median_ps") {
    value = report.step_median;
  } else if (metric == "exposed_communication_ps") {
    if (worst != nullptr) value = worst->exposed_communication;
  } else if (metric == "arrival_wait_ps") {
    if (worst != nullptr) value = worst->arrival_wait;
  } else {
    return error_at({}, "STV0901",
                    "--fail-above {}: unknown metric; there are makespan_ps, step_median_ps, "
                    "exposed_communication_ps and arrival_wait_ps",
                    metric);
  }
  std::int64_t ps = 0;
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), ps);
  if (error != std::errc{} || end != limit.data() + limit.size())
    return error_at({}, "STV0901", "--fail-above {}={}: the limit is a whole number of picoseconds", metric, limit);
  if (!value || value->count() <= ps) return std::optional<Problem>();
  return std::optional<Problem>(Problem{
      Severity::Error, "STV1901", fmt::format("{} is {}, above the limit of {}", metric, value->count(), ps), {}, {}});
}

}  // namespace stave
