// Collectives: who joins what. A collective is one activity of all its ranks; a
// permute, a send and a receive are activities of two ranks each, so a rank does
// not wait for pairs that it has no part in.
#include <algorithm>
#include <set>

#include "core/lower/collective_contract.h"
#include "core/machine/times.h"
#include "simulator/run.h"

namespace stave::simulator {
namespace {

// Keys of pairs carry this bit, so that they never meet those of whole groups.
constexpr std::uint32_t pair_bit = 0x80000000;

// The first collective in these regions, which speaks for a group's clique.
CommandId first_collective(const Expanded& expanded, IdRange<CommandRegion> regions) {
  for (const CommandRegionId region : regions)
    for (const CommandId id : expanded.regions[region].commands) {
      if (attributes_of(expanded[id])) return id;
      if (const CommandId nested = first_collective(expanded, expanded[id].regions)) return nested;
    }
  return {};
}

}  // namespace

bool Run::is_collective(std::uint32_t rank_class, std::uint32_t command) const {
  return collective_[rank_class][command] != 0;
}

const Run::Clique& Run::clique_of(std::uint32_t colour, const CollectiveAttributes& op) {
  const auto key = std::tuple(colour, op.axis.value, op.groups.value);
  if (const auto at = cliques_.find(key); at != cliques_.end()) return at->second;
  const RankState& rank = ranks_[colour];
  Clique& clique = cliques_[key];
  GroupOfRank group = rank.expanded->group_of(op, rank.rank);
  if (group.members.empty()) group = {{rank.rank}, 0};  // left out: it is alone
  clique.members = std::move(group.members);
  clique.position = group.position;
  std::vector<std::int64_t> id;
  for (const Rank member : clique.members) {
    clique.colours.push_back(folding_.colour_of_rank[member]);
    clique.crosses = clique.crosses || topology_.crosses_nodes(member, clique.members[0]);
  }
  clique.distinct = clique.colours;
  std::sort(clique.distinct.begin(), clique.distinct.end());
  id.assign(clique.distinct.begin(), clique.distinct.end());
  clique.distinct.erase(std::unique(clique.distinct.begin(), clique.distinct.end()), clique.distinct.end());
  // With equal ranks folded, groups of one shape are one; unfolded, the colours name the members.
  id.push_back(-1);
  for (const Rank member : clique.members)
    id.push_back(static_cast<std::int64_t>(member) - static_cast<std::int64_t>(clique.members[0]));
  clique.id = clique_ids_.emplace(std::move(id), static_cast<std::uint32_t>(clique_ids_.size())).first->second;
  return clique;
}

// Position of the command's communicator in its rank's list.
std::uint32_t Run::comm_of(std::uint32_t colour, std::uint32_t command) {
  RankState& rank = ranks_[colour];
  std::uint32_t& known = rank.comm_of_command[command];
  if (known != none) return known;
  const Expanded& expanded = *rank.expanded;
  CommandId first{command};
  if (!attributes_of(expanded[first])) first = first_collective(expanded, expanded[first].regions);
  const std::uint32_t clique = first ? clique_of(colour, *attributes_of(expanded[first])).id : 0;
  const std::int32_t number = communicator_of(expanded, CommandId{command});
  const std::uint32_t id =
      comm_ids_.emplace(std::pair(clique, number), static_cast<std::uint32_t>(comm_ids_.size())).first->second;
  const auto at = std::find_if(rank.comms.begin(), rank.comms.end(), [&](const Comm& c) { return c.id == id; });
  known = static_cast<std::uint32_t>(at - rank.comms.begin());
  if (at == rank.comms.end()) rank.comms.emplace_back().id = id;
  return known;
}

void Run::begin_collective(Launch&& launch, std::int64_t now) {
  RankState& rank = ranks_[launch.rank];
  if (launch.comm == none) {  // in a graph, whose edges keep the order
    launch.comm = comm_of(launch.rank, launch.command);
    ++rank.comms[launch.comm].next_ticket;
  }
  launch.sequence = rank.comms[launch.comm].sequence++;
  std::vector<ActivityId> activities;
  add_transfers(launch, launch.command, activities, now);
  if (launch.costed && launch.costed->demand.kind != GridKind::Gang && activities.empty()) {
    begin_here(std::move(launch), *launch.costed, now);  // a group of one rank
    return;
  }
  const Order order{rank.streams[launch.stream].priority, launch.eligible, launch.stream, launch.command};
  OpId op;
  if (activities.empty()) {
    // Neither sends nor receives: a kernel that ends at once.
    op = engine_.start_kernel(launch.rank, order, {}, {}, {}, now);
  } else {
    const Demand& demand = launch.costed->demand;
    const bool copies = demand.where == Where::CopyEngine;
    op = engine_.join(launch.rank, order, copies ? Room::CopyEngine : Room::Sms,
                      copies ? Footprint{} : demand.footprint, launch.costed->spec.tiles, activities, now);
  }
  if (launches_.size() <= op) launches_.resize(op + 1);
  launches_[op] = std::move(launch);
}

void Run::add_transfers(Launch& launch, std::uint32_t command_id, std::vector<ActivityId>& activities,
                        std::int64_t now) {
  RankState& rank = ranks_[launch.rank];
  const Expanded& expanded = *rank.expanded;
  const Command& command = expanded[CommandId{command_id}];
  const CollectiveAttributes* op = attributes_of(command);
  if (!op) {
    for (const CommandRegionId region : command.regions)
      for (const CommandId nested : expanded.regions[region].commands)
        add_transfers(launch, nested.value, activities, now);
    return;
  }
  const Clique& clique = clique_of(launch.rank, *op);
  const Costed& costed = costs_.of(rank.rank_class, CommandId{command_id}, clique.members.size(), clique.crosses);
  launch.group_size = static_cast<std::uint32_t>(clique.members.size());
  // The widest of a group's collectives says how many CTAs its kernel has.
  if (!launch.costed || costed.spec.tiles > launch.costed->spec.tiles) launch.costed = &costed;
  if (clique.members.size() == 1) return;
  contract_ = contract_of(rank.rank_class, command_id, clique.members.size());
  contract_place_ = {launch.rank, command_id};
  const auto peer_at = [&](CoordInt peer) {
    return static_cast<std::uint32_t>(expanded.at(peer, rank.rank)) % static_cast<std::uint32_t>(clique.members.size());
  };
  bool sends = !std::holds_alternative<Recv>(command.payload);
  if (const auto* permute = std::get_if<CollectivePermute>(&command.payload)) {
    sends = false;
    for (const auto& [source, target] : expanded.pairs_of(*permute, clique.members.size())) {
      sends = sends || source == clique.position;
      if (source == clique.position || target == clique.position)
        join_pair(launch, clique, source, target, costed, activities, now);
    }
  } else if (const auto* send = std::get_if<Send>(&command.payload)) {
    join_pair(launch, clique, clique.position, peer_at(send->peer), costed, activities, now);
  } else if (const auto* recv = std::get_if<Recv>(&command.payload)) {
    join_pair(launch, clique, peer_at(recv->peer), clique.position, costed, activities, now);
  } else {
    join_all(launch, clique, costed, activities, now);
  }
  if (sends) rank.energy.transfers_uj += costed.demand.energy_uj;
}

void Run::join_all(Launch& launch, const Clique& clique, const Costed& costed, std::vector<ActivityId>& activities,
                   std::int64_t now) {
  // `activities` tells the collectives of one group apart.
  const TransferKey key{ranks_[launch.rank].comms[launch.comm].id, static_cast<std::uint32_t>(activities.size()),
                        clique.id, launch.sequence};
  uses_.clear();
  if (!open_transfers_.count(key)) {
    std::uint32_t wire = 0;
    for (const auto& [resource, amount] : costed.amounts)
      if (resource == Resource::LinkOut) wire = amount;
    for (const std::uint32_t device : clique.distinct) topology_.local_uses(device, costed.amounts, 1, uses_);
    // Around the ring, each way between two colours once.
    std::set<std::tuple<std::uint32_t, std::uint32_t, bool>> ways;
    for (std::size_t i = 0; wire > 0 && i < clique.members.size(); ++i) {
      const std::size_t next = i + 1 < clique.members.size() ? i + 1 : 0;
      ways.emplace(clique.colours[i], clique.colours[next],
                   topology_.crosses_nodes(clique.members[i], clique.members[next]));
    }
    for (const auto& [from, to, crosses] : ways) topology_.link_uses(from, to, crosses, wire, uses_);
  }
  launch.transfers.push_back(join(key, launch, clique.distinct, costed, activities, now));
}

void Run::join_pair(Launch& launch, const Clique& clique, std::uint32_t source, std::uint32_t target,
                    const Costed& costed, std::vector<ActivityId>& activities, std::int64_t now) {
  const std::uint32_t from = clique.colours[source], to = clique.colours[target];
  const std::uint32_t comm = ranks_[launch.rank].comms[launch.comm].id;
  // The n-th send of one rank to another meets its n-th receive there.
  const auto next = [&](bool sends) { return pair_counts_[{comm, from, to, sends}]++; };
  const bool sends = source == clique.position, receives = target == clique.position;
  std::int64_t number = 0;
  if (sends) number = next(true);
  if (receives) number = next(false);
  const TransferKey key{comm | pair_bit, from, to, number};
  // Folded, the way out and the way in of equal ranks are the same transfer.
  for (const std::uint32_t t : launch.transfers)
    if (transfers_[t].key == key) return;
  uses_.clear();
  std::vector<std::uint32_t> devices{from};
  if (to != from) devices.push_back(to);
  if (!open_transfers_.count(key)) {
    for (const std::uint32_t device : {from, to}) topology_.local_uses(device, costed.amounts, 2, uses_);
    if (source != target)
      for (const auto& [resource, amount] : costed.amounts)
        if (resource == Resource::LinkOut)
          topology_.link_uses(from, to, topology_.crosses_nodes(clique.members[source], clique.members[target]), amount,
                              uses_);
  }
  launch.transfers.push_back(join(key, launch, devices, costed, activities, now));
}

std::uint32_t Run::join(const TransferKey& key, Launch& launch, std::span<const std::uint32_t> devices,
                        const Costed& costed, std::vector<ActivityId>& activities, std::int64_t now) {
  const auto [at, fresh] = open_transfers_.emplace(key, 0);
  if (fresh) {
    std::uint32_t id;
    if (free_transfers_.empty()) {
      id = static_cast<std::uint32_t>(transfers_.size());
      transfers_.emplace_back();
    } else {
      id = free_transfers_.back();
      free_transfers_.pop_back();
    }
    Transfer& t = transfers_[id];
    t.activity = engine_.open_gang(devices, costed.spec, uses_, now);
    t.key = key;
    t.to_join = t.to_end = static_cast<std::uint32_t>(devices.size());
    t.last_arrival = -1;
    t.ends.clear();
    t.contract = contract_;
    t.opened_by = contract_place_;
    at->second = id;
  }
  const std::uint32_t id = at->second;
  Transfer& t = transfers_[id];
  if (t.contract != contract_) report_mismatch(t);
  t.last_arrival = std::max(t.last_arrival, launch.eligible);
  activities.push_back(t.activity);
  if (--t.to_join == 0) open_transfers_.erase(at);
  return id;
}

std::uint32_t Run::contract_of(std::uint32_t rank_class, std::uint32_t command, std::size_t members) {
  const auto [at, fresh] = contract_of_command_.emplace(std::tuple(rank_class, command, members), 0);
  if (fresh) {
    const Expanded& expanded = plan_.classes[rank_class].expanded;
    at->second = contract_ids_
                     .emplace(collective_contract(expanded, expanded[CommandId{command}], members),
                              static_cast<std::uint32_t>(contract_ids_.size()))
                     .first->second;
  }
  return at->second;
}

void Run::report_mismatch(const Transfer& transfer) {
  const auto words_of = [&](std::uint32_t contract) -> std::string_view {
    for (const auto& [words, id] : contract_ids_)
      if (id == contract) return words;
    return "";
  };
  const Expanded& here = *ranks_[contract_place_.rank].expanded;
  const Expanded& there = *ranks_[transfer.opened_by.rank].expanded;
  const CommandId mine{contract_place_.command}, theirs{transfer.opened_by.command};
  Failure failure = error_at(here.place(here[mine]), "STV0810",
                             "collectives do not match: rank {} issues `{}` ({}), rank {} issues `{}` ({})",
                             ranks_[contract_place_.rank].rank, here.path(mine), words_of(contract_),
                             ranks_[transfer.opened_by.rank].rank, there.path(theirs), words_of(transfer.contract));
  failure.problems[0].notes.push_back({"the other one is here", there.place(there[theirs])});
  if (!mismatch_) mismatch_ = std::move(failure.problems[0]);
}

void Run::end_transfers(Launch& launch, std::uint32_t slice) {
  for (const std::uint32_t id : launch.transfers) {
    Transfer& t = transfers_[id];
    t.ends.push_back({launch.rank, launch.eligible, slice});
    if (--t.to_end > 0) continue;
    // All waited for the last to arrive.
    const auto last = std::max_element(t.ends.begin(), t.ends.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.arrival, b.rank) < std::tuple(b.arrival, a.rank);
    });
    for (const Transfer::End& end : t.ends)
      if (end.rank != last->rank && end.arrival < last->arrival)
        record_.flow(last->rank, last->slice, end.rank, end.slice, FlowKind::Collective);
    free_transfers_.push_back(id);
  }
}

