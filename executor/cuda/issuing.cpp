#include "executor/cuda/issuing.h"

#include <nvtx3/nvToolsExt.h>

#include "core/lower/lowering.h"
#include "executor/reference/step.h"

namespace stave::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int actions_a_turn = 64;

bool gives_up(const Prepared& p) { return *const_cast<volatile std::uint32_t*>(&p.board->abort) != 0; }

Failure failed(const RankState& r, const Status& status, CommandId command) {
  const Expanded& e = r.rank_class->expanded;
  if (!command) return cuda_failure(static_cast<cudaError_t>(status.code), status.call);
  return failure_of(status, e.path(command), r.rank, e.place(e[command]));
}

#define ISSUE_TRY(call) \
  if (const cudaError_t e = (call); e != cudaSuccess) return failed(r, status_of(e, #call), action.command)

// A captured step is all on stream 0, a graph's launch.
Result<void> join(RankState& r) {
  const std::size_t used = r.exec ? 1 : r.streams.size();
  for (std::size_t s = 1; s < used; ++s) {
    CUDA_TRY(cudaEventRecord(r.joins[s], r.streams[s]));
    CUDA_TRY(cudaStreamWaitEvent(r.streams[0], r.joins[s], 0));
  }
  CUDA_TRY(cudaEventRecord(r.end, r.streams[0]));
  return {};
}

// Which target of a branch, from the predicate just read.
Result<std::size_t> branch(RankState& r, const Action& action, std::int64_t max_iterations) {
  const Expanded& e = r.rank_class->expanded;
  const std::uint32_t c = action.command.value;
  const Payload& payload = e[action.command].payload;
  ++r.executed[c];
  if (std::holds_alternative<Switch>(payload)) return switch_branch(*r.predicate, action.targets.size());
  const std::size_t taken = (*r.predicate & 0xff) != 0 ? 0 : 1;
  if (!std::holds_alternative<While>(payload)) return taken;
  if (taken != 0)
    r.iterations[c] = 0;
  else if (++r.iterations[c] > max_iterations)
    return error_at(
        e.place(e[action.command]), "STV0812",
        "`{}` on rank {} goes on after {} iterations, which is the limit; does its condition ever become false?",
        e.path(action.command), r.rank, max_iterations);
  return taken;
}

Result<void> perform(const Prepared& p, RankState& r, const Action& action) {
  const IssueProgram& program = r.rank_class->program;
  switch (action.kind) {
    case Action::Kind::Launch: {
      const std::uint32_t c = action.command.value;
      r.last_issued = action.command;
      const cudaStream_t stream = r.streams[action.stream.value];
      const std::int32_t slot = r.communicator_slot[c];
      if (slot >= 0) ISSUE_TRY(cudaStreamWaitEvent(stream, r.communicators[static_cast<std::size_t>(slot)], 0));
      if (p.cuda.recorder) p.cuda.recorder->begin(r.rank, action.command, static_cast<std::uint32_t>(r.executed[c]));
      r.end_recorded[c] = false;
      r.issued[c] = ++r.issues;
      const Status status = issue(std::span<const Work>(r.launches[c].works), stream);
      if (p.cuda.recorder) p.cuda.recorder->end();
      if (!status.ok()) return failed(r, status, action.command);
      if (r.ends[c]) ISSUE_TRY(cudaEventRecord(r.ends[c], stream));
      r.end_recorded[c] = true;
      if (slot >= 0) ISSUE_TRY(cudaEventRecord(r.communicators[static_cast<std::size_t>(slot)], stream));
      ++r.executed[c];
      break;
    }
    case Action::Kind::Record:
      ISSUE_TRY(cudaEventRecord(r.events[action.event.value], r.streams[action.stream.value]));
      break;
    case Action::Kind::Wait:
      ISSUE_TRY(cudaStreamWaitEvent(r.streams[action.stream.value], r.events[action.event.value], 0));
      break;
    case Action::Kind::HostWork:
    case Action::Kind::Handoff: break;
    case Action::Kind::HostSync:
      if (!std::exchange(r.joined, true)) TRY_VOID(join(r));
      r.awaited = r.streams[0];
      break;
    case Action::Kind::ReadPredicate: {
      const std::uint32_t c = action.command.value;
      const cudaStream_t stream = r.streams[action.stream.value];
      *r.predicate = 0;
      if (p.cuda.recorder) p.cuda.recorder->begin(r.rank, action.command, static_cast<std::uint32_t>(r.executed[c]));
      const cudaError_t copied =
          cudaMemcpyAsync(r.predicate, r.predicates[c], r.predicate_bytes[c], cudaMemcpyDefault, stream);
      if (p.cuda.recorder) p.cuda.recorder->end();
      ISSUE_TRY(copied);
      r.awaited = stream;
      break;
    }
    case Action::Kind::Branch: {
      TRY(r.taken, branch(r, action, p.options.max_iterations));
      r.at = program.targets[action.targets[r.taken]].value;
      break;
    }
    case Action::Kind::Jump: r.at = action.target.value; break;
    case Action::Kind::GraphLaunch: {
      const std::size_t words = r.bodies ? (program.graphs.size() + 1) * sizeof(std::uint64_t) : 0;
      if (words > 0) ISSUE_TRY(cudaMemsetAsync(r.body_runs, 0, words, r.streams[0]));
      if (p.cuda.recorder) p.cuda.recorder->begin_graph(r.rank);
      const cudaError_t launched = cudaGraphLaunch(r.exec, r.streams[0]);
      if (p.cuda.recorder) p.cuda.recorder->end();
      ISSUE_TRY(launched);
      if (words > 0)
        ISSUE_TRY(cudaMemcpyAsync(r.body_runs_seen, r.body_runs, words, cudaMemcpyDeviceToHost, r.streams[0]));
      break;
    }
    case Action::Kind::RangePush: nvtxRangePushA(r.range_names[action.command.value].c_str()); break;
    case Action::Kind::RangePop: nvtxRangePop(); break;
  }
  return {};
}

}  // namespace

Result<void> begin_step(RankState& r) {
  std::fill(r.executed.begin(), r.executed.end(), 0);
  std::fill(r.iterations.begin(), r.iterations.end(), 0);
  r.at = r.rank_class->program.hosts.raw()[0].actions.first;
  r.joined = r.done = false;
  r.issue_ns = 0;
  r.issues = 0;
  std::fill(r.issued.begin(), r.issued.end(), 0);
  r.awaited = nullptr;
  if (r.flush) CUDA_TRY(cudaMemsetAsync(r.flush, 0, r.flush_bytes, r.streams[0]));
  CUDA_TRY(cudaEventRecord(r.start, r.streams[0]));
  return {};
}

Result<bool> advance(const Prepared& p, RankState& r, const std::atomic<bool>& aborted) {
  if (aborted || gives_up(p)) {
    r.done = true;
    return true;
  }
  if (r.awaited) {
    // Looked at instead of slept on in the driver, so that an abort is seen.
    const cudaError_t state = cudaStreamQuery(r.awaited);
    if (state == cudaErrorNotReady) return false;
    if (state != cudaSuccess) return failed(r, status_of(state, "cudaStreamQuery"), r.last_issued);
    r.awaited = nullptr;
  }
  const IssueProgram& program = r.rank_class->program;
  const IdRange<Action> lane = program.hosts.raw()[0].actions;
  const std::uint32_t end = lane.first + lane.count;
  const Clock::time_point before = Clock::now();
  for (int turn = 0; turn < actions_a_turn && r.at < end && !r.awaited && !aborted; ++turn)
    TRY_VOID(perform(p, r, program.actions[ActionId{std::size_t{r.at++}}]));
  r.issue_ns += std::chrono::nanoseconds(Clock::now() - before).count();
  r.done = r.at >= end && !r.awaited;
  return true;
}

}  // namespace stave::cuda
