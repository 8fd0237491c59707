// How much there is to do, before it is done: for a progress line, and for a
// warning that a CPU will take its time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/lower/plan.h"
#include "workbench/schedule.h"

namespace stave {

struct Work {
  // Commands that a device runs, of all ranks; none where data decides (cond, switch, while).
  std::optional<std::int64_t> commands;
  // Of the gemms of all ranks. A while's body counts `trips` times if its cost has it, else once.
  double multiply_adds = 0;
};
Work work_of(const Plan& plan);

// Measured: a bf16 product of 2048^3 on one core of a Xeon server, release build, 1.1e10.
inline constexpr double reference_multiply_adds_per_s = 1e10;
// Longer than a person waits without asking why: 20 s.
inline constexpr double many_multiply_adds = 20 * reference_multiply_adds_per_s;

// A note (STV0951) if the CPU reference will be slow, with smaller params if the
// schedule has some that make it quick.
std::optional<Problem> slow_note(const Schedule& schedule, const ParamValues& params, const Work& work);

}  // namespace stave
