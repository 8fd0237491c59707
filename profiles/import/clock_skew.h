// How far the times of a host and of a device may contradict each other in one trace.
#pragma once

#include "core/base/units.h"

namespace stave {

// Recorders bring a device's clock to the host's, and the two drift. Measured in
// an export of Nsight Systems 2026.2 from two GPUs, a process each: of one process
// all long waits for a stream return 7 to 10 us behind the copy that they waited
// for, of the other most return 4 to 7 us before it, a skew of about 15 us. Twice
// that: a wait that returned earlier was for something else.
inline constexpr Picoseconds most_clock_skew = 30_us;

}  // namespace stave
