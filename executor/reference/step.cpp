#include "executor/reference/step.h"

#include <algorithm>

#include "core/lower/lowering.h"

namespace stave {

Step::Step(const Plan& plan, const PrepareOptions& options, StepEffects effects)
    : plan_(plan),
      options_(options),
      effects_(std::move(effects)),
      rendezvous_(plan, effects_.run_together),
      random_state_(options.seed) {
  for (const RankClass& c : plan.classes) {
    GraphLinks& links = links_.emplace_back();
    links.after.resize(c.program.nodes.size());
    for (const Graph& graph : c.program.graphs)
      for (const NodeId node : graph.nodes)
        for (const Id<NodeRefTag> ref : c.program.nodes[node].after)
          links.after[c.program.node_refs[ref].value].push_back(node.value - graph.nodes.first);
  }
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    RankState& r = ranks_.emplace_back();
    r.rank_class = &plan.of_rank(rank);
    const IssueProgram& program = r.rank_class->program;
    for (const HostLane& lane : program.hosts)
      r.hosts.push_back({lane.actions.first, lane.actions.first + lane.actions.count});
    for (const Action& action : program.actions)
      if (action.kind == Action::Kind::Handoff) r.hosts[action.to.value].started = false;
    r.streams.resize(program.streams.size());
    r.events.resize(program.events);
    r.executed.resize(r.rank_class->expanded.commands.size());
  }
}

// splitmix64 (Steele, Lea, Flood 2014): the same numbers with every library.
std::uint64_t Step::random(std::uint64_t below) {
  std::uint64_t z = (random_state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (z ^ (z >> 31)) % below;
}

Result<StepReport> Step::run() {
  std::vector<Actor> actors;
  for (Rank rank = 0; rank < ranks_.size(); ++rank) {
    for (std::uint32_t i = 0; i < ranks_[rank].hosts.size(); ++i) actors.push_back({Actor::Kind::Host, rank, i});
    for (std::uint32_t i = 0; i < ranks_[rank].streams.size(); ++i) actors.push_back({Actor::Kind::Stream, rank, i});
    actors.push_back({Actor::Kind::Graphs, rank, 0});
  }
  // Round robin: all in turn. Random: the first that can act in an order that
  // changes now and then, so that some actors run far ahead of others.
  bool progress = true;
  while (progress) {
    progress = false;
    if (options_.seed != 0 && random(8) == 0)
      for (std::size_t i = actors.size(); i > 1; --i) std::swap(actors[i - 1], actors[random(i)]);
    for (const Actor& actor : actors) {
      TRY_VOID(still_wanted(options_.progress));
      TRY(const bool acted, act(actor));
      progress |= acted;
      if (acted && options_.seed != 0) break;
    }
  }
  StepReport report;
  if (!done()) report.hang = hang();
  for (RankState& r : ranks_) report.executed.push_back(std::move(r.executed));
  return report;
}

bool Step::done() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](const RankState& r) {
    return std::all_of(r.hosts.begin(), r.hosts.end(), [](const Host& h) { return h.at == h.end; }) &&
           std::all_of(r.streams.begin(), r.streams.end(), [](const Stream& s) { return s.items.empty(); });
  });
}

Result<bool> Step::act(const Actor& actor) {
  switch (actor.kind) {
    case Actor::Kind::Host: return act_host(actor.rank, actor.index);
    case Actor::Kind::Stream: return act_stream(actor.rank, actor.index);
    case Actor::Kind::Graphs: return act_graphs(actor.rank);
  }
  return false;
}

