// What the lowerings to host actions and to graphs share.
#pragma once

#include <vector>

#include "core/lower/plan.h"

namespace stave {

// Which streams a class uses, and on which of them each command stands: the
// target of the innermost async_start around it, or the main stream.
struct StreamsOf {
  std::vector<StreamRef> streams;       // [0] is the main stream; the others in order of first use
  std::vector<StreamId> of_command;     // by command
  std::vector<StreamId> body_of_start;  // by command: async_start's target, none for the others
};
StreamsOf streams_of(const Expanded& expanded);

// A collective, or a group of them: what runs on a communicator.
inline bool uses_communicator(const Command& command) {
  return std::visit([]<class T>(const T&) { return CollectiveOp<T> || std::is_same_v<T, CollectiveGroup>; },
                    command.payload);
}

// True if a region of the command holds a command.
bool has_commands(const Expanded& expanded, const Command& command);

void lower_eager(const Expanded& expanded, const StreamsOf& streams, IssueProgram& program);

// Codes STV0550, STV0551: a host copy, a copy-engine collective in a conditional body.
Problems lower_captured(const Expanded& expanded, const StreamsOf& streams, bool serial, IssueProgram& program);

}  // namespace stave
