// Steps: one host thread a device performs the actions of its ranks. Ranks that
// share a device must share a thread: kernels that wait for each other stand
// still when several threads launch them (seen on an H200 with driver 580.159:
// 16 streams from one thread run, 4 streams from 4 threads do not).
#include <nvtx3/nvToolsExt.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "core/lower/lowering.h"
#include "executor/cuda/prepared.h"
#include "executor/reference/step.h"

namespace stave::cuda {
namespace {

class CudaExecution final : public Execution {
 public:
  explicit CudaExecution(std::unique_ptr<Prepared> prepared) : p_(std::move(prepared)), ends_(p_->ranks.size()) {
    report_.executed.resize(p_->ranks.size());
    report_.durations.resize(p_->ranks.size());
    for (std::size_t r = 0; r < p_->ranks.size(); ++r) report_.executed[r].resize(p_->ranks[r]->executed.size());
    for (std::size_t first = 0; first < p_->ranks.size();) {
      std::size_t end = first;
      while (end < p_->ranks.size() && p_->devices[end] == p_->devices[first]) ++end;
      threads_.emplace_back([this, first, end] { serve(first, end); });
      first = end;
    }
  }

  ~CudaExecution() override {
    abort();
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& t : threads_) t.join();
    for (const std::unique_ptr<RankState>& r : p_->ranks) {
      cudaSetDevice(r->device);
      cudaDeviceSynchronize();
    }
  }

  Result<void> write(Rank rank, BufferId buffer, std::span<const std::byte> bytes) override {
    TRY_VOID(check(rank, buffer, bytes.size()));
    CUDA_TRY(cudaSetDevice(p_->devices[rank]));
    CUDA_TRY(cudaMemcpy(p_->ranks[rank]->memory->buffer(buffer), bytes.data(), bytes.size(), cudaMemcpyDefault));
    CUDA_TRY(cudaStreamSynchronize(nullptr));
    return {};
  }

  Result<void> read(Rank rank, BufferId buffer, std::span<std::byte> bytes) override {
    TRY_VOID(check(rank, buffer, bytes.size()));
    CUDA_TRY(cudaSetDevice(p_->devices[rank]));
    CUDA_TRY(cudaMemcpy(bytes.data(), p_->ranks[rank]->memory->buffer(buffer), bytes.size(), cudaMemcpyDefault));
    return {};
  }

  Result<StepId> submit() override {
    if (aborted_) return error_at({}, "STV0806", "this execution was aborted");
    {
      const std::lock_guard lock(mutex_);
      running_ = threads_.size();
      ++steps_;
      submitted_ = std::chrono::steady_clock::now();
    }
    wake_.notify_all();
    return steps_;
  }

  Result<StepReport> wait(StepId step, Deadline deadline) override {
    if (step != steps_) return error_at({}, "STV0807", "step {} is not the last one, which is {}", step, steps_);
    const Deadline limit = std::min(deadline, submitted_ + p_->options.timeout);
    std::unique_lock lock(mutex_);
    bool hangs = false;
    while (running_ > 0) {
      const Deadline look = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      if (done_.wait_until(lock, std::min(limit, look), [&] { return running_ == 0; })) break;
      if (p_->options.progress && p_->options.progress->cancelled()) {
        lock.unlock();
        abort();
        return error_at({}, "STV0950", "cancelled");
      }
      if (std::chrono::steady_clock::now() < limit) continue;
      hangs = true;
      report_.hang = hang_of(*p_);
      lock.unlock();
      abort();
      lock.lock();
      // Kernels that look at the abort word return; one of the schedule's own may not, and is left behind.
      done_.wait_for(lock, std::chrono::seconds(5), [&] { return running_ == 0; });
      break;
    }
    if (!hangs) {
      if (const std::optional<Failure> fault = fault_of(*p_)) {
        aborted_ = true;
        return *fault;
      }
      for (const std::optional<Failure>& f : ends_)
        if (f) {
          aborted_ = true;
          return *f;
        }
    }
    for (std::size_t r = 0; r < p_->ranks.size() && !hangs; ++r) {
      RankState& rank = *p_->ranks[r];
      if (rank.graph) count_captured(rank);
      report_.executed[r] = rank.executed;
      float ms = 0;
      if (cudaEventElapsedTime(&ms, rank.start, rank.end) == cudaSuccess)
        report_.durations[r] = picoseconds(static_cast<double>(ms) * 1e-3);
    }
    return report_;
  }

  void abort() noexcept override {
    if (aborted_.exchange(true)) return;
    *const_cast<volatile std::uint32_t*>(&p_->board->abort) = 1;
    if (p_->nccl && running_ > 0) p_->nccl->abort();
  }

 private:
  Result<void> check(Rank rank, BufferId buffer, std::size_t bytes) const {
    if (rank >= p_->ranks.size())
      return error_at({}, "STV0801", "rank {} of a plan of {} ranks", rank, p_->ranks.size());
    const Expanded& e = p_->expanded(rank);
    const auto own = static_cast<std::size_t>(e.buffers[buffer].bytes);
    if (own == bytes) return {};
    return error_at({}, "STV0801", "buffer %{} of rank {} has {} bytes, got {}", e.module->text(e.buffers[buffer].name),
                    rank, own, bytes);
  }

