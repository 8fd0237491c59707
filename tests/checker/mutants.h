// A schedule with one mistake in it, as people make them: each edit of a list, at
// each place where it can be made.
#pragma once

#include <string>
#include <vector>

#include "core/lower/plan.h"

namespace stave {

struct Mutant {
  std::string what;  // "f/async_done#1 at the end, on all ranks"
  Expansion expansion;
};

// Those that verify. An edit is made on all ranks and, of collectives, also on the last one alone.
std::vector<Mutant> mutants_of(const Expansion& expansion);

}  // namespace stave
