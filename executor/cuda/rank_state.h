// Everything of one rank that a step uses. Made in prepare; a step allocates nothing.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/lower/plan.h"
#include "executor/cuda/board.h"
#include "executor/cuda/libraries.h"
#include "executor/cuda/memory.h"
#include "executor/cuda/recorder.h"
#include "executor/cuda/work.h"

namespace stave::cuda {

struct RankState {
  Rank rank = 0;
  int device = 0;
  const RankClass* rank_class = nullptr;
  RankMemory* memory = nullptr;
  Allocations own;
  Libraries libraries;
  std::map<StreamId, void*> workspaces;

  std::vector<cudaStream_t> streams;  // by StreamId
  std::vector<cudaEvent_t> events;    // by EventId
  std::vector<cudaEvent_t> joins;     // by StreamId: the end of a step
  cudaEvent_t start = nullptr, end = nullptr;
  std::int32_t* predicate = nullptr;  // pinned
  WaitNote* notes = nullptr;          // pinned, by StreamId
  void* flush = nullptr;              // written before a step, so that L2 holds nothing of the one before
  std::size_t flush_bytes = 0;

  std::vector<Launch> launches;                 // by command
  std::vector<std::uint32_t> predicate_bytes;   // by command; 0: has none
  std::vector<const void*> predicates;          // by command
  std::vector<cudaEvent_t> ends;                // by command: its end, eager and of NCCL only; else null
  std::vector<std::uint64_t> issued;            // by command: when it was issued last in this step, from 1; 0: not yet
  std::vector<char> end_recorded;               // by command: the event belongs to the last issue
  std::uint64_t issues = 0;                     // of this step
  CommandMarks* marks = nullptr;                // pinned, by command; null: a graph has no marks
  std::vector<std::int32_t> communicator_slot;  // by command: in `communicators`, or -1
  std::vector<cudaEvent_t> communicators;       // the end of the last collective on each
  std::vector<std::string> range_names;         // by command: of a `range`

  // Captured modes.
  bool bodies = false;  // the graph has conditional nodes
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  std::uint64_t* body_runs = nullptr;       // on the device, by GraphId: how often it ran in this step
  std::uint64_t* body_runs_seen = nullptr;  // pinned: the same after the step

  // Of the step that runs.
  std::vector<std::int64_t> executed;    // by command
  std::vector<std::int64_t> iterations;  // by command: of a `while` that runs
  CommandId last_issued{};
  std::uint32_t at = 0;   // the next action
  std::size_t taken = 0;  // of the branch
  bool joined = false;    // `end` is recorded
  bool done = false;
  cudaStream_t awaited = nullptr;  // the host goes on when it is empty
  std::uint64_t started_ns = 0;    // on the recorder's clock
  std::int64_t issue_ns = 0;       // that the host spent in actions

  RankState() = default;
  RankState(const RankState&) = delete;
  RankState& operator=(const RankState&) = delete;
  ~RankState();
  void drop_graph();
};

struct GraphContext {
  RankState& rank;
  class Compiler& compiler;
  Recorder* recorder = nullptr;
  BoardHead* board = nullptr;
  std::int64_t max_iterations = 0;
};

// Makes `graph` and `exec` of the rank's program. Codes STV0820-0825.
Result<void> build_graph(const GraphContext& context);

// What `executed` would be if the host had counted, from `body_runs_seen`.
void count_captured(RankState& rank);

}  // namespace stave::cuda
