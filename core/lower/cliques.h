// Who meets whom: the lists of ranks that collectives join, each found once.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "core/lower/plan.h"

namespace stave {

using CliqueId = Id<struct CliqueTag>;

class Cliques {
 public:
  // The plan must outlive this.
  explicit Cliques(const Plan& plan) : plan_(plan) {}

  // Where a rank stands in the clique of a collective; none: its groups leave it out.
  struct Seat {
    CliqueId clique{};
    std::uint32_t position = 0;
  };
  Seat seat_of(Rank rank, const CollectiveAttributes& collective);
  const std::vector<Rank>& members(CliqueId clique) const { return members_[clique.value]; }
  // The rank at a send's or recv's `peer`.
  Rank peer(Rank rank, CliqueId clique, CoordInt peer) const;

 private:
  const Plan& plan_;
  std::vector<std::vector<Rank>> members_;  // by clique
  std::map<std::vector<Rank>, CliqueId> ids_;
  // By class, axis and groups, and there by rank: found once for all ranks of a clique.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<Seat>> seats_;
};

}  // namespace stave
