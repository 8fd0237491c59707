// The graphs of a step: a node runs when those before it are done; a conditional node
// is done when the body that it chose is, a while when its predicate is false.
#include "core/lower/lowering.h"
#include "executor/reference/step.h"

namespace stave {

const GraphNode& Step::node_of(const RankState& r, const GraphRun& run, std::uint32_t node) const {
  const IssueProgram& program = r.rank_class->program;
  return program.nodes[program.graphs[run.graph].nodes[node]];
}

std::uint32_t Step::start_graph(Rank rank, GraphId graph, std::optional<std::uint32_t> parent,
                                std::uint32_t parent_node) {
  RankState& r = ranks_[rank];
  std::size_t slot = 0;
  while (slot < r.runs.size() && r.runs[slot].active) ++slot;
  if (slot == r.runs.size()) r.runs.emplace_back();
  GraphRun& run = r.runs[slot];
  const IssueProgram& program = r.rank_class->program;
  const IdRange<GraphNode> nodes = program.graphs[graph].nodes;
  run.graph = graph;
  run.parent = parent;
  run.parent_node = parent_node;
  run.missing.clear();
  run.ready.clear();
  run.left = nodes.size();
  run.active = true;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    run.missing.push_back(program.nodes[nodes[i]].after.count);
    if (run.missing.back() == 0) run.ready.push_back(i);
  }
  return static_cast<std::uint32_t>(slot);
}

Result<bool> Step::act_graphs(Rank rank) {
  const std::size_t runs = ranks_[rank].runs.size();
  if (runs == 0) return false;
  const std::size_t first = options_.seed != 0 ? random(runs) : 0;
  for (std::size_t i = 0; i < runs; ++i) {
    TRY(const bool acted, act_graph(rank, static_cast<std::uint32_t>((first + i) % runs)));
    if (acted) return true;
  }
  return false;
}

Result<bool> Step::act_graph(Rank rank, std::uint32_t index) {
  GraphRun& run = ranks_[rank].runs[index];
  if (!run.active) return false;
  for (std::size_t i = 0; i < run.waiting.size(); ++i) {
    const auto [node, launch] = run.waiting[i];
    if (!rendezvous_.complete(launch)) continue;
    run.waiting.erase(run.waiting.begin() + static_cast<std::ptrdiff_t>(i));
    count(ranks_[rank], node_of(ranks_[rank], run, node).command);
    finish_node(rank, index, node);
    return true;
  }
  if (run.ready.empty()) return false;
  const std::size_t pick = options_.seed != 0 ? random(run.ready.size()) : 0;
  const std::uint32_t node = run.ready[pick];
  run.ready.erase(run.ready.begin() + static_cast<std::ptrdiff_t>(pick));
  TRY_VOID(start_node(rank, index, node));
  return true;
}

Result<void> Step::start_node(Rank rank, std::uint32_t index, std::uint32_t number) {
  RankState& r = ranks_[rank];
  GraphRun& run = r.runs[index];
  const GraphNode& node = node_of(r, run, number);
  std::optional<std::size_t> body;
  switch (node.kind) {
    case GraphNode::Kind::Launch:
      if (uses_communicator(r.rank_class->expanded[node.command])) {
        TRY(const LaunchId launch, rendezvous_.arrive(rank, node.command));
        run.waiting.emplace_back(number, launch);
        return {};
      }
      TRY_VOID(execute(rank, node.command));
      finish_node(rank, index, number);
      return {};
    case GraphNode::Kind::If: body = effects_.predicate(rank, node.command) ? 0 : 1; break;
    case GraphNode::Kind::Switch:
      body = switch_branch(effects_.predicate(rank, node.command), node.bodies.size());
      break;
    case GraphNode::Kind::While:
      if (effects_.predicate(rank, node.command)) {
        TRY_VOID(count_iteration(rank, node.command));
        body = 0;
      } else {
        r.iterations.erase(node.command);
      }
      break;
  }
  ++r.executed[node.command.value];
  if (!body || *body >= node.bodies.size()) {
    finish_node(rank, index, number);
    return {};
  }
  const GraphId graph = r.rank_class->program.graph_refs[node.bodies[*body]];
  if (!r.rank_class->program.graphs[graph].nodes.empty())
    start_graph(rank, graph, index, number);
  else if (node.kind == GraphNode::Kind::While)
    run.ready.push_back(number);
  else
    finish_node(rank, index, number);
  return {};
}

void Step::finish_node(Rank rank, std::uint32_t index, std::uint32_t number) {
  RankState& r = ranks_[rank];
  GraphRun& run = r.runs[index];
  const IssueProgram& program = r.rank_class->program;
  const std::uint32_t base = program.graphs[run.graph].nodes.first;
  const GraphNode& node = program.nodes[NodeId{base + number}];
  r.streams[node.stream.value].last_done = node.command;
  for (const std::uint32_t next : links_[plan_.class_of_rank[rank]].after[base + number])
    if (--run.missing[next] == 0) run.ready.push_back(next);
  if (--run.left > 0 || !run.parent) return;
  run.active = false;
  GraphRun& parent = r.runs[*run.parent];
  if (node_of(r, parent, run.parent_node).kind == GraphNode::Kind::While)
    parent.ready.push_back(run.parent_node);  // it looks at its predicate again
  else
    finish_node(rank, *run.parent, run.parent_node);
}

}  // namespace stave
