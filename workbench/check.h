// What `stave check` finds: broken rules, and in a schedule that keeps them races,
// deadlocks and broken contracts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "analysis/check/finding.h"
#include "core/base/progress.h"
#include "core/lower/plan.h"
#include "workbench/schedule.h"

namespace stave {

struct CheckReport {
  Findings findings;  // sorted by place, then code
  // Without those that are silenced.
  std::int64_t errors = 0;
  std::int64_t warnings = 0;
  std::int64_t silenced = 0;
  // Of the rank that needs most; none if a rule is broken. Shared: see PlanCheck.
  std::optional<std::int64_t> peak_device_bytes, peak_device_bytes_shared;

  std::string_view verdict() const { return errors > 0 ? "errors" : warnings > 0 ? "warnings" : "clean"; }
};

// Fails if it is cancelled (STV0950).
Result<CheckReport> check_schedule(const Schedule& schedule, const ParamValues& params, Mode mode,
                                   Progress* progress = nullptr);

// One finding as text, with the lines of the source that it speaks of.
std::string to_text(const Finding& finding, std::string_view source);

struct CheckedFile {
  Schedule schedule;
  CheckReport report;
};

// schema stave.check/1.
std::string check_json(const CheckedFile& checked);
// schema stave.checks/1: of several files, in their order.
std::string checks_json(std::span<const CheckedFile> files);

}  // namespace stave
