// Collectives that hold SMs of one rank while they wait for another, whose SMs
// are held for what waits for the first; and communicators whose order on the
// SMs is left to chance.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/check/liveness.h"

namespace stave::check {

// A state in which nothing fits any more.
struct Residence {
  std::vector<RankItem> holding;  // started, and wait for the others
  std::vector<RankItem> waiting;  // for SMs of their ranks
};

// False if all collectives that can be in flight together fit beside each other on every rank.
bool may_run_out(const World& world, std::int32_t sms);
// Of a way on which all ranks come to their ends if SMs suffice. `exact` is cleared if the
// search was too large and only pairs were looked at.
std::optional<Residence> residence(const Plan& plan, const World& world, const Meetings& meetings, Cliques& cliques,
                                   std::int32_t sms, bool& exact);

// Two collectives of different communicators that may be in flight together on two or more ranks.
struct Overlap {
  Rank first_rank = 0, second_rank = 0;
  ItemId first{}, second{};  // of first_rank, in issue order
};
// One for each pair of communicators, but for those known to fit beside each other.
std::vector<Overlap> overlaps(const Plan& plan, const World& world, Cliques& cliques, std::int32_t sms);

}  // namespace stave::check
