#include "executor/explorer/facts.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/lower/collective_contract.h"
#include "core/lower/lowering.h"

namespace stave::explorer {

namespace {

bool is_predicate(const Command& command) {
  return std::visit(
      []<class T>(const T&) {
        return std::is_same_v<T, Cond> || std::is_same_v<T, Switch> || std::is_same_v<T, While>;
      },
      command.payload);
}

// The collective, or those of a group.
void leaves(const Expanded& e, CommandId id, std::vector<CommandId>& out) {
  if (attributes_of(e[id])) out.push_back(id);
  for (const CommandRegionId region : e[id].regions)
    for (const CommandId inner : e.regions[region].commands) leaves(e, inner, out);
}

// Marks the buffers that predicates depend on, backwards until nothing is added.
class Carrying {
 public:
  explicit Carrying(const Plan& plan) : plan_(plan) {
    for (const RankClass& c : plan.classes) carrying_.emplace_back(c.expanded.buffers.size());
    for (std::size_t c = 0; c < carrying_.size(); ++c)
      for (const Command& command : plan.classes[c].expanded.commands)
        if (is_predicate(command)) mark(c, command.operands);
    for (bool more = true; more;) {
      more = false;
      for (std::size_t c = 0; c < carrying_.size(); ++c)
        for (const Command& command : plan.classes[c].expanded.commands) more |= follow(c, command);
    }
  }
  std::vector<std::vector<char>> take() { return std::move(carrying_); }

 private:
  bool mark(std::size_t c, IdRange<View> views) {
    bool added = false;
    for (const ViewId view : views) {
      char& mine = carrying_[c][plan_.classes[c].expanded[view].buffer.value];
      added |= mine == 0;
      mine = 1;
    }
    return added;
  }

  bool follow(std::size_t c, const Command& command) {
    if (is_predicate(command)) return false;
    const Expanded& e = plan_.classes[c].expanded;
    bool carries = false;
    for (const ViewId view : command.results) carries |= carrying_[c][e[view].buffer.value] != 0;
    bool added = false;
    if (attributes_of(command)) {
      const std::string meets = word(command);
      if (carries) added |= words_.insert(meets).second;
      if (!words_.contains(meets)) return added;
    } else if (!carries) {
      return false;
    }
    added |= mark(c, command.operands);
    added |= mark(c, command.results);
    return added;
  }

  // Equal for collectives that may meet.
  static std::string word(const Command& command) {
    return std::visit(
        []<class T>(const T&) -> std::string {
          if constexpr (std::is_same_v<T, Send> || std::is_same_v<T, Recv>) return "send/recv";
          return std::string(T::info.name);
        },
        command.payload);
  }

  const Plan& plan_;
  std::vector<std::vector<char>> carrying_;
  std::set<std::string> words_;
};

// A chain of nodes runs one after the other.
bool is_chain(const IssueProgram& program, const Graph& graph) {
  for (std::size_t i = 1; i < graph.nodes.size(); ++i) {
    bool follows = false;
    for (const Id<NodeRefTag> ref : program.nodes[graph.nodes[i]].after)
      follows |= program.node_refs[ref] == graph.nodes[i - 1];
    if (!follows) return false;
  }
  return true;
}

class FactsOfPlan {
 public:
  FactsOfPlan(const Plan& plan, std::int32_t sms) {
    facts_.plan = &plan;
    facts_.sms = sms;
    facts_.carrying = Carrying(plan).take();
    for (Rank rank = 0; rank < plan.ranks(); ++rank) add(rank);
  }
  Facts take() { return std::move(facts_); }

 private:
  void add(Rank rank) {
    const std::uint32_t rank_class = facts_.plan->class_of_rank[rank];
    const std::vector<char>& carrying = facts_.carrying[rank_class];
    RankFacts& r = facts_.ranks.emplace_back();
    r.rank_class = &facts_.plan->classes[rank_class];
    const Expanded& e = r.rank_class->expanded;
    r.buffers.resize(e.buffers.size());
    for (const char carried : {1, 0}) {
      for (std::size_t i = 0; i < r.buffers.size(); ++i) {
        if (carrying[i] != carried) continue;
        r.buffers[i] = r.bytes;
        r.bytes += static_cast<std::uint32_t>(e.buffers[BufferId{i}].bytes);
      }
      if (carried != 0) r.carried = r.bytes;
    }
    for (std::size_t i = 0; i < e.commands.size(); ++i) r.commands.push_back(command(r, rank, CommandId{i}));
    for (std::size_t i = 0; i < e.commands.size(); ++i)
      if (std::holds_alternative<While>(e[CommandId{i}].payload)) r.whiles.push_back(CommandId{i});
    const IssueProgram& program = r.rank_class->program;
    r.concurrent = program.hosts.size() > 1;
    if (facts_.plan->mode == Mode::Eager) r.concurrent |= program.streams.size() > 1;
    for (const Graph& graph : program.graphs) r.concurrent |= !is_chain(program, graph);
    // At most one collective of a communicator runs at a time.
    std::map<std::int32_t, std::int32_t> most;
    for (const CommandFacts& c : r.commands)
      if (c.collective) most[c.communicator] = std::max(most[c.communicator], c.ctas);
    std::int64_t sum = 0;
    for (const auto& [communicator, ctas] : most) sum += ctas;
    r.waits_for_sms = sum > facts_.sms;
  }

