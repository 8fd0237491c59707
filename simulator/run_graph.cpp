// Captured graphs: one launch, then nodes start as what they come after ends.
#include <algorithm>

#include "simulator/run.h"

namespace stave::simulator {

const std::vector<std::vector<std::uint32_t>>& Run::successors(const GraphRun& run) {
  const std::uint32_t c = ranks_[run.rank].rank_class;
  if (successors_.size() < plan_.classes.size()) successors_.resize(plan_.classes.size());
  const IssueProgram& program = plan_.classes[c].program;
  if (successors_[c].empty()) {
    successors_[c].resize(program.graphs.size());
    for (std::size_t g = 0; g < program.graphs.size(); ++g) {
      const IdRange<GraphNode> nodes = program.graphs[GraphId{g}].nodes;
      successors_[c][g].resize(nodes.size());
      for (std::uint32_t n = 0; n < nodes.size(); ++n)
        for (const auto ref : program.nodes[nodes[n]].after)
          successors_[c][g][program.node_refs[ref].value - nodes.first].push_back(n);
    }
  }
  return successors_[c][run.graph];
}

std::uint32_t Run::start_graph(GraphRun&& made, std::int64_t now, std::int64_t delay) {
  std::uint32_t id;
  if (free_runs_.empty()) {
    id = static_cast<std::uint32_t>(graph_runs_.size());
    graph_runs_.emplace_back();
  } else {
    id = free_runs_.back();
    free_runs_.pop_back();
  }
  const IssueProgram& program = *ranks_[made.rank].program;
  const IdRange<GraphNode> nodes = program.graphs[GraphId{made.graph}].nodes;
  const std::size_t n = nodes.size();
  made.left = static_cast<std::uint32_t>(n);
  made.ready.assign(n, now);
  made.slices.assign(n, 0);
  made.trips.assign(n, 0);
  made.waiting.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    made.waiting[i] = static_cast<std::uint32_t>(program.nodes[nodes[i]].after.size());
  graph_runs_[id] = std::move(made);
  if (n == 0) {
    graph_done(id, now);
    return id;
  }
  for (std::uint32_t i = 0; i < n; ++i)
    if (graph_runs_[id].waiting[i] == 0) node_ready(id, i, now + delay);
  return id;
}

void Run::node_ready(std::uint32_t run, std::uint32_t node, std::int64_t time) {
  std::uint32_t timer;
  if (free_timers_.empty()) {
    timer = static_cast<std::uint32_t>(timers_.size());
    timers_.emplace_back();
  } else {
    timer = free_timers_.back();
    free_timers_.pop_back();
  }
  timers_[timer] = {run, node};
  events_.push({time, NodeBegin, timer});
}

void Run::begin_node(std::uint32_t timer, std::int64_t now) {
  const auto [id, index] = timers_[timer];
  free_timers_.push_back(timer);
  GraphRun& run = graph_runs_[id];
  RankState& rank = ranks_[run.rank];
  const IssueProgram& program = *rank.program;
  const NodeId node_id{program.graphs[GraphId{run.graph}].nodes.first + index};
  const GraphNode& node = program.nodes[node_id];
  if (run.trips[index] < 0) {  // a condition that chose no body
    node_done(id, index, now);
    return;
  }
  if (node.kind == GraphNode::Kind::Launch) {
    Launch launch;
    launch.rank = run.rank;
    launch.stream = node.stream.value;
    launch.graph_run = id;
    launch.node = index;
    launch.command = node.command.value;
    launch.occurrence = count(rank, node.command.value);
    launch.eligible = now;
    launch.host_slice = run.host_slice;
    launch.flow_kind = FlowKind::Graph;
    for (const auto ref : node.after)
      if (const std::uint32_t slice =
              run.slices[program.node_refs[ref].value - program.graphs[GraphId{run.graph}].nodes.first];
          slice != 0)
        launch.flows.push_back(slice);
    begin(std::move(launch), now);
    return;
  }
  // The setting of the condition is part of the cost; its kernel runs as a command.
  const std::int64_t value = outcome(rank, node.command.value);
  if (node.kind == GraphNode::Kind::While) {
    if (value <= 0) {
      node_ready_after_condition(id, index, now + gap(machine_.graph.conditional_ps));
      return;
    }
    run.trips[index] = value;
    start_body(id, index, 0, now, gap(machine_.graph.while_iteration_ps));
    return;
  }
  const auto bodies = static_cast<std::int64_t>(node.bodies.size());
  std::int64_t body = value;
  if (node.kind == GraphNode::Kind::Switch && (body < 0 || body >= bodies)) body = bodies - 1;
  if (body < 0 || body >= bodies) {
    node_ready_after_condition(id, index, now + gap(machine_.graph.conditional_ps));
    return;
  }
  start_body(id, index, static_cast<std::uint32_t>(body), now, gap(machine_.graph.conditional_ps));
}

// A conditional whose body does not run still takes its time.
void Run::node_ready_after_condition(std::uint32_t run, std::uint32_t node, std::int64_t time) {
  graph_runs_[run].trips[node] = -1;
  node_ready(run, node, time);
}

void Run::start_body(std::uint32_t run_id, std::uint32_t index, std::uint32_t body, std::int64_t now,
                     std::int64_t delay) {
  const GraphRun& run = graph_runs_[run_id];
  const IssueProgram& program = *ranks_[run.rank].program;
  const GraphNode& node = program.nodes[NodeId{program.graphs[GraphId{run.graph}].nodes.first + index}];
  GraphRun made;
  made.rank = run.rank;
  made.graph = program.graph_refs[node.bodies[body]].value;
  made.stream = run.stream;
  made.parent = run_id;
  made.parent_node = index;
  made.host_slice = run.host_slice;
  made.in_while = node.kind == GraphNode::Kind::While;
  start_graph(std::move(made), now, delay);
}

void Run::node_done(std::uint32_t id, std::uint32_t index, std::int64_t now) {
  const std::int64_t between = graph_runs_[id].in_while ? while_gap_ : node_gap_;
  const IssueProgram& program = *ranks_[graph_runs_[id].rank].program;
  const std::uint32_t first = program.graphs[GraphId{graph_runs_[id].graph}].nodes.first;
  --graph_runs_[id].left;
  for (const std::uint32_t next : successors(graph_runs_[id])[index]) {
    GraphRun& run = graph_runs_[id];
    const auto joined = static_cast<std::int64_t>(program.nodes[NodeId{first + next}].after.size());
    // A join waits for its branches' signals: docs/models.md#graphs.
    const std::int64_t extra = joined > 1 ? join_extra_ + joined * join_branch_ : 0;
    run.ready[next] = std::max(run.ready[next], now + between + extra);
    if (--run.waiting[next] == 0) node_ready(id, next, run.ready[next]);
  }
  if (graph_runs_[id].left == 0) graph_done(id, now);
}

void Run::graph_done(std::uint32_t id, std::int64_t now) {
  const GraphRun run = std::move(graph_runs_[id]);
  graph_runs_[id].left = 0;
  free_runs_.push_back(id);
  if (run.parent == none) {
    std::uint32_t last = run.slices.empty() ? 0 : run.slices.back();
    stream_op_done(run.rank, run.stream, last, now);
    return;
  }
  GraphRun& parent = graph_runs_[run.parent];
  for (const std::uint32_t slice : run.slices)
    parent.slices[run.parent_node] = std::max(parent.slices[run.parent_node], slice);
  if (parent.trips[run.parent_node] > 1) {
    --parent.trips[run.parent_node];
    start_body(run.parent, run.parent_node, 0, now, gap(machine_.graph.while_iteration_ps));
    return;
  }
  node_done(run.parent, run.parent_node, now);
}

}  // namespace stave::simulator
