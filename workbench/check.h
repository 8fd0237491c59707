// What `stave check` finds: broken rules now, contracts, races and deadlocks
// when `analysis` has them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/lower/plan.h"
#include "workbench/schedule.h"

namespace stave {

struct CheckReport {
  Problems findings;  // sorted by place, then code
  std::int64_t errors = 0;
  std::int64_t warnings = 0;
  std::optional<std::int64_t> peak_device_bytes;  // of the rank that needs most; none with errors

  std::string_view verdict() const { return errors > 0 ? "errors" : warnings > 0 ? "warnings" : "clean"; }
};

CheckReport check_schedule(const Schedule& schedule, const ParamValues& params, Mode mode);

struct CheckedFile {
  Schedule schedule;
  CheckReport report;
};

// schema stave.check/1.
std::string check_json(const CheckedFile& checked);
// schema stave.checks/1: of several files, in their order.
std::string checks_json(std::span<const CheckedFile> files);

}  // namespace stave
