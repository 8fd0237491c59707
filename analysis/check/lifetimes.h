// How little device memory a rank could do with if scratch buffers that are never
// used together shared it.
#pragma once

#include <cstdint>

#include "analysis/check/clocks.h"

namespace stave::check {

// `device_bytes` with scratch buffers placed into each other's memory where every use of one ends before every use of
// the other begins: first fit in order of first use, so an upper bound of what is needed. Scratch is undefined at
// entry, which makes that invisible.
std::int64_t shared_device_bytes(const RankClass& rank_class, const Line& line, const Clocks& clocks);

}  // namespace stave::check
