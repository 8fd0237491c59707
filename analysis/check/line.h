// A straight line: one way through a rank's issue program, its control flow
// decided. What is left is a partial order of work.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/ids.h"
#include "core/lower/plan.h"

namespace stave::check {

struct LineNode;
using NodeIndex = Id<LineNode>;

struct LineNode {
  enum class Kind : std::uint8_t {
    Work,        // a command that is no collective
    Collective,  // a collective or a group of them
    Predicate,   // reads operand 0 of a cond, switch or while
    Join,        // the end of a captured cond or switch; touches no memory
  };
  Kind kind = Kind::Work;
  StreamId stream{};
  CommandId command{};
  std::uint32_t position = 0;          // on its stream, from 0
  IdRange<struct BeforeTag> before{};  // in Line::before: end before this begins; one a stream at most
};

// Where a stream was made to wait for an async body.
struct Awaited {
  CommandId done{};                    // async_done
  IdRange<struct AwaitedTag> known{};  // in Line::awaited_nodes: what the stream is behind already
  IdRange<AwaitedTag> ends{};          // what the body ends with
};

struct Line {
  std::uint32_t streams = 0;
  // In issue order, in which what is before stands before. Nodes of one stream are totally ordered.
  Store<LineNode> nodes;
  Store<NodeIndex, BeforeTag> before;
  std::vector<Awaited> awaited;  // eager only
  Store<NodeIndex, AwaitedTag> awaited_nodes;
  bool complete = true;  // false: longer than was allowed
};

// What decides the control flow of a line.
struct Deciding {
  // Called for each node in its order, before the next choice.
  std::function<void(const LineNode&)> ran;
  // Which of `options` targets the cond, switch or while takes (Action::Branch; while: 0 goes on).
  std::function<std::uint32_t(CommandId, std::uint32_t options)> choose;
  const bool* stop = nullptr;  // true: the rest does not matter
};

// More iterations of one execution of a `while` are not looked at.
inline constexpr std::uint32_t max_trips = 3;

bool has_control_flow(const RankClass& rank_class);

// Without control flow `deciding` is not asked.
Line unroll(const RankClass& rank_class, const Deciding& deciding, std::int64_t max_nodes);

}  // namespace stave::check
