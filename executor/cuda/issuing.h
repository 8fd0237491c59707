// What a host thread does in a step for one rank.
#pragma once

#include <atomic>

#include "executor/cuda/prepared.h"

namespace stave::cuda {

Result<void> begin_step(RankState& rank);

// Some actions, until the rank waits for its device or has none left. False: it still waits.
// Errors are located at the command; codes STV0812, STV0820-0825.
Result<bool> advance(const Prepared& prepared, RankState& rank, const std::atomic<bool>& aborted);

}  // namespace stave::cuda
