// A plan with everything that its steps need on the devices.
#pragma once

#include <memory>
#include <vector>

#include "executor/cuda/compiler.h"
#include "executor/cuda/cuda_driver.h"
#include "executor/cuda/mailbox.h"
#include "executor/cuda/nccl.h"
#include "executor/cuda/rank_state.h"

namespace stave::cuda {

struct Prepared {
  const Plan* plan = nullptr;
  PrepareOptions options;
  CudaOptions cuda;
  std::vector<int> devices;  // by rank
  // In this order: what stands below uses what stands above.
  Allocations shared;
  BoardHead* board = nullptr;
  std::unique_ptr<Compiler> compiler;
  std::vector<std::unique_ptr<RankState>> ranks;
  std::unique_ptr<NcclCollectives> nccl;  // none: ranks meet in memory only
  std::unique_ptr<Mailboxes> mailboxes;

  const Expanded& expanded(Rank rank) const { return plan->of_rank(rank).expanded; }
};

// All allocation, compilation, connection, capture. Codes STV0560-0566, STV0811, STV0820-0826.
Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const PrepareOptions& options, const CudaOptions& cuda);

// What the kernels that wait said last, by rank and stream: those that wait for a peer first.
Hang hang_of(const Prepared& prepared);

// STV0810, STV0812: what a kernel of ours found. None: nothing.
std::optional<Failure> fault_of(const Prepared& prepared);

}  // namespace stave::cuda
