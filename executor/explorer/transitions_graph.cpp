// Runs of captured graphs, as in executor/reference/step_graphs.cpp.
#include <algorithm>

#include "executor/explorer/transitions.h"
#include "executor/reference/step.h"

namespace stave::explorer {

const GraphNode& Transitions::node(const RankClass& c, const GraphRun& run, std::uint32_t number) const {
  return c.program.nodes[c.program.graphs[run.graph].nodes[number]];
}

std::uint32_t Transitions::start_graph(RankState& r, const RankClass& c, GraphId graph) const {
  std::size_t slot = 0;
  while (slot < r.runs.size() && r.runs[slot].active) ++slot;
  if (slot == r.runs.size()) r.runs.emplace_back();
  r.runs[slot] = {.graph = graph, .active = true, .nodes = {}};
  r.runs[slot].nodes.resize(c.program.graphs[graph].nodes.size());
  return static_cast<std::uint32_t>(slot);
}

void Transitions::choose_body(RankState& r, const RankClass& c, const Transition& t, std::int32_t value) const {
  const std::uint32_t number = *t.node;
  const GraphNode& conditional = node(c, r.runs[t.lane], number);
  std::optional<std::size_t> body;
  if (conditional.kind == GraphNode::Kind::If) body = value != 0 ? 0 : 1;
  if (conditional.kind == GraphNode::Kind::Switch) body = switch_branch(value, conditional.bodies.size());
  if (conditional.kind == GraphNode::Kind::While && value != 0) body = 0;
  if (!body || *body >= conditional.bodies.size()) {
    finish_node(r, c, t.lane, number);
    return;
  }
  const GraphId graph = c.program.graph_refs[conditional.bodies[*body]];
  if (!c.program.graphs[graph].nodes.empty()) {
    r.runs[t.lane].nodes[number] = GraphRun::Node::Body;
    GraphRun& run = r.runs[start_graph(r, c, graph)];
    run.parent = t.lane;
    run.parent_node = number;
    run.nested = true;
  } else if (conditional.kind == GraphNode::Kind::While) {
    r.runs[t.lane].nodes[number] = GraphRun::Node::Waiting;
  } else {
    finish_node(r, c, t.lane, number);
  }
}

void Transitions::finish_node(RankState& r, const RankClass& c, std::uint32_t index, std::uint32_t number) const {
  GraphRun& run = r.runs[index];
  run.nodes[number] = GraphRun::Node::Done;
  const auto is_done = [](GraphRun::Node n) { return n == GraphRun::Node::Done; };
  if (!run.nested || !std::all_of(run.nodes.begin(), run.nodes.end(), is_done)) return;
  run.active = false;
  if (node(c, r.runs[run.parent], run.parent_node).kind == GraphNode::Kind::While)
    r.runs[run.parent].nodes[run.parent_node] = GraphRun::Node::Waiting;  // it looks at its predicate again
  else
    finish_node(r, c, run.parent, run.parent_node);
}

}  // namespace stave::explorer
