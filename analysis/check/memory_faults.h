// Accesses of one rank that no order keeps apart, and reads of what nothing wrote,
// on one line. A broadcast reads its operand on the root only, a permute where
// there is a target.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/check/clocks.h"

namespace stave::check {

struct Access {
  NodeIndex node{};
  CommandId command{};  // the collective of a group; else the node's own
  ViewId view{};
  bool write = false;
};

// Calls f(Access) for all that a node may touch: reads first.
template <class F>
void for_each_access(const Expanded& e, const Line& line, NodeIndex node, F&& f) {
  const LineNode& n = line.nodes[node];
  if (n.kind == LineNode::Kind::Join) return;
  const auto visit = [&](const auto& self, CommandId id) -> void {
    const Command& command = e[id];
    if (n.kind == LineNode::Kind::Predicate) {
      f(Access{node, id, command.operands[0], false});
      return;
    }
    for (const ViewId view : command.operands) f(Access{node, id, view, false});
    for (const ViewId view : command.results) f(Access{node, id, view, true});
    for (const CommandRegionId region : command.regions)
      for (const CommandId member : e.regions[region].commands) self(self, member);
  };
  visit(visit, n.command);
}

struct Race {
  Access first, second;  // in issue order
  BufferId buffer{};
  std::int64_t begin = 0, end = 0;  // bytes of the buffer that both touch
  Rank rank = 0;
};

struct UnwrittenRead {
  Access access;
  BufferId buffer{};
  std::int64_t begin = 0, end = 0;  // the first such bytes
  Rank rank = 0;
};

struct MemoryFaults {
  std::vector<Race> races;               // of two commands, the first place only
  std::vector<UnwrittenRead> unwritten;  // of a command and buffer, the first only
  bool exact = true;                     // false: not all ranks were looked at
};

struct MemoryOptions {
  std::span<const Rank> ranks;    // that take the line
  std::int64_t max_accesses = 0;  // of all of them together, where they differ
  // Whether a rank orders two nodes by way of others; null: none does.
  std::function<bool(Rank, NodeIndex, NodeIndex)> elsewhere{};
  // Whether a rank comes to a node; null: to all. What it does not come to, does nothing.
  std::function<bool(Rank, NodeIndex)> begins{};
};
MemoryFaults memory_faults(const RankClass& rank_class, const Line& line, const Clocks& clocks,
                           const MemoryOptions& options);

}  // namespace stave::check
