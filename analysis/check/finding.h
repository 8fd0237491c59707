// What a check of a plan found, and where.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/problem.h"
#include "core/ir/values.h"

namespace stave {

// A finding to be drawn: the commands that it is about, on the streams of their ranks, and what orders them.
struct Scene {
  struct Box {
    enum class State : std::uint8_t {
      Plain,
      Waiting,     // started, and never ends
      NotStarted,  // and never will be
      Absent,      // what another waits for, and this rank does not have
    };
    State state = State::Plain;
    Rank rank = 0;
    std::string stream;      // "main"
    std::string command;     // its path; Absent: its op
    std::uint32_t line = 0;  // of the schedule; 0: none
    std::string says;        // "waits for rank 1"; may be empty
  };
  struct Edge {
    enum class Kind : std::uint8_t {
      Ordered,   // `from` ends before `to` begins
      WaitsFor,  // `from` ends when `to` has come
      Meets,     // the two have met
      Gap,       // what should be between the two and is not: `gap`
    };
    Kind kind = Kind::Ordered;
    std::uint32_t from = 0, to = 0;  // positions in `boxes`
  };
  // Of one rank in issue order; two on one stream are ordered without an edge.
  std::vector<Box> boxes;
  std::vector<Edge> edges;
  std::string gap;           // "nothing orders the two"
  std::size_t left_out = 0;  // ranks that are not drawn
};

// Codes STV1000-1099; docs/checks.md has a page for each.
struct Finding {
  Problem problem;
  std::string command;       // path of the first command involved; empty: none
  std::vector<Rank> ranks;   // that show it, ascending
  std::string fix;           // what to write instead; empty: not known
  std::string silenced;      // the reason that the schedule gives for it; empty: it counts
  bool behind_stop = false;  // of memory: no run comes to it before the deadlock or mismatch found beside it is mended
  Scene scene{};             // what --explain draws; no boxes: nothing to draw
};
using Findings = std::vector<Finding>;

}  // namespace stave