// The parts of a collective's slice: waiting for the others to arrive, waiting
// for room on all of them, then moving.
void Run::emit_parts(const OpState& op, const Launch& launch, std::uint32_t slice, std::int64_t now) {
  std::int64_t arrival = launch.eligible;
  for (const std::uint32_t t : launch.transfers) arrival = std::max(arrival, transfers_[t].last_arrival);
  const std::int64_t moved = op.moved < 0 ? now : op.moved;
  const std::int64_t arrived = std::clamp(arrival, op.started, moved);
  const bool sourced = launch.costed && !launch.costed->demand.source.empty();
  const StringId source = sourced ? record_.name(launch.costed->demand.source) : names_.model;
  record_.cost(launch.rank, slice, names_.arrival_wait, arrived - op.started, names_.model, source);
  record_.cost(launch.rank, slice, names_.residence_wait, moved - arrived, names_.model, source);
  record_.cost(launch.rank, slice, names_.transfer, now - moved, names_.model, source);

  const RankState& rank = ranks_[launch.rank];
  const Expanded& expanded = *rank.expanded;
  const Command& command = expanded[CommandId{launch.command}];
  CollectiveDetail detail;
  detail.slice = SliceId{slice};
  detail.communicator = record_.name(fmt::format("{}", communicator_of(expanded, CommandId{launch.command})));
  detail.sequence = launch.sequence;
  detail.op = record_.op_name(rank.rank_class, launch.command);
  const IdRange<View> views = command.operands.empty() ? command.results : command.operands;
  if (!views.empty()) {
    detail.dtype = record_.name(name_of(expanded[views[0]].dtype));
    detail.count = expanded.elements(expanded[views[0]]);
    const bool result = std::holds_alternative<AllGather>(command.payload);
    detail.bytes = expanded[result ? command.results[0] : views[0]].bytes;
  }
  detail.ranks = launch.group_size;
  detail.arrival_wait = Picoseconds{arrived - op.started};
  detail.transfer = Picoseconds{now - moved};
  if (launch.costed) {
    const bool copies = launch.costed->demand.where == Where::CopyEngine;
    detail.algorithm = record_.name(copies ? "copy_engine" : "ring");
    detail.channels = static_cast<std::uint32_t>(copies ? 0 : launch.costed->spec.tiles);
  }
  record_.collective(launch.rank, detail);
}

}  // namespace stave::simulator
