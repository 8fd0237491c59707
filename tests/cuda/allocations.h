// How often this program has called operator new.
#pragma once

#include <cstdint>

namespace stave {

std::int64_t allocations_until_now();

}  // namespace stave
