#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analysis/check/line.h"
#include "core/lower/lowering.h"

namespace stave::check {
namespace {

// Nodes that something waits for, the last of each stream.
using Frontier = std::vector<NodeIndex>;

class Unrolling {
 public:
  Unrolling(const RankClass& rank_class, const Deciding& deciding, std::int64_t max_nodes)
      : program_(rank_class.program),
        expanded_(rank_class.expanded),
        deciding_(deciding),
        max_nodes_(static_cast<std::size_t>(max_nodes)),
        streams_(program_.streams.size()),
        events_(program_.events) {
    line_.streams = static_cast<std::uint32_t>(streams_.size());
    line_.nodes.reserve(expanded_.commands.size());
  }

  Line run() {
    for (const HostLane& lane : program_.hosts) host(lane);
    return std::move(line_);
  }

 private:
  struct Stream {
    NodeIndex last{};
    std::uint32_t nodes = 0;
    Frontier waits;               // for other streams, since `last`
    std::uint32_t host_seen = 0;  // how much of what the host waited for is in `waits`
  };

  bool full() {
    if (line_.nodes.size() < max_nodes_ && !(deciding_.stop != nullptr && *deciding_.stop)) return false;
    line_.complete = false;
    return true;
  }

  void join(Frontier& frontier, NodeIndex node) const {
    const LineNode& added = line_.nodes[node];
    for (NodeIndex& other : frontier) {
      if (line_.nodes[other].stream != added.stream) continue;
      if (line_.nodes[other].position < added.position) other = node;
      return;
    }
    frontier.push_back(node);
  }

  NodeIndex add(LineNode node, const Frontier& after) {
    Stream& stream = streams_[node.stream.value];
    node.position = stream.nodes++;
    const std::size_t first = line_.before.size();
    for (const NodeIndex n : after) line_.before.add(n);
    node.before = line_.before.range_from(first);
    stream.last = line_.nodes.add(node);
    stream.waits.clear();
    if (deciding_.ran) deciding_.ran(node);
    return stream.last;
  }

  LineNode::Kind kind_of(CommandId command) const {
    return uses_communicator(expanded_[command]) ? LineNode::Kind::Collective : LineNode::Kind::Work;
  }

  // ---- eager: a host issues into streams ----

  // What the next item of a stream waits for besides the stream itself.
  Frontier& waits_of(StreamId id) {
    Stream& stream = streams_[id.value];
    if (stream.host_seen != host_waits_) {
      for (const NodeIndex n : host_)
        if (line_.nodes[n].stream != id) join(stream.waits, n);
      stream.host_seen = host_waits_;
    }
    return stream.waits;
  }

  NodeIndex issue(LineNode::Kind kind, StreamId id, CommandId command) {
    Frontier& after = waits_of(id);
    if (kind == LineNode::Kind::Collective) {
      const auto [last, first] = communicators_.try_emplace(communicator_of(expanded_, command));
      if (!first && line_.nodes[last->second].stream != id) join(after, last->second);
      last->second = line_.nodes.next_id();
    }
    if (const NodeIndex last = streams_[id.value].last) after.push_back(last);
    return add({.kind = kind, .stream = id, .command = command}, after);
  }

  void host_waits_for(StreamId id) {
    if (const NodeIndex last = streams_[id.value].last) join(host_, last);
    for (const NodeIndex n : waits_of(id)) join(host_, n);
    ++host_waits_;
  }

  void record(StreamId id, EventId event) {
    const std::size_t first = recorded_.size();
    if (const NodeIndex last = streams_[id.value].last) recorded_.add(last);
    for (const NodeIndex n : waits_of(id)) recorded_.add(n);
    events_[event.value] = recorded_.range_from(first);
  }

  void wait(StreamId id, EventId event, CommandId command) {
    Frontier& waits = waits_of(id);
    if (std::holds_alternative<AsyncDone>(expanded_[command].payload)) {
      Store<NodeIndex, AwaitedTag>& nodes = line_.awaited_nodes;
      const std::size_t known = nodes.size();
      if (const NodeIndex last = streams_[id.value].last) nodes.add(last);
      for (const NodeIndex n : waits) nodes.add(n);
      const IdRange<AwaitedTag> before = nodes.range_from(known);
      for (const Id<RecordedTag> at : events_[event.value]) nodes.add(recorded_[at]);
      line_.awaited.push_back({command, before, nodes.range_from(known + before.count)});
    }
    for (const Id<RecordedTag> at : events_[event.value])
      if (line_.nodes[recorded_[at]].stream != id) join(waits, recorded_[at]);
  }

