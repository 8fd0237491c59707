// Collectives of several ranks: which belong together, what that says about the
// ranks' clocks, and how long each rank waited for the others.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/strings.h"
#include "core/timeline/rows.h"
#include "profiles/import/json_text.h"
#include "profiles/import/kineto_kinds.h"
#include "profiles/import/problem_counts.h"

namespace stave {

// One collective kernel on one rank, in its own clock.
struct CollectiveSpan {
  StringId communicator{};  // of the Collectives
  StringId op{};
  std::uint32_t step = StepNumber::none;
  bool said = false;      // the trace's arguments describe it
  bool numbered = false;  // they say its sequence number
  bool by_order = false;  // which somebody counted
  // Found here:
  bool matched = false;  // with the same one on other ranks: what it waited and moved is known
  MatchedBy matched_by = MatchedBy::Order;
  std::int64_t sequence = 0;  // within communicator and step
  Picoseconds arrival_wait{};
  Picoseconds transfer{};

  WideTime start = 0;
  WideTime end = 0;
};

// Of a rank. Few texts, many spans, all of which are kept.
struct Collectives {
  Strings texts{};
  std::deque<CollectiveSpan> spans{};  // a vector that grows would hold them twice

  // `communicator`: "" if the trace does not say.
  void add(std::string_view communicator, std::string_view op, CollectiveSpan span) {
    span.communicator = texts.intern(communicator);
    span.op = texts.intern(op);
    spans.push_back(span);
  }
  // By what the trace's arguments say, else by the kernel's name.
  void add(const std::optional<CollectiveArguments>& said, std::string_view kernel, CollectiveSpan span) {
    if (!said) return add("", collective_op(kernel), span);
    span.said = true;
    span.numbered = said->sequence.has_value();
    span.sequence = said->sequence.value_or(0);
    span.by_order = said->by_order;
    add(said->communicator, said->op, span);
  }
};

struct RankClock {
  Collectives collectives{};
  WideTime start = 0;  // of the rank's first event
  // Ranks with the same number have one clock, which moves as a whole.
  std::optional<std::size_t> clock{};
  // Found here: what to add to the rank's times.
  WideTime offset = 0;
  std::optional<Picoseconds> error{};
  std::string from{};
};

// Numbers the collectives of each rank by start and, with several ranks, finds
// the offset of each clock from the first one's: collectives end together, to
// a few microseconds. Ranks of one clock move together, by all their collectives. Without common collectives, clocks
// that are further apart than ten minutes are brought together at their first events.
void match_collectives(std::vector<RankClock>& ranks, ProblemCounts& problems);

}  // namespace stave