  // Ranks first to end - 1, which are of one device.
  void serve(std::size_t first, std::size_t end) {
    cudaSetDevice(p_->devices[first]);
    Recorder* const recorder = p_->cuda.recorder;
    if (recorder) recorder->rank_thread(static_cast<Rank>(first));
    StepId seen = 0;
    while (true) {
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return closing_ || steps_ > seen; });
        if (closing_) return;
        seen = steps_;
      }
      perform(first, end, seen);
      {
        const std::lock_guard lock(mutex_);
        --running_;
      }
      done_.notify_all();
    }
  }

  // In turns, so that no rank fills its queue while one that it waits for has issued nothing.
  void perform(std::size_t first, std::size_t end, StepId step) {
    Recorder* const recorder = p_->cuda.recorder;
    const auto failed_with = [&](std::size_t r, const Result<void>& result) {
      p_->ranks[r]->done = true;
      if (aborted_) return;
      ends_[r] = Failure(result.problems());
      // The others may wait for this rank.
      *const_cast<volatile std::uint32_t*>(&p_->board->abort) = 1;
    };
    for (std::size_t r = first; r < end; ++r) {
      p_->ranks[r]->started_ns = recorder ? recorder->now() : 0;
      if (const Result<void> begun = begin(*p_->ranks[r]); !begun) failed_with(r, begun);
    }
    for (int idle = 0;; ++idle) {
      bool all_done = true;
      for (std::size_t r = first; r < end; ++r) {
        RankState& rank = *p_->ranks[r];
        if (rank.done) continue;
        const Result<bool> moved = advance(rank);
        if (!moved) failed_with(r, Failure(moved.problems()));
        if (moved && *moved) idle = 0;
        if (rank.done && recorder)
          recorder->step(rank.rank, static_cast<std::uint32_t>(step - 1), step <= p_->cuda.warmup, rank.started_ns,
                         recorder->now());
        all_done = all_done && rank.done;
      }
      if (all_done) return;
      if (idle > 200) std::this_thread::sleep_for(std::chrono::microseconds(10));
    }
  }

  bool gives_up() const { return *const_cast<volatile std::uint32_t*>(&p_->board->abort) != 0; }

  Failure failed(const RankState& r, const Status& status, CommandId command) const {
    const Expanded& e = r.rank_class->expanded;
    if (!command) return cuda_failure(static_cast<cudaError_t>(status.code), status.call);
    return failure_of(status, e.path(command), r.rank, e.place(e[command]));
  }