  void host(const HostLane& lane) {
    std::map<CommandId, std::uint32_t> trips;
    std::uint32_t at = lane.actions.first;
    const std::uint32_t end = at + lane.actions.count;
    while (at < end && !full()) {
      const Action& action = program_.actions[ActionId{at++}];
      switch (action.kind) {
        case Action::Kind::Launch: issue(kind_of(action.command), action.stream, action.command); break;
        case Action::Kind::Record: record(action.stream, action.event); break;
        case Action::Kind::Wait: wait(action.stream, action.event, action.command); break;
        case Action::Kind::HostSync: host_waits_for(action.stream); break;
        case Action::Kind::ReadPredicate:
          issue(LineNode::Kind::Predicate, action.stream, action.command);
          host_waits_for(action.stream);
          break;
        case Action::Kind::Branch:
          at = program_.targets[action.targets[choice(action.command, action.targets.count, trips)]].value;
          break;
        case Action::Kind::Jump: at = action.target.value; break;
        case Action::Kind::GraphLaunch: graph(action.graph, {}); break;
        case Action::Kind::Handoff:
        case Action::Kind::HostWork:
        case Action::Kind::RangePush:
        case Action::Kind::RangePop: break;
      }
    }
  }

  std::uint32_t choice(CommandId command, std::uint32_t options, std::map<CommandId, std::uint32_t>& trips) {
    if (!std::holds_alternative<While>(expanded_[command].payload)) return deciding_.choose(command, options);
    std::uint32_t& done = trips[command];
    const std::uint32_t chosen = done < max_trips ? deciding_.choose(command, options) : 1;
    done = chosen == 0 ? done + 1 : 0;
    return chosen;
  }

  // ---- captured: nodes of graphs ----

  // Runs the nodes of a graph after `entry`; what ends last on each stream.
  Frontier graph(GraphId id, const Frontier& entry) {
    const IdRange<GraphNode> nodes = program_.graphs[id].nodes;
    std::vector<NodeIndex> ends(nodes.size());
    Frontier lasts;
    for (std::uint32_t i = 0; i < nodes.size() && !full(); ++i) {
      const GraphNode& node = program_.nodes[nodes[i]];
      Frontier after;
      for (const Id<NodeRefTag> ref : node.after) join(after, ends[program_.node_refs[ref].value - nodes.first]);
      for (const NodeIndex n : entry) join(after, n);
      ends[i] = run(node, after);
      join(lasts, ends[i]);
    }
    return lasts;
  }

  NodeIndex run(const GraphNode& node, const Frontier& after) {
    if (node.kind == GraphNode::Kind::Launch)
      return add({.kind = kind_of(node.command), .stream = node.stream, .command = node.command}, after);
    const LineNode read{.kind = LineNode::Kind::Predicate, .stream = node.stream, .command = node.command};
    NodeIndex last = add(read, after);
    if (node.kind == GraphNode::Kind::While) {
      for (std::uint32_t trip = 0; trip < max_trips && !full(); ++trip) {
        if (deciding_.choose(node.command, 2) != 0) break;
        Frontier ends = graph(body(node, 0), {last});
        join(ends, last);
        last = add(read, ends);
      }
      return last;
    }
    const std::uint32_t options = node.kind == GraphNode::Kind::If ? 2 : node.bodies.count;
    const std::uint32_t chosen = deciding_.choose(node.command, options);
    if (chosen >= node.bodies.count) return last;
    Frontier ends = graph(body(node, chosen), {last});
    join(ends, last);
    if (ends.size() == 1 && ends[0] == last) return last;
    return add({.kind = LineNode::Kind::Join, .stream = node.stream, .command = node.command}, ends);
  }

  GraphId body(const GraphNode& node, std::uint32_t i) const { return program_.graph_refs[node.bodies[i]]; }

  const IssueProgram& program_;
  const Expanded& expanded_;
  const Deciding& deciding_;
  std::size_t max_nodes_;
  Line line_;
  std::vector<Stream> streams_;
  std::vector<IdRange<struct RecordedTag>> events_;  // by event: what its last record stands for
  Store<NodeIndex, RecordedTag> recorded_;
  Frontier host_;                 // what the host has waited for
  std::uint32_t host_waits_ = 0;  // how often
  std::map<std::int32_t, NodeIndex> communicators_;
};

}  // namespace

bool has_control_flow(const RankClass& rank_class) {
  const IssueProgram& program = rank_class.program;
  return std::any_of(program.nodes.begin(), program.nodes.end(),
                     [](const GraphNode& n) { return n.kind != GraphNode::Kind::Launch; }) ||
         std::any_of(program.actions.begin(), program.actions.end(),
                     [](const Action& a) { return a.kind == Action::Kind::Branch; });
}

Line unroll(const RankClass& rank_class, const Deciding& deciding, std::int64_t max_nodes) {
  return Unrolling(rank_class, deciding, max_nodes).run();
}

}  // namespace stave::check
