// What the explorer and the checker say of one plan, in the same words.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/check/check_plan.h"
#include "executor/explorer/explore.h"

namespace stave {

// Without the findings that are behind a stop, which no run shows.
struct CheckedVerdict {
  std::array<bool, defect_count> shows{};
  bool not_uniform = false;  // STV1011: a mismatch or a deadlock
  std::string other_codes;   // that are no defects
};
CheckedVerdict verdict_of(const Findings& findings);

// "race mismatch", "clean".
std::string to_text(const Exploration& exploration);
std::string to_text(const CheckedVerdict& verdict);

enum class Outcome : std::uint8_t { Agrees, Disagrees, TooLarge, Invalid };
// With a race only races are compared: what follows one is not defined.
Outcome outcome_of(const Exploration& exploration, const CheckedVerdict& checked);

Result<Plan> plan_of_text(std::string_view text, Mode mode);

struct Compared {
  Outcome outcome = Outcome::Invalid;
  std::string explored, checked;  // verdicts
  std::string report;             // for people: both sides' reasons
};
struct CompareOptions {
  std::int32_t sms = 132;
  std::int64_t max_states = 50'000;
  bool report = false;
};
Compared compare(std::string_view text, Mode mode, const CompareOptions& options = {});
Compared compare(const Plan& plan, const CompareOptions& options = {});

}  // namespace stave
