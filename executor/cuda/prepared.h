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
  std::vector<int> devices;  // by rank; -1: the rank is another process's
  // In this order: what stands below uses what stands above.
  Allocations shared;
  std::vector<std::unique_ptr<RankMemory>> memory;  // by rank; null: another process's, and not opened
  BoardHead* board = nullptr;
  std::unique_ptr<Compiler> compiler;
  std::vector<std::unique_ptr<RankState>> ranks;  // of this process, ascending
  std::unique_ptr<NcclCollectives> nccl;          // none: ranks meet in memory only
  std::unique_ptr<Mailboxes> mailboxes;
  bool one_device = false;  // for all ranks, which are this process's
  bool opens = false;       // the memory of other processes
  bool ready = false;       // in all processes

  Mailboxes::Address address() const;  // of a view of a rank, where this process reaches it
  bool local(Rank rank) const { return devices[rank] >= 0; }
  Prepared() = default;
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;
  ~Prepared();

  const Expanded& expanded(Rank rank) const { return plan->of_rank(rank).expanded; }
};

// How long processes wait for each other outside of steps.
inline constexpr std::chrono::seconds world_patience{120};

// All allocation, compilation, connection, capture. Codes STV0560-0567, STV0811, STV0820-0826, STV0828-0829,
// STV0831.
Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const PrepareOptions& options, const CudaOptions& cuda);

std::unique_ptr<Execution> execution_of(std::unique_ptr<Prepared> prepared);

// What the kernels that wait said last, by rank and stream: those that wait for a peer first.
Hang hang_of(const Prepared& prepared);
void sort_blocked(Hang& hang);  // those that wait for a peer first, then by rank

// STV0810, STV0812: what a kernel of ours found. None: nothing.
std::optional<Failure> fault_of(const Prepared& prepared);

}  // namespace stave::cuda
