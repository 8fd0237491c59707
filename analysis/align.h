// Which slices of two runs are the same piece of work.
#pragma once

#include <vector>

#include "analysis/report.h"

namespace stave {

// One run and the stretch of it that is looked at.
struct RunPart {
  const TimelineIndex* index = nullptr;
  Window window{};
};

struct SlicePair {
  SliceId a{};
  SliceId b{};

  friend bool operator==(const SlicePair&, const SlicePair&) = default;
};

struct Alignment {
  std::vector<SlicePair> matched;  // by start in A
  std::vector<SliceId> only_a;     // by start
  std::vector<SliceId> only_b;
  // In windows that are steps: what lies there, in one of them at least, of other steps.
  // One side is missing where the other run does not have it.
  std::vector<SlicePair> other_steps;
  std::size_t by_command = 0;   // how many of the pairs; the others are by name
  bool ranks_by_order = false;  // no rank number is in both runs: the n-th rank with the n-th

  // "command", "name", "command and name"; "" if nothing matched.
  std::string_view by() const;
};

// Only work on devices in the windows. A step lasts as long as its run says, which for
// a trace is the host's time, and devices may work on it later. So if both windows are
// steps and both runs say which slices are theirs, each step's work is matched with
// that of the same step of the other run (counted from the window's), wherever it
// lies; `matched`, `only_a` and `only_b` are of the window's step alone.
//
// Slices that know their command (a guess does
// not count) are matched by rank, command, step (counted from the window's) and
// occurrence. The others, or all if no command is in both, are matched by name, in
// order, along their streams: first where also the launch dimensions and bytes are
// the same, as far as both runs know them, then what is left between those; at last
// what is left of a rank, over its streams. A stream's partner has its number, if at
// least half of their names are in both; else the most slices of the same name.
// Exchanging the runs exchanges the sides, and nothing else.
Alignment align(const RunPart& a, const RunPart& b);

// Of the window's step if it is one, else of the earliest in it; 0 without steps.
std::int64_t first_step(const RunPart& part);

}  // namespace stave
