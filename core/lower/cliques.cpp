#include "core/lower/cliques.h"

namespace stave {

Cliques::Seat Cliques::seat_of(Rank rank, const CollectiveAttributes& collective) {
  const std::uint32_t rank_class = plan_.class_of_rank[rank];
  std::vector<Seat>& seats = seats_[{rank_class, collective.axis.value, collective.groups.value}];
  seats.resize(plan_.ranks());
  if (seats[rank].clique) return seats[rank];
  const GroupOfRank group = plan_.of_rank(rank).expanded.group_of(collective, rank);
  if (group.members.empty()) return {};
  const auto [at, added] = ids_.try_emplace(group.members, CliqueId{members_.size()});
  if (added) members_.push_back(group.members);
  for (std::uint32_t i = 0; i < group.members.size(); ++i)
    if (plan_.class_of_rank[group.members[i]] == rank_class) seats[group.members[i]] = {at->second, i};
  return seats[rank];
}

Rank Cliques::peer(Rank rank, CliqueId clique, CoordInt peer) const {
  const std::vector<Rank>& ranks = members(clique);
  return ranks[static_cast<std::size_t>(plan_.of_rank(rank).expanded.at(peer, rank)) % ranks.size()];
}

}  // namespace stave
