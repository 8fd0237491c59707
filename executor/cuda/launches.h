// A rank's commands as work: what is known only once devices, memory and
// communicators are there.
#pragma once

#include <vector>

#include "executor/cuda/prepared.h"

namespace stave::cuda {

// The collectives that ranks launch, of all processes, in the order of ranks.
struct Collectives {
  std::vector<CollectiveUse> in_memory;  // by the ranks' own kernels and copies
  std::vector<CollectiveUse> by_nccl;
};
Collectives collectives_of(const Plan& plan, bool has_nccl);

// Fills `launches` and what goes with them, and puts the rank's memory back to what it is at the start.
// Codes STV0560-0567, STV0811, STV0820-0825.
Result<void> make_launches(Prepared& prepared, RankState& rank, const Gpu& gpu);

}  // namespace stave::cuda
