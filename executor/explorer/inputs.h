// What predicates can read: the parameters that they derive from, and the values to try.
#pragma once

#include <string>
#include <vector>

#include "executor/explorer/state.h"

namespace stave::explorer {

// One element of a parameter, the same on some ranks.
struct Input {
  struct Place {
    Rank rank = 0;
    std::uint32_t address = 0;
  };
  std::string name;  // "%p", or "%p[2]"
  Dtype dtype = Dtype::Bool;
  std::vector<Place> places;
  std::int32_t values = 2;  // 0, 1, ... are tried
};

// Bool: both values. Integers: 0 to 3, so that a counter lets a loop meet itself; for
// what only switches read, each branch and one beyond. Others stay 0.
std::vector<Input> inputs_of(const Facts& facts);

void write(State& state, const Input& input, std::int32_t value);

}  // namespace stave::explorer
