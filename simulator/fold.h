// Which ranks of a plan are equal, so that one of each kind is simulated.
//
// Colour refinement: ranks start with the colour of their program; ranks whose
// collectives join differently coloured partners part, until nothing changes.
// Ranks of one colour then issue the same commands, wait for the same colours
// and load the same links, so they do everything at the same time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/lower/plan.h"

namespace stave::simulator {

struct Folding {
  std::vector<std::uint32_t> colour_of_rank;
  std::vector<Rank> representative;      // by colour; colours count in order of their first rank
  std::vector<std::vector<Rank>> ranks;  // by colour

  std::size_t colours() const { return representative.size(); }
};

// `apart`: ranks that something outside the plan makes different.
Folding fold(const Plan& plan, int devices_per_node, const std::vector<Rank>& apart);
// Every rank its own colour.
Folding unfolded(std::size_t ranks);

}  // namespace stave::simulator
