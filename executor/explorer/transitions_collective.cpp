// Where ranks meet. As executor/reference/rendezvous.h, but each rank's part of a
// collective that has met ends for itself.
#include <algorithm>

#include "core/ir/interpret/collective.h"
#include "executor/explorer/transitions.h"

namespace stave::explorer {

Result<void> Transitions::arrive(State& state, const Transition& t, std::vector<Sighting>& seen,
                                 std::vector<char>& touched) const {
  RankState& r = state.ranks[t.rank];
  const std::vector<Seat>& seats = facts(t.rank).commands[t.command.value].seats;
  for (std::uint32_t i = 0; i < seats.size(); ++i) {
    Arrival arrival{.launch = t.command, .seat = i};
    if (seats[i].meeting) arrival.number = r.arrived[*seats[i].meeting]++;
    r.arrivals.push_back(arrival);
    if (seats[i].meeting) {
      TRY_VOID(meet(state, t.rank, arrival, seen, touched));
      continue;
    }
    seen.push_back({.defect = Defect::Mismatch,
                    .rank = t.rank,
                    .other_rank = t.rank,
                    .command = seats[i].command,
                    .other = seats[i].command});
    state.mismatched = true;
  }
  return {};
}

Result<void> Transitions::meet(State& state, Rank rank, const Arrival& arrival, std::vector<Sighting>& seen,
                               std::vector<char>& touched) const {
  const auto seat_of = [&](Rank member, const Arrival& a) -> const Seat& {
    return facts(member).commands[a.launch.value].seats[a.seat];
  };
  const std::uint32_t meeting = *seat_of(rank, arrival).meeting;
  const std::vector<Rank>& members = facts_.meetings[meeting].members;
  std::vector<Arrival*> parts;
  std::vector<Seat> seats;
  for (const Rank member : members) {
    std::vector<Arrival>& arrivals = state.ranks[member].arrivals;
    const auto part = std::find_if(arrivals.begin(), arrivals.end(), [&](const Arrival& a) {
      return seat_of(member, a).meeting == meeting && a.number == arrival.number;
    });
    if (part == arrivals.end()) return {};
    parts.push_back(&*part);
    seats.push_back(seat_of(member, *part));
  }
  for (std::size_t i = 1; i < members.size(); ++i) {
    if (seats[i].contract == seats[0].contract) continue;
    seen.push_back({.defect = Defect::Mismatch,
                    .rank = members[0],
                    .other_rank = members[i],
                    .command = seats[0].command,
                    .other = seats[i].command});
    state.mismatched = true;
    return {};
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    parts[i]->met = true;
    touched[members[i]] = 1;
  }
  return mean(state, members, seats);
}

Result<void> Transitions::mean(State& state, const std::vector<Rank>& members, const std::vector<Seat>& seats) const {
  if (std::none_of(seats.begin(), seats.end(), [](const Seat& seat) { return seat.carries; })) return {};
  bool undefined = false;
  for (std::size_t i = 0; i < members.size(); ++i)
    for (const Bytes read : seats[i].reads) undefined |= any_set(state.ranks[members[i]].undefined, read);
  std::vector<Participant> group;
  for (std::size_t i = 0; i < members.size(); ++i) {
    RankState& r = state.ranks[members[i]];
    const RankFacts& f = facts(members[i]);
    const Expanded& e = f.rank_class->expanded;
    for (const Bytes written : seats[i].writes) set(r.undefined, written, undefined);
    Participant& p = group.emplace_back();
    p.rank = members[i];
    const auto operand = [&](ViewId id) -> Operand {
      const View& view = e[id];
      const auto first = static_cast<std::size_t>(f.buffers[view.buffer.value] + e.at(view.offset, members[i]));
      return {std::span(r.values).subspan(first, static_cast<std::size_t>(view.bytes)), view.dtype, e.shape(view)};
    };
    for (const ViewId id : e[seats[i].command].operands) p.operands.push_back(operand(id));
    for (const ViewId id : e[seats[i].command].results) p.results.push_back(operand(id));
  }
  if (undefined) return {};
  const Expanded& e = expanded(members[0]);
  return interpret_collective(e, e[seats[0].command], group);
}

}  // namespace stave::explorer
