#include "executor/reference/rendezvous.h"

#include <algorithm>

#include "core/lower/collective_contract.h"

namespace stave {

void Rendezvous::leaves(Rank rank, CommandId command, std::vector<CommandId>& out) const {
  const Expanded& e = expanded(rank);
  if (attributes_of(e[command])) out.push_back(command);
  for (const CommandRegionId region : e[command].regions)
    for (const CommandId id : e.regions[region].commands) leaves(rank, id, out);
}

Result<LaunchId> Rendezvous::arrive(Rank rank, CommandId command) {
  std::vector<CommandId> parts;
  leaves(rank, command, parts);
  const LaunchId launch{launches_.size()};
  launches_.push_back({static_cast<std::uint32_t>(parts.size())});
  const std::int32_t communicator = communicator_of(expanded(rank), command);
  for (const CommandId part : parts) TRY_VOID(arrive_part({rank, part, launch}, communicator));
  return launch;
}

Result<void> Rendezvous::arrive_part(Part part, std::int32_t communicator) {
  const Expanded& e = expanded(part.rank);
  const Command& command = e[part.command];
  const Cliques::Seat seat = cliques_.seat_of(part.rank, *attributes_of(command));
  if (!seat.clique)
    return error_at(e.place(command), "STV0811", "rank {} runs `{}`, but its groups leave this rank out", part.rank,
                    e.path(part.command));
  const SequenceKey sequence{seat.clique, communicator};
  const auto peer = [&](CoordInt position) { return cliques_.peer(part.rank, seat.clique, position); };
  if (const auto* send = std::get_if<Send>(&command.payload))
    return join_channel(part, {sequence, part.rank, peer(send->peer)}, true);
  if (const auto* recv = std::get_if<Recv>(&command.payload))
    return join_channel(part, {sequence, peer(recv->peer), part.rank}, false);
  return join_meeting(part, sequence, seat.position);
}

Result<void> Rendezvous::join_meeting(Part part, const SequenceKey& key, std::uint32_t position) {
  const std::size_t size = cliques_.members(key.first).size();
  Sequence& sequence = sequences_[key];
  sequence.next.resize(size);
  const std::uint64_t number = sequence.next[position]++;
  Meeting& meeting = sequence.open[number];
  meeting.parts.resize(size);
  meeting.parts[position] = part;
  if (++meeting.arrived < size) return {};
  std::vector<Part> parts;
  for (const auto& p : meeting.parts) parts.push_back(*p);
  sequence.open.erase(number);
  return meet(parts);
}

Result<void> Rendezvous::join_channel(Part part, const ChannelKey& key, bool sends) {
  Channel& channel = channels_[key];
  std::deque<Part>& own = sends ? channel.sends : channel.recvs;
  std::deque<Part>& other = sends ? channel.recvs : channel.sends;
  if (other.empty()) {
    own.push_back(part);
    return {};
  }
  const Part met = other.front();
  other.pop_front();
  const Part both[] = {sends ? part : met, sends ? met : part};
  return meet(both);
}

Result<void> Rendezvous::meet(std::span<const Part> parts) {
  const auto said = [&](const Part& p) {
    return collective_contract(expanded(p.rank), expanded(p.rank)[p.command], parts.size());
  };
  const std::string first = said(parts[0]);
  for (const Part& p : parts.subspan(1)) {
    if (const std::string other = said(p); other != first) {
      const Expanded& a = expanded(parts[0].rank);
      const Expanded& b = expanded(p.rank);
      Failure failure = error_at(a.place(a[parts[0].command]), "STV0810",
                                 "ranks meet in different collectives: rank {} runs `{}` ({}), rank {} runs `{}` ({})",
                                 parts[0].rank, a.path(parts[0].command), first, p.rank, b.path(p.command), other);
      failure.problems[0].notes.push_back({fmt::format("rank {}'s part", p.rank), b.place(b[p.command])});
      return failure;
    }
  }
  TRY_VOID(meaning_(parts));
  for (const Part& p : parts) --launches_[p.launch.value].left;
  return {};
}

Rendezvous::Missing Rendezvous::missing(LaunchId launch) const {
  for (const auto& [key, channel] : channels_) {
    for (const Part& p : channel.sends)
      if (p.launch == launch) return {key.to, fmt::format("rank {} has no recv from rank {} yet", key.to, key.from)};
    for (const Part& p : channel.recvs)
      if (p.launch == launch) return {key.from, fmt::format("rank {} has no send to rank {} yet", key.from, key.to)};
  }
  for (const auto& [key, sequence] : sequences_)
    for (const auto& [number, meeting] : sequence.open) {
      const bool mine = std::any_of(meeting.parts.begin(), meeting.parts.end(),
                                    [&](const auto& p) { return p && p->launch == launch; });
      if (!mine) continue;
      std::string absent;
      std::optional<Rank> first;
      const std::vector<Rank>& members = cliques_.members(key.first);
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (meeting.parts[i]) continue;
        if (!first) first = members[i];
        absent += fmt::format("{}{}", absent.empty() ? "" : ", ", members[i]);
      }
      return {*first, fmt::format("rank{} {} has not started collective {} of communicator {}",
                                  absent.find(',') == std::string::npos ? "" : "s", absent, number, key.second)};
    }
  return {};
}

}  // namespace stave
