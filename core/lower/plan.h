// What a host does to run a schedule: launches, event records and waits, reads
// of predicates and branches, or one graph launch. Every consumer (reference
// and CUDA drivers, simulator, checker, the golden text) takes this and lowers
// nothing itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/expanded.h"
#include "core/timeline/rows.h"  // Certainty

namespace stave {

// eager: the host issues command by command. captured: one CUDA graph; user
// streams stay as fork and join. captured_serial: one graph, every node after
// the one before, which is what XLA's command buffers do by default.
enum class Mode : std::uint8_t { Eager, Captured, CapturedSerial };
std::string_view name_of(Mode mode);  // "eager", "captured", "captured_serial"
std::optional<Mode> mode_named(std::string_view name);

using StreamId = Id<struct StreamTag>;  // position in IssueProgram::streams; 0 is the main stream
using EventId = Id<struct EventTag>;
using HostId = Id<struct HostLane>;
using ActionId = Id<struct Action>;
struct Graph;
using GraphId = Id<Graph>;

struct Action {
  enum class Kind : std::uint8_t {
    Launch,         // command on stream; a collective_group is one launch
    Record,         // event on stream: all that the stream holds now
    Wait,           // stream waits for the last record of event
    HostWork,       // cost: time on the host lane
    HostSync,       // the host waits until stream is empty
    Handoff,        // lane `to` goes on after this
    ReadPredicate,  // copies operand 0 of command (cond, switch, while) on stream to the host, which waits for it
    Branch,         // to targets[i], i from the predicate just read; cond: 0 then, 1 else; while: 0 body, 1 exit
    Jump,           // to target
    GraphLaunch,    // graph on stream
    RangePush,      // command: the range that opens here
    RangePop,
  };
  Kind kind = Kind::Launch;
  Certainty certainty = Certainty::Declared;  // Wait
  StreamId stream{};
  EventId event{};
  CommandId command{};
  GraphId graph{};
  ActionId target{};                    // Jump
  IdRange<struct TargetTag> targets{};  // Branch: positions in IssueProgram::targets
  HostId to{};                          // Handoff
  Picoseconds time{0};                  // HostWork
};

// One host thread and the consecutive actions that it performs.
struct HostLane {
  IdRange<Action> actions;
};

// A node of a captured graph. `after` are nodes of the same graph, before it.
struct GraphNode {
  enum class Kind : std::uint8_t { Launch, If, Switch, While };
  Kind kind = Kind::Launch;
  Certainty certainty = Certainty::Declared;
  StreamId stream{};                     // the stream it came from
  CommandId command{};                   // If, Switch, While: predicate is its operand 0
  IdRange<struct NodeRefTag> after{};    // positions in IssueProgram::node_refs
  IdRange<struct GraphRefTag> bodies{};  // If: then, else; Switch: branches; While: one, body then condition
};
using NodeId = Id<GraphNode>;

struct Graph {
  IdRange<GraphNode> nodes;  // consecutive, in issue order; bodies' nodes stand before
};

struct IssueProgram {
  std::vector<StreamRef> streams;  // [0] is the main stream
  std::uint32_t events = 0;
  Store<HostLane> hosts;
  Store<Action> actions;
  Store<ActionId, TargetTag> targets;
  Store<Graph> graphs;
  Store<GraphNode> nodes;
  Store<NodeId, NodeRefTag> node_refs;
  Store<GraphId, GraphRefTag> graph_refs;
};

struct RankClass {
  Expanded expanded;
  IssueProgram program;
};

struct Plan {
  Mode mode = Mode::Eager;
  std::vector<RankClass> classes;
  std::vector<std::uint32_t> class_of_rank;

  std::size_t ranks() const { return class_of_rank.size(); }
  const RankClass& of_rank(Rank rank) const { return classes[class_of_rank[rank]]; }
};

// What an allocation takes: aligned to 256 bytes, as cudaMalloc does.
std::int64_t allocated_bytes(std::int64_t bytes);

// Bytes of device memory that a rank of this class needs: parameters, constants and scratch.
std::int64_t device_bytes(const Expanded& expanded);

// The communicator that a command runs on (docs/ir.md rule 13); for a group, its
// collectives' (0 by default).
std::int32_t communicator_of(const Expanded& expanded, CommandId command);

// Lowers an expansion that `verify` accepts. Captured modes: what may not stand in a graph
// or a conditional body is a located error. Codes STV0550-0599.
Result<Plan> lower(Expansion expansion, Mode mode);

// Golden text of an issue program: one action or node a line.
std::string issue_text(const RankClass& rank_class, Mode mode);

}  // namespace stave
