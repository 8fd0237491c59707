// Numbers for what slices of two runs are called, to compare them by.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/timeline/timeline.h"

namespace stave {

// By slice row, for each of two runs. Equal numbers mean equal things, and the
// numbers do not depend on which run comes first.
struct SliceTokens {
  std::array<std::vector<std::uint32_t>, 2> names;
  // Name, grid, block and bytes, as far as both runs know such things at all;
  // empty where neither does.
  std::array<std::vector<std::uint32_t>, 2> shapes;
};

SliceTokens slice_tokens(const Timeline& a, const Timeline& b);

}  // namespace stave
