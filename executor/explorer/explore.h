// Tries all interleavings of a small plan, for all values that its predicates
// can read: what the schedule checker says is compared with this. Commands take
// time here: each begins, is in flight, and ends, and two that are in flight at
// once race if they share bytes that one of them writes. Collectives start when
// their CTAs fit beside those that run, and complete once all ranks met.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/lower/plan.h"

namespace stave {

enum class Defect : std::uint8_t { Race, Uninitialised, Mismatch, Deadlock };
inline constexpr std::size_t defect_count = 4;
std::string_view name_of(Defect defect);  // "race", "uninitialised", "mismatch", "deadlock"

struct ExploreOptions {
  std::int32_t sms = 132;  // of each device
  // Of all inputs together; beyond, exploring fails (STV0914).
  std::int64_t max_states = 1'000'000;
  // Combinations of values of the parameters that predicates derive from (STV0915).
  std::int64_t max_inputs = 4096;
  std::int64_t max_bytes = 1 << 20;  // of the buffers of a rank (STV0916)
  // Only one order of what commutes. False tries every transition of every rank in
  // every state: the same defects, for tests of the reduction.
  bool reduce = true;
  bool stop_at_race = false;  // the other defects are then not all found
  Progress* progress = nullptr;
};

// A run that shows a defect.
struct Witness {
  std::string what;                 // "rank 0: f/map#1 and f/map#2 are in flight together"
  std::vector<std::string> inputs;  // "rank 0 %p = 1"; what is not named is 0
  std::vector<std::string> steps;   // "rank 0: main begins f/map#1"
};

struct Exploration {
  std::array<std::optional<Witness>, defect_count> witnesses;  // by defect
  std::int64_t states = 0;
  std::int64_t transitions = 0;
  std::int64_t inputs = 0;  // combinations that were tried

  bool shows(Defect defect) const { return witnesses[static_cast<std::size_t>(defect)].has_value(); }
};

// Predicates read bool and integer parameters, all of whose values near 0 are tried;
// every other parameter is 0. What was never written has any value where a predicate
// reads it. Codes STV0914-0916, STV0950 and those of `interpret`.
Result<Exploration> explore(const Plan& plan, const ExploreOptions& options = {});

}  // namespace stave