  static void add_views(const RankFacts& r, Rank rank, IdRange<View> views, std::vector<Bytes>& out) {
    const Expanded& e = r.rank_class->expanded;
    for (const ViewId id : views) {
      const View& view = e[id];
      const auto first = static_cast<std::uint32_t>(r.buffers[view.buffer.value] + e.at(view.offset, rank));
      out.push_back({first, first + static_cast<std::uint32_t>(view.bytes)});
    }
  }

  CommandFacts command(const RankFacts& r, Rank rank, CommandId id) {
    const Expanded& e = r.rank_class->expanded;
    CommandFacts facts;
    facts.collective = uses_communicator(e[id]);
    if (!facts.collective) {
      add_views(r, rank, e[id].operands, facts.reads);
      add_views(r, rank, e[id].results, facts.writes);
      facts.carries = carries(r, facts.writes);
      return facts;
    }
    facts.communicator = communicator_of(e, id);
    std::vector<CommandId> parts;
    leaves(e, id, parts);
    for (const CommandId part : parts) {
      const Command& c = e[part];
      const CollectiveAttributes& collective = *attributes_of(c);
      if (collective.algorithm != Algorithm::CopyEngine)
        facts.ctas = std::max(facts.ctas, std::min(collective.max_ctas, facts_.sms));
      const GroupOfRank group = e.group_of(collective, rank);
      Seat& made = facts.seats.emplace_back(seat(e, rank, part, group, facts.communicator));
      if (reads_operands(e, c, group)) add_views(r, rank, c.operands, made.reads);
      add_views(r, rank, c.results, made.writes);
      made.carries = carries(r, made.writes);
      facts.reads.insert(facts.reads.end(), made.reads.begin(), made.reads.end());
      facts.writes.insert(facts.writes.end(), made.writes.begin(), made.writes.end());
    }
    return facts;
  }

  static bool carries(const RankFacts& r, const std::vector<Bytes>& ranges) {
    return std::any_of(ranges.begin(), ranges.end(), [&](Bytes range) { return range.first < r.carried; });
  }

  static bool reads_operands(const Expanded& e, const Command& command, const GroupOfRank& group) {
    if (const auto* broadcast = std::get_if<Broadcast>(&command.payload))
      return static_cast<std::int64_t>(group.position) == broadcast->root;
    if (const auto* permute = std::get_if<CollectivePermute>(&command.payload)) {
      const Pairs pairs = e.pairs_of(*permute, group.members.size());
      return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == group.position; });
    }
    return true;
  }

  Seat seat(const Expanded& e, Rank rank, CommandId id, const GroupOfRank& group, std::int32_t communicator) {
    const Command& command = e[id];
    if (group.members.empty()) return {.command = id};
    const auto peer = [&](CoordInt position) {
      return group.members[static_cast<std::size_t>(e.at(position, rank)) % group.members.size()];
    };
    if (const auto* send = std::get_if<Send>(&command.payload))
      return seat(e, id, group.members, communicator, {rank, peer(send->peer)});
    if (const auto* recv = std::get_if<Recv>(&command.payload))
      return seat(e, id, group.members, communicator, {peer(recv->peer), rank});
    return seat(e, id, group.members, communicator, {});
  }

  // A channel joins two of the clique.
  Seat seat(const Expanded& e, CommandId id, const std::vector<Rank>& clique, std::int32_t communicator,
            const std::vector<Rank>& channel) {
    const std::vector<Rank>& members = channel.empty() ? clique : channel;
    const std::string contract = collective_contract(e, e[id], members.size());
    const auto [at, added] = meetings_.try_emplace({clique, communicator, channel}, facts_.meetings.size());
    if (added) facts_.meetings.push_back({members});
    const auto [text, fresh] = contracts_.try_emplace(contract, facts_.contracts.size());
    if (fresh) facts_.contracts.push_back(contract);
    return {.command = id, .meeting = at->second, .contract = text->second};
  }

  Facts facts_;
  std::map<std::tuple<std::vector<Rank>, std::int32_t, std::vector<Rank>>, std::uint32_t> meetings_;
  std::map<std::string, std::uint32_t> contracts_;
};

}  // namespace

Facts facts_of(const Plan& plan, std::int32_t sms) { return FactsOfPlan(plan, sms).take(); }

}  // namespace stave::explorer
