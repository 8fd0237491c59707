#include "executor/explorer/transitions.h"

#include <algorithm>
#include <cstring>

#include "core/ir/interpret/interpret.h"
#include "core/ir/interpret/number.h"
#include "executor/reference/memory.h"
#include "executor/reference/step.h"

namespace stave::explorer {

namespace {

std::size_t words(std::size_t bits) { return (bits + 63) / 64; }

// Whether any range overlaps any other.
bool meet_in(const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  for (const Bytes x : a)
    for (const Bytes y : b)
      if (x.overlaps(y)) return true;
  return false;
}

bool conflict(const CommandFacts& a, const CommandFacts& b) {
  return meet_in(a.writes, b.writes) || meet_in(a.writes, b.reads) || meet_in(a.reads, b.writes);
}

}  // namespace

State Transitions::initial() const {
  State state;
  for (const RankFacts& f : facts_.ranks) {
    RankState& r = state.ranks.emplace_back();
    const RankClass& c = *f.rank_class;
    for (const HostLane& lane : c.program.hosts) r.hosts.push_back({lane.actions.first});
    for (const Action& action : c.program.actions)
      if (action.kind == Action::Kind::Handoff) r.hosts[action.to.value].started = false;
    r.events.resize(c.program.events);
    r.arrived.resize(facts_.meetings.size());
    r.values.resize(f.carried);
    r.undefined.resize(words(f.carried));
    r.written.resize(words(f.bytes));
    r.iterations.resize(f.whiles.size());
    Memory memory(c.expanded);
    for (std::size_t i = 0; i < c.expanded.buffers.size(); ++i) {
      const Buffer& buffer = c.expanded.buffers[BufferId{i}];
      const Bytes bytes{f.buffers[i], f.buffers[i] + static_cast<std::uint32_t>(buffer.bytes)};
      const bool constant = buffer.kind == Buffer::Kind::Constant;
      const bool given = constant || (buffer.kind == Buffer::Kind::Parameter && buffer.direction != Direction::Out);
      if (given) set(r.written, bytes, true);
      if (bytes.end > f.carried) continue;
      if (!given) set(r.undefined, bytes, true);
      if (constant && bytes.first < bytes.end)
        std::memcpy(r.values.data() + bytes.first, memory.buffer(BufferId{i}).data(), bytes.end - bytes.first);
    }
  }
  return state;
}

bool Transitions::done(const State& state) const {
  for (Rank rank = 0; rank < state.ranks.size(); ++rank) {
    const RankState& r = state.ranks[rank];
    if (!r.items.empty()) return false;
    const auto& lanes = facts(rank).rank_class->program.hosts;
    for (std::size_t i = 0; i < r.hosts.size(); ++i) {
      const IdRange<Action> actions = lanes[HostId{i}].actions;
      if (r.hosts[i].at != actions.first + actions.count) return false;
    }
  }
  return true;
}

// ---- what can happen ----

void Transitions::enabled(const State& state, Rank rank, std::vector<Transition>& out,
                          std::vector<CommandId>* held_up) const {
  const RankState& r = state.ranks[rank];
  const IssueProgram& program = facts(rank).rank_class->program;
  for (std::uint32_t i = 0; i < r.hosts.size(); ++i) {
    const Host& host = r.hosts[i];
    const IdRange<Action> actions = program.hosts[HostId{i}].actions;
    if (!host.started || host.reading || host.at == actions.first + actions.count) continue;
    const Action& action = program.actions[ActionId{host.at}];
    const auto holds = [&](const Item& item) { return item.stream == action.stream.value; };
    if (action.kind == Action::Kind::HostSync && std::any_of(r.items.begin(), r.items.end(), holds)) continue;
    out.push_back({.kind = Transition::Kind::Host, .rank = rank, .lane = i, .command = action.command});
  }
  enabled_items(state, rank, out, held_up);
  enabled_nodes(state, rank, out, held_up);
}

void Transitions::race_held_up(const State& state, Rank rank, const std::vector<CommandId>& held_up,
                               std::vector<Sighting>& seen) const {
  const auto& commands = facts(rank).commands;
  for (const CommandId waits : held_up)
    for (const CommandId runs : state.ranks[rank].in_flight)
      if (conflict(commands[waits.value], commands[runs.value]))
        seen.push_back({.defect = Defect::Race, .rank = rank, .other_rank = rank, .command = runs, .other = waits});
}

// An item is the head of its stream if no earlier one is on it; a collective holds its
// communicator if no earlier one is of it.
void Transitions::enabled_items(const State& state, Rank rank, std::vector<Transition>& out,
                                std::vector<CommandId>* held_up) const {
  const RankState& r = state.ranks[rank];
  const auto& commands = facts(rank).commands;
  const auto collective = [&](const Item& item) {
    return item.kind == Item::Kind::Launch && commands[item.command.value].collective;
  };
  for (std::size_t i = 0; i < r.items.size(); ++i) {
    const Item& item = r.items[i];
    const auto before = [&](auto same) {
      return std::any_of(r.items.begin(), r.items.begin() + static_cast<std::ptrdiff_t>(i), same);
    };
    if (before([&](const Item& other) { return other.stream == item.stream; })) continue;
    Transition t{.kind = Transition::Kind::Pass, .rank = rank, .lane = item.stream, .command = item.command};
    switch (item.kind) {
      case Item::Kind::Launch:
      case Item::Kind::Predicate:
        if (item.begun) {
          t.kind = Transition::Kind::End;
          ends(state, t, out);
        } else if (!collective(item)) {
          t.kind = Transition::Kind::Begin;
          out.push_back(t);
        } else {
          const std::int32_t own = commands[item.command.value].communicator;
          if (before([&](const Item& other) {
                return collective(other) && commands[other.command.value].communicator == own;
              }))
            break;
          t.kind = Transition::Kind::Start;
          if (fits(state, rank, item.command))
            out.push_back(t);
          else if (held_up != nullptr)
            held_up->push_back(item.command);
        }
        break;
      case Item::Kind::Record: out.push_back(t); break;
      case Item::Kind::Wait:
        if (r.events[item.detail].done >= item.number) out.push_back(t);
        break;
      case Item::Kind::Graph: {
        const auto is_done = [](GraphRun::Node node) { return node == GraphRun::Node::Done; };
        if (!item.begun || std::all_of(r.runs[item.detail].nodes.begin(), r.runs[item.detail].nodes.end(), is_done))
          out.push_back(t);
        break;
      }
    }
  }
}

void Transitions::enabled_nodes(const State& state, Rank rank, std::vector<Transition>& out,
                                std::vector<CommandId>* held_up) const {
  const RankState& r = state.ranks[rank];
  const RankClass& c = *facts(rank).rank_class;
  for (std::uint32_t i = 0; i < r.runs.size(); ++i) {
    const GraphRun& run = r.runs[i];
    if (!run.active) continue;
    const IdRange<GraphNode> nodes = c.program.graphs[run.graph].nodes;
    for (std::uint32_t n = 0; n < run.nodes.size(); ++n) {
      if (run.nodes[n] == GraphRun::Node::Done || run.nodes[n] == GraphRun::Node::Body) continue;
      const GraphNode& node = c.program.nodes[nodes[n]];
      Transition t{.kind = Transition::Kind::End, .rank = rank, .lane = i, .node = n, .command = node.command};
      if (run.nodes[n] == GraphRun::Node::InFlight) {
        ends(state, t, out);
        continue;
      }
      bool ready = true;
      for (const Id<NodeRefTag> ref : node.after)
        ready &= run.nodes[c.program.node_refs[ref].value - nodes.first] == GraphRun::Node::Done;
      if (!ready) continue;
      const bool starts = node.kind == GraphNode::Kind::Launch && facts(rank).commands[node.command.value].collective;
      t.kind = starts ? Transition::Kind::Start : Transition::Kind::Begin;
      if (!starts || fits(state, rank, node.command))
        out.push_back(t);
      else if (held_up != nullptr)
        held_up->push_back(node.command);
    }
  }
}

// The ways in which what is in flight can end.
void Transitions::ends(const State& state, Transition end, std::vector<Transition>& out) const {
  const RankState& r = state.ranks[end.rank];
  const RankFacts& f = facts(end.rank);
  const CommandFacts& c = f.commands[end.command.value];
  if (c.collective) {
    if (all_met(r, end.command)) out.push_back(end);
    return;
  }
  const Payload& payload = f.rank_class->expanded[end.command].payload;
  std::int32_t values = 0;
  if (std::holds_alternative<Cond>(payload)) values = 2;
  if (std::holds_alternative<Switch>(payload))
    values = static_cast<std::int32_t>(f.rank_class->expanded[end.command].regions.size());
  if (std::holds_alternative<While>(payload)) {
    const auto at = std::find(f.whiles.begin(), f.whiles.end(), end.command) - f.whiles.begin();
    values = r.iterations[static_cast<std::size_t>(at)] < 3 ? 2 : 1;  // enough to meet itself twice
  }
  if (values == 0 || !any_set(r.undefined, c.reads[0])) {
    out.push_back(end);
    return;
  }
  for (std::int32_t i = 0; i < values; ++i) {
    end.choice = i;
    out.push_back(end);
  }
}

bool Transitions::fits(const State& state, Rank rank, CommandId command) const {
  std::int32_t used = 0;
  for (const CommandId other : state.ranks[rank].in_flight) used += facts(rank).commands[other.value].ctas;
  return used + facts(rank).commands[command.value].ctas <= facts_.sms;
}

bool Transitions::all_met(const RankState& r, CommandId launch) const {
  return std::all_of(r.arrivals.begin(), r.arrivals.end(),
                     [&](const Arrival& a) { return a.launch != launch || a.met; });
}

// ---- what it does ----

Result<void> Transitions::apply(State& state, const Transition& t, std::vector<Sighting>& seen,
                                std::vector<char>& touched) const {
  RankState& r = state.ranks[t.rank];
  touched[t.rank] = 1;
  switch (t.kind) {
    case Transition::Kind::Host: host(r, t); return {};
    case Transition::Kind::Pass: pass(r, t); return {};
    case Transition::Kind::Begin: begin(state, t, seen); return {};
    case Transition::Kind::Start: begin(state, t, seen); return arrive(state, t, seen, touched);
    case Transition::Kind::End: return end(state, t);
  }
  return {};
}

void Transitions::host(RankState& r, const Transition& t) const {
  const RankClass& c = *facts(t.rank).rank_class;
  Host& host = r.hosts[t.lane];
  const Action& action = c.program.actions[ActionId{host.at}];
  Item item{.stream = action.stream.value, .command = action.command};
  switch (action.kind) {
    case Action::Kind::Launch: r.items.push_back(item); break;
    case Action::Kind::Record:
      item.kind = Item::Kind::Record;
      item.detail = action.event.value;
      item.number = ++r.events[item.detail].issued;
      r.items.push_back(item);
      break;
    case Action::Kind::Wait:
      item.kind = Item::Kind::Wait;
      item.detail = action.event.value;
      item.number = r.events[item.detail].issued;
      r.items.push_back(item);
      break;
    case Action::Kind::ReadPredicate:
      item.kind = Item::Kind::Predicate;
      item.detail = t.lane;
      r.items.push_back(item);
      host.reading = true;
      break;
    case Action::Kind::GraphLaunch:
      item.kind = Item::Kind::Graph;
      item.detail = action.graph.value;
      r.items.push_back(item);
      break;
    case Action::Kind::Handoff: r.hosts[action.to.value].started = true; break;
    case Action::Kind::Branch: {
      std::size_t taken = host.value != 0 ? 0 : 1;
      if (std::holds_alternative<Switch>(c.expanded[action.command].payload))
        taken = switch_branch(host.value, action.targets.size());
      host.at = c.program.targets[action.targets[taken]].value;
      host.value = 0;
      return;
    }
    case Action::Kind::Jump: host.at = action.target.value; return;
    case Action::Kind::HostSync:
    case Action::Kind::HostWork:
    case Action::Kind::RangePush:
    case Action::Kind::RangePop: break;
  }
  ++host.at;
}

void Transitions::pass(RankState& r, const Transition& t) const {
  const auto item = std::find_if(r.items.begin(), r.items.end(), [&](const Item& i) { return i.stream == t.lane; });
  if (item->kind == Item::Kind::Record) {
    EventState& event = r.events[item->detail];
    event.done = std::max(event.done, item->number);
  } else if (item->kind == Item::Kind::Graph && !item->begun) {
    item->begun = true;
    item->detail = start_graph(r, *facts(t.rank).rank_class, GraphId{item->detail});
    return;
  } else if (item->kind == Item::Kind::Graph) {
    r.runs[item->detail].active = false;
  }
  r.items.erase(item);
}

void Transitions::begin(State& state, const Transition& t, std::vector<Sighting>& seen) const {
  RankState& r = state.ranks[t.rank];
  const auto& commands = facts(t.rank).commands;
  const CommandFacts& c = commands[t.command.value];
  if (!std::all_of(c.reads.begin(), c.reads.end(), [&](Bytes read) { return all_set(r.written, read); }))
    seen.push_back({.defect = Defect::Uninitialised, .rank = t.rank, .command = t.command});
  for (const CommandId other : r.in_flight)
    if (other != t.command && conflict(c, commands[other.value]))
      seen.push_back(
          {.defect = Defect::Race, .rank = t.rank, .other_rank = t.rank, .command = other, .other = t.command});
  r.in_flight.push_back(t.command);
  if (t.node)
    r.runs[t.lane].nodes[*t.node] = GraphRun::Node::InFlight;
  else
    std::find_if(r.items.begin(), r.items.end(), [&](const Item& i) { return i.stream == t.lane; })->begun = true;
}

Result<void> Transitions::end(State& state, const Transition& t) const {
  RankState& r = state.ranks[t.rank];
  const RankFacts& f = facts(t.rank);
  const CommandFacts& c = f.commands[t.command.value];
  r.in_flight.erase(std::find(r.in_flight.begin(), r.in_flight.end(), t.command));
  if (c.collective) {
    std::erase_if(r.arrivals, [&](const Arrival& a) { return a.launch == t.command; });
  } else if (c.carries) {
    TRY_VOID(run(r, t.rank, t.command));
  }
  for (const Bytes written : c.writes) set(r.written, written, true);

  if (t.node) {
    if (node(*f.rank_class, r.runs[t.lane], *t.node).kind == GraphNode::Kind::Launch)
      finish_node(r, *f.rank_class, t.lane, *t.node);
    else
      choose_body(r, *f.rank_class, t, read(r, t));
    return {};
  }
  const auto item = std::find_if(r.items.begin(), r.items.end(), [&](const Item& i) { return i.stream == t.lane; });
  if (item->kind == Item::Kind::Predicate) {
    r.hosts[item->detail].value = read(r, t);
    r.hosts[item->detail].reading = false;
  }
  r.items.erase(item);
  return {};
}

// What undefined bytes become is undefined, and so is what a kernel makes.
Result<void> Transitions::run(RankState& r, Rank rank, CommandId id) const {
  const Expanded& e = expanded(rank);
  const Command& command = e[id];
  const CommandFacts& c = facts(rank).commands[id.value];
  const bool undefined =
      std::holds_alternative<Kernel>(command.payload) ||
      std::any_of(c.reads.begin(), c.reads.end(), [&](Bytes read) { return any_set(r.undefined, read); });
  for (const Bytes written : c.writes) set(r.undefined, written, undefined);
  if (undefined) return {};
  std::vector<ConstOperand> operands;
  std::vector<Operand> results;
  const auto bytes = [&](Bytes range) { return std::span(r.values).subspan(range.first, range.end - range.first); };
  for (std::size_t i = 0; i < c.reads.size(); ++i) {
    const View& view = e[command.operands[i]];
    operands.push_back({bytes(c.reads[i]), view.dtype, e.shape(view)});
  }
  for (std::size_t i = 0; i < c.writes.size(); ++i) {
    const View& view = e[command.results[i]];
    results.push_back({bytes(c.writes[i]), view.dtype, e.shape(view)});
  }
  return interpret(e, command, operands, results);
}

// The predicate that ends; what was undefined has then the value that was chosen.
std::int32_t Transitions::read(RankState& r, const Transition& t) const {
  const RankFacts& f = facts(t.rank);
  const Expanded& e = f.rank_class->expanded;
  const Bytes range = f.commands[t.command.value].reads[0];
  const auto bytes = std::span(r.values).subspan(range.first, range.end - range.first);
  const Dtype dtype = e[e[t.command].operands[0]].dtype;
  if (!t.choice) return static_cast<std::int32_t>(load_signed(bytes, dtype, 0));
  store_signed(bytes, dtype, 0, *t.choice);
  set(r.undefined, range, false);
  if (const auto at = std::find(f.whiles.begin(), f.whiles.end(), t.command); at != f.whiles.end()) {
    std::uint8_t& count = r.iterations[static_cast<std::size_t>(at - f.whiles.begin())];
    count = *t.choice != 0 ? static_cast<std::uint8_t>(count + 1) : 0;
  }
  return *t.choice;
}

}  // namespace stave::explorer
