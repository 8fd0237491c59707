// What the driver's management library, NVML, tells of a device. It is loaded when first
// asked; where it is missing there is nothing to tell.
#pragma once

#include <optional>

#include "executor/cuda/recorder_state.h"

namespace stave::cuda {

// `device` as CUDA counts; for one thread. Rank and time are left open.
std::optional<ClockSample> clocks_of(int device);

}  // namespace stave::cuda
