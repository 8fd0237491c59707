// Compute and memory commands as work. Everything that takes time happens here:
// compilation, heuristics, workspaces.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/ir/expanded.h"
#include "core/lower/plan.h"
#include "executor/cuda/compiler.h"
#include "executor/cuda/libraries.h"
#include "executor/cuda/memory.h"
#include "executor/cuda/work.h"

namespace stave::cuda {

// What preparing a command of one rank needs. The current device is the rank's.
struct ComputeContext {
  const Expanded& expanded;
  Rank rank = 0;
  const RankMemory& memory;
  Allocations& own;
  Compiler& compiler;
  Libraries& libraries;
  std::uint32_t multiprocessors = 0;
  int device = 0;
  // Of one stream: work on a stream is in order, so that all its gemms share one.
  std::map<StreamId, void*>& workspaces;

  std::byte* at(ViewId view) const { return memory.view(expanded, view, rank); }
};

inline constexpr std::size_t gemm_workspace_bytes = std::size_t{32} << 20;  // what cuBLAS advises for Hopper

// Appends the work of a memory or compute command that stands on `stream`.
// Codes STV0560-0563 (not on a GPU), STV0820-0825.
Result<void> add_compute(const ComputeContext& context, CommandId command, StreamId stream, Launch& launch);

Result<void> add_gemm(const ComputeContext& context, const Command& command, StreamId stream, Launch& launch);

}  // namespace stave::cuda