#define ISSUE_TRY(call) \
  if (const cudaError_t e = (call); e != cudaSuccess) return failed(r, status_of(e, #call), action.command)

  Result<void> begin(RankState& r) {
    std::fill(r.executed.begin(), r.executed.end(), 0);
    std::fill(r.iterations.begin(), r.iterations.end(), 0);
    r.at = r.rank_class->program.hosts.raw()[0].actions.first;
    r.joined = r.done = false;
    r.awaited = nullptr;
    CUDA_TRY(cudaEventRecord(r.start, r.streams[0]));
    return {};
  }

  static constexpr int actions_a_turn = 64;

  // Some actions, until the rank waits for its device or has none left. False: it still waits.
  Result<bool> advance(RankState& r) {
    const IssueProgram& program = r.rank_class->program;
    const HostLane& lane = program.hosts.raw()[0];
    if (r.awaited) {
      // Looked at instead of slept on in the driver, so that an abort is seen.
      const cudaError_t state = cudaEventQuery(r.awaited);
      if (state == cudaErrorNotReady && !aborted_) return false;
      if (state != cudaSuccess && state != cudaErrorNotReady)
        return failed(r, status_of(state, "cudaEventQuery"), r.last_issued);
      r.awaited = nullptr;
      r.done = aborted_ || gives_up();
      if (r.done) return true;
    }
    const std::uint32_t end = lane.actions.first + lane.actions.count;
    for (int turn = 0; turn < actions_a_turn && r.at < end && !r.awaited; ++turn) {
      const Action& action = program.actions[ActionId{std::size_t{r.at}}];
      ++r.at;
      switch (action.kind) {
        case Action::Kind::Launch: {
          const std::uint32_t c = action.command.value;
          r.last_issued = action.command;
          const cudaStream_t stream = r.streams[action.stream.value];
          const std::int32_t slot = r.communicator_slot[c];
          if (slot >= 0) ISSUE_TRY(cudaStreamWaitEvent(stream, r.communicators[static_cast<std::size_t>(slot)], 0));
          if (p_->cuda.recorder)
            p_->cuda.recorder->begin(r.rank, action.command, static_cast<std::uint32_t>(r.executed[c]));
          const Status status = issue(r.launches[c], stream);
          if (p_->cuda.recorder) p_->cuda.recorder->end();
          if (!status.ok()) return failed(r, status, action.command);
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
          r.awaited = r.end;
          break;
        case Action::Kind::ReadPredicate: {
          const std::uint32_t c = action.command.value;
          const cudaStream_t stream = r.streams[action.stream.value];
          *r.predicate = 0;
          if (p_->cuda.recorder)
            p_->cuda.recorder->begin(r.rank, action.command, static_cast<std::uint32_t>(r.executed[c]));
          const cudaError_t copied =
              cudaMemcpyAsync(r.predicate, r.predicates[c], r.predicate_bytes[c], cudaMemcpyDefault, stream);
          if (p_->cuda.recorder) p_->cuda.recorder->end();
          ISSUE_TRY(copied);
          ISSUE_TRY(cudaEventRecord(r.predicate_read, stream));
          r.awaited = r.predicate_read;
          break;
        }
        case Action::Kind::Branch: {
          TRY(r.taken, branch(r, action));
          r.at = program.targets[action.targets[r.taken]].value;
          break;
        }
        case Action::Kind::Jump: r.at = action.target.value; break;
        case Action::Kind::GraphLaunch:
          ISSUE_TRY(cudaMemsetAsync(r.body_runs, 0, (program.graphs.size() + 1) * sizeof(std::uint64_t), r.streams[0]));
          ISSUE_TRY(cudaGraphLaunch(r.exec, r.streams[0]));
          ISSUE_TRY(cudaMemcpyAsync(r.body_runs_seen, r.body_runs, (program.graphs.size() + 1) * sizeof(std::uint64_t),
                                    cudaMemcpyDeviceToHost, r.streams[0]));
          break;
        case Action::Kind::RangePush: nvtxRangePushA(r.range_names[action.command.value].c_str()); break;
        case Action::Kind::RangePop: nvtxRangePop(); break;
      }
    }
    r.done = r.at >= end && !r.awaited;
    return true;
  }

  Result<void> join(RankState& r) {
    for (std::size_t s = 1; s < r.streams.size(); ++s) {
      CUDA_TRY(cudaEventRecord(r.joins[s], r.streams[s]));
      CUDA_TRY(cudaStreamWaitEvent(r.streams[0], r.joins[s], 0));
    }
    CUDA_TRY(cudaEventRecord(r.end, r.streams[0]));
    return {};
  }

  // Which target of a branch, from the predicate just read.
  Result<std::size_t> branch(RankState& r, const Action& action) {
    const Expanded& e = r.rank_class->expanded;
    const std::uint32_t c = action.command.value;
    const Payload& payload = e[action.command].payload;
    ++r.executed[c];
    if (std::holds_alternative<Switch>(payload)) return switch_branch(*r.predicate, action.targets.size());
    const std::size_t taken = (*r.predicate & 0xff) != 0 ? 0 : 1;
    if (!std::holds_alternative<While>(payload)) return taken;
    if (taken != 0)
      r.iterations[c] = 0;
    else if (++r.iterations[c] > p_->options.max_iterations)
      return error_at(
          e.place(e[action.command]), "STV0812",
          "`{}` on rank {} goes on after {} iterations, which is the limit; does its condition ever become false?",
          e.path(action.command), r.rank, p_->options.max_iterations);
    return taken;
  }

  std::unique_ptr<Prepared> p_;
  std::vector<std::optional<Failure>> ends_;  // by rank: why its step failed
  StepReport report_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  StepId steps_ = 0;
  std::size_t running_ = 0;  // ranks in the step
  bool closing_ = false;
  std::chrono::steady_clock::time_point submitted_{};
  std::atomic<bool> aborted_{false};
};

class CudaDriver final : public Driver {
 public:
  explicit CudaDriver(CudaOptions options) : options_(options) {}

  DriverInfo info() const override {
    DriverInfo info{"cuda",
                    "runs on NVIDIA GPUs: streams or one graph a rank, cuBLASLt, NVRTC, NCCL",
                    0,
                    {Mode::Eager, Mode::Captured, Mode::CapturedSerial},
                    true,
                    {{"kernel with tensor_map", "a schedule does not say the box of a tensor map"},
                     {"custom_call but cusolver_potrf", "no other handler is registered"},
                     {"several host lanes", "a lifted trace is not run"},
                     {"ranks of several processes", "all ranks of a run are threads of one process"}}};
    if (const Result<std::vector<Gpu>> all = gpus(); !all)
      info.unsupported.push_back({"all", all.problems()[0].message});
    return info;
  }

  Result<std::unique_ptr<Execution>> prepare(const Plan& plan, const PrepareOptions& options) override {
    TRY(std::unique_ptr<Prepared> prepared, cuda::prepare(plan, options, options_));
    return std::unique_ptr<Execution>(std::make_unique<CudaExecution>(std::move(prepared)));
  }

 private:
  CudaOptions options_;
};

}  // namespace

std::unique_ptr<Driver> create_cuda_driver(const CudaOptions& options) { return std::make_unique<CudaDriver>(options); }

}  // namespace stave::cuda
