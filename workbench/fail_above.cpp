#include "workbench/fail_above.h"

#include <charconv>
#include <cmath>

#include "workbench/units_text.h"

namespace stave {
namespace {

// "2.709 ms (2708985123 ps)": as a report has it, and as its JSON has.
std::string exact_text(Picoseconds value) {
  const std::string text = duration_text(value), exact = fmt::format("{} ps", value.count());
  return text == exact ? text : fmt::format("{} ({})", text, exact);
}

// A gate that cannot be measured has not been passed.
Failure not_known(const std::string& metric) {
  return error_at({}, "STV1902", "--fail-above {}: it is not known of this run", metric);
}

}  // namespace

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
    if (worst != nullptr) value = report.arrival_wait(*worst);
  } else {
    return error_at({}, "STV0901",
                    "--fail-above {}: unknown metric; there are makespan_ps, step_median_ps, "
                    "exposed_communication_ps and arrival_wait_ps",
                    metric);
  }
  std::optional<Picoseconds> most = time_with_unit(limit);
  std::int64_t ps = 0;
  if (const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), ps);
      error == std::errc{} && end == limit.data() + limit.size())
    most = Picoseconds{ps};
  if (!most)
    return error_at({}, "STV0901",
                    "--fail-above {}={}: the limit is a time with a unit (ps, ns, us, ms, s), as in 1.5ms, or a whole "
                    "number of picoseconds",
                    metric, limit);
  if (!value) return not_known(metric);
  if (*value <= *most) return std::optional<Problem>();
  return std::optional<Problem>(
      Problem{Severity::Error,
              "STV1901",
              fmt::format("{} is {}, above the limit of {}", metric, exact_text(*value), duration_text(*most)),
              {},
              {}});
}

Result<std::optional<Problem>> above_limit(const Comparison& made, const std::string& metric,
                                           const std::string& limit) {
  std::optional<double> value;
  if (metric == "delta_ps") {
    value = static_cast<double>(made.delta.count());
  } else if (metric == "delta_pct") {
    value = made.delta_pct;
  } else if (metric == "abs_delta_pct") {
    if (made.delta_pct) value = std::abs(*made.delta_pct);
  } else if (metric == "slower_pct") {
    value = made.verdict == Verdict::Slower ? made.delta_pct : 0.0;
  } else if (metric == "only_a_count") {
    value = static_cast<double>(made.alignment.only_a.size());
  } else if (metric == "only_b_count") {
    value = static_cast<double>(made.alignment.only_b.size());
  } else {
    return error_at({}, "STV0901",
                    "--fail-above {}: unknown metric; there are delta_ps, delta_pct, abs_delta_pct, slower_pct, "
                    "only_a_count and only_b_count",
                    metric);
  }
  const bool time = metric == "delta_ps";
  double most = 0;
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), most);
  if (error != std::errc{} || end != limit.data() + limit.size() || !std::isfinite(most)) {
    const std::optional<Picoseconds> with_unit = time ? time_with_unit(limit) : std::nullopt;
    if (!with_unit)
      return error_at({}, "STV0901", "--fail-above {}={}: the limit is a number{}", metric, limit,
                      time ? " of picoseconds, or a time with a unit (ps, ns, us, ms, s), as in 1.5ms" : "");
    most = static_cast<double>(with_unit->count());
  }
  if (!value) return not_known(metric);
  if (*value <= most) return std::optional<Problem>();
  const std::string is =
      time ? exact_text(made.delta) : fmt::format("{:.{}f}", *value, metric.ends_with("_pct") ? 3 : 0);
  // What no duration holds stays as it was written.
  const std::string above =
      time && std::abs(most) < 9e18 ? duration_text(Picoseconds{static_cast<std::int64_t>(most)}) : limit;
  return std::optional<Problem>(
      Problem{Severity::Error, "STV1901", fmt::format("{} is {}, above the limit of {}", metric, is, above), {}, {}});
}

}  // namespace stave