Result<bool> Step::act_host(Rank rank, std::uint32_t index) {
  RankState& r = ranks_[rank];
  Host& host = r.hosts[index];
  if (!host.started || host.reading || host.at == host.end) return false;
  const Action& action = r.rank_class->program.actions[ActionId{host.at}];
  const auto push = [&](Item item) { r.streams[action.stream.value].items.push_back(item); };
  switch (action.kind) {
    case Action::Kind::Launch: {
      Item item{.command = action.command};
      if (uses_communicator(r.rank_class->expanded[action.command])) {
        Communicator& c = r.communicators[communicator_of(r.rank_class->expanded, action.command)];
        item.number = c.next_ticket++;
        c.queue.emplace_back(item.number, action.command);
      }
      push(item);
      break;
    }
    case Action::Kind::Record:
      push({.kind = Item::Kind::Record,
            .command = action.command,
            .event = action.event,
            .number = ++r.events[action.event.value].issued});
      break;
    case Action::Kind::Wait:
      push({.kind = Item::Kind::Wait,
            .command = action.command,
            .event = action.event,
            .number = r.events[action.event.value].issued});
      break;
    case Action::Kind::HostSync:
      if (!r.streams[action.stream.value].items.empty()) return false;
      break;
    case Action::Kind::Handoff: r.hosts[action.to.value].started = true; break;
    case Action::Kind::ReadPredicate:
      push({.kind = Item::Kind::Predicate, .command = action.command, .host = index});
      host.reading = true;
      break;
    case Action::Kind::Branch: TRY_VOID(branch(rank, host, action)); return true;
    case Action::Kind::Jump: host.at = action.target.value; return true;
    case Action::Kind::GraphLaunch: push({.kind = Item::Kind::Graph, .graph = action.graph}); break;
    case Action::Kind::HostWork:
    case Action::Kind::RangePush:
    case Action::Kind::RangePop: break;
  }
  ++host.at;
  return true;
}

Result<void> Step::branch(Rank rank, Host& host, const Action& action) {
  RankState& r = ranks_[rank];
  std::size_t taken = host.value ? 0 : 1;
  const Payload& payload = r.rank_class->expanded[action.command].payload;
  if (std::holds_alternative<Switch>(payload)) taken = switch_branch(host.value, action.targets.size());
  if (std::holds_alternative<While>(payload)) {
    if (taken != 0) r.iterations.erase(action.command);
    if (taken == 0) TRY_VOID(count_iteration(rank, action.command));
  }
  ++r.executed[action.command.value];
  host.at = r.rank_class->program.targets[action.targets[taken]].value;
  return {};
}

Result<void> Step::count_iteration(Rank rank, CommandId command) {
  RankState& r = ranks_[rank];
  if (++r.iterations[command] <= options_.max_iterations) return {};
  const Expanded& e = r.rank_class->expanded;
  return error_at(e.place(e[command]), "STV0812",
                  "`{}` on rank {} goes on after {} iterations, which is the limit; does its condition ever become "
                  "false?",
                  e.path(command), rank, options_.max_iterations);
}

void Step::count(RankState& r, CommandId command) {
  ++r.executed[command.value];
  if (options_.progress) options_.progress->ran();
}

Result<void> Step::execute(Rank rank, CommandId command) {
  count(ranks_[rank], command);
  return effects_.run(rank, command);
}

Result<bool> Step::act_stream(Rank rank, std::uint32_t index) {
  RankState& r = ranks_[rank];
  Stream& stream = r.streams[index];
  if (stream.items.empty()) return false;
  Item& item = stream.items.front();
  switch (item.kind) {
    case Item::Kind::Launch:
      if (uses_communicator(r.rank_class->expanded[item.command])) {
        Communicator& c = r.communicators[communicator_of(r.rank_class->expanded, item.command)];
        if (!item.started) {
          if (c.queue.front().first != item.number) return false;
          item.started = true;
          TRY(item.launch, rendezvous_.arrive(rank, item.command));
          return true;
        }
        if (!rendezvous_.complete(item.launch)) return false;
        c.queue.pop_front();
        count(r, item.command);
      } else {
        TRY_VOID(execute(rank, item.command));
      }
      stream.last_done = item.command;
      break;
    case Item::Kind::Record: {
      Event& event = r.events[item.event.value];
      event.done = std::max(event.done, item.number);
      break;
    }
    case Item::Kind::Wait:
      if (r.events[item.event.value].done < item.number) return false;
      break;
    case Item::Kind::Predicate:
      r.hosts[item.host].value = effects_.predicate(rank, item.command);
      r.hosts[item.host].reading = false;
      break;
    case Item::Kind::Graph:
      if (!item.started) {
        item.started = true;
        item.graph_run = start_graph(rank, item.graph, std::nullopt, 0);
        return true;
      }
      if (r.runs[item.graph_run].left > 0) return false;
      r.runs[item.graph_run].active = false;
      break;
  }
  stream.items.pop_front();
  return true;
}

}  // namespace stave
