// Collectives of several ranks: which belong together, what that says about the
// ranks' clocks, and how long each rank waited for the others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiles/import/json_text.h"
#include "profiles/import/problem_counts.h"

namespace stave {

// One collective kernel on one rank, in its own clock.
struct CollectiveSpan {
  std::string communicator{};  // "": the trace does not say
  std::string op{};
  std::uint32_t step = StepNumber::none;
  WideTime start = 0;
  WideTime end = 0;
  bool said = false;  // the trace's arguments describe it
  std::optional<std::int64_t> said_sequence{};

  // Found here:
  std::int64_t sequence = 0;  // within communicator and step
  MatchedBy matched_by = MatchedBy::Order;
  bool matched = false;  // with the same one on other ranks
  std::optional<Picoseconds> arrival_wait{};
  std::optional<Picoseconds> transfer{};
};

struct RankClock {
  std::vector<CollectiveSpan> collectives{};
  WideTime start = 0;  // of the rank's first event
  // Found here: what to add to the rank's times.
  WideTime offset = 0;
  std::optional<Picoseconds> error{};
  std::string from{};
};

// Numbers the collectives of each rank by start and, with several ranks, finds
// the offset of each clock from the first one's: collectives end together, to
// a few microseconds. Without common collectives, clocks that are further apart
// than ten minutes are brought together at their first events.
void match_collectives(std::vector<RankClock>& ranks, ProblemCounts& problems);

}  // namespace stave
