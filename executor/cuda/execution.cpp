// Steps: one host thread a device performs the actions of its ranks. Ranks that
// share a device must share a thread: kernels that wait for each other stand
// still when several threads launch them (seen on an H200 with driver 580.159:
// 16 streams from one thread run, 4 streams from 4 threads do not). Of several
// processes each performs its own rank, and all exchange what they saw after a step.
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>

#include "executor/cuda/issuing.h"
#include "executor/gpu_protocol.h"

namespace stave::cuda {
namespace {

// How long a thread that waits looks before it sleeps: one that slept issues what comes next with cold caches.
constexpr std::chrono::milliseconds awake{2};

// Between two looks. Offering the core to others enters the kernel, after which the next call of the driver is slower:
// only now and then.
void relax(std::uint32_t& turn) {
  if (++turn % 64 == 0) return std::this_thread::yield();
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class CudaExecution final : public Execution {
 public:
  explicit CudaExecution(std::unique_ptr<Prepared> prepared) : p_(std::move(prepared)), ends_(p_->ranks.size()) {
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
    // A kernel of the schedule's own may never return: then its memory cannot be given back.
    if (!idle_within(std::chrono::seconds(10))) static_cast<void>(p_.release());
  }

  Result<void> write(Rank rank, BufferId buffer, std::span<const std::byte> bytes) override {
    TRY_VOID(check(rank, buffer, bytes.size()));
    if (!p_->local(rank)) return {};
    CUDA_TRY(cudaSetDevice(p_->devices[rank]));
    CUDA_TRY(cudaMemcpy(p_->memory[rank]->buffer(buffer), bytes.data(), bytes.size(), cudaMemcpyDefault));
    CUDA_TRY(cudaStreamSynchronize(nullptr));
    return {};
  }

  Result<void> read(Rank rank, BufferId buffer, std::span<std::byte> bytes) override {
    TRY_VOID(check(rank, buffer, bytes.size()));
    if (p_->local(rank)) {
      CUDA_TRY(cudaSetDevice(p_->devices[rank]));
      CUDA_TRY(cudaMemcpy(bytes.data(), p_->memory[rank]->buffer(buffer), bytes.size(), cudaMemcpyDefault));
    }
    World* const world = p_->cuda.world;
    if (world == nullptr) return {};
    const std::string_view own(reinterpret_cast<const char*>(bytes.data()), p_->local(rank) ? bytes.size() : 0);
    TRY(const std::vector<std::string> all,
        world->all_gather("a buffer", own, std::chrono::steady_clock::now() + world_patience));
    if (all[rank].size() != bytes.size())
      return error_at({}, "STV0829", "process {} of this run sent {} bytes of {}", rank, all[rank].size(),
                      bytes.size());
    std::memcpy(bytes.data(), all[rank].data(), bytes.size());
    return {};
  }

  Result<StepId> submit() override {
    if (aborted_) return error_at({}, "STV0806", "this execution was aborted");
    {
      const std::lock_guard lock(mutex_);
      running_ = threads_.size();
      posted_ = ++steps_;
      submitted_ = std::chrono::steady_clock::now();
    }
    wake_.notify_all();
    return steps_;
  }

  Result<StepReport> wait(StepId step, Deadline deadline) override {
    if (step != steps_) return error_at({}, "STV0807", "step {} is not the last one, which is {}", step, steps_);
    Result<StepReport> own = wait_here(deadline);
    return p_->cuda.world ? wait_for_others(std::move(own)) : std::move(own);
  }

  void abort() noexcept override {
    if (running_ > 0) return give_up();
    aborted_ = true;
    *const_cast<volatile std::uint32_t*>(&p_->board->abort) = 1;
  }

 private:
  // Nothing is issued any more, and kernels that wait for a peer return.
  void give_up() noexcept {
    aborted_ = true;
    *const_cast<volatile std::uint32_t*>(&p_->board->abort) = 1;
    if (p_->nccl) p_->nccl->abort();
  }

  bool idle_within(std::chrono::milliseconds time) const {
    const Deadline limit = std::chrono::steady_clock::now() + time;
    for (const std::unique_ptr<RankState>& r : p_->ranks) {
      cudaSetDevice(r->device);
      for (const cudaStream_t stream : r->streams)
        while (cudaStreamQuery(stream) == cudaErrorNotReady) {
          if (std::chrono::steady_clock::now() > limit) return false;
          std::this_thread::sleep_for(std::chrono::microseconds(20));
        }
    }
    return true;
  }

  Result<void> check(Rank rank, BufferId buffer, std::size_t bytes) const {
    if (rank >= p_->plan->ranks())
      return error_at({}, "STV0801", "rank {} of a plan of {} ranks", rank, p_->plan->ranks());
    const Expanded& e = p_->expanded(rank);
    const auto own = static_cast<std::size_t>(e.buffers[buffer].bytes);
    if (own == bytes) return {};
    return error_at({}, "STV0801", "buffer %{} of rank {} has {} bytes, got {}", e.module->text(e.buffers[buffer].name),
                    rank, own, bytes);
  }

  // Until the ranks of this process are done, or stand still.
  Result<StepReport> wait_here(Deadline deadline) {
    StepReport report;
    report.executed.resize(p_->plan->ranks());
    report.durations.resize(p_->plan->ranks());
    report.issue.resize(p_->plan->ranks());
    const Deadline limit = std::min(deadline, submitted_ + p_->options.timeout);
    std::unique_lock lock(mutex_);
    while (running_ > 0) {
      const Deadline look = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      if (done_.wait_until(lock, std::min(limit, look), [&] { return running_ == 0; })) break;
      const bool cancelled = p_->options.progress && p_->options.progress->cancelled();
      const bool alone = p_->cuda.world && p_->cuda.world->broken();
      const bool late = std::chrono::steady_clock::now() >= limit;
      if (!cancelled && !alone && !late) continue;
      if (late) report.hang = hang_of(*p_);
      lock.unlock();
      abort();
      lock.lock();
      // Kernels that look at the abort word return; one of the schedule's own may not, and is left behind.
      done_.wait_for(lock, std::chrono::seconds(5), [&] { return running_ == 0; });
      if (cancelled) return error_at({}, "STV0950", "cancelled");
      if (alone) return error_at({}, "STV0828", "a process of this run has ended; the others cannot go on without it");
      return report;
    }
    if (const std::optional<Failure> fault = fault_of(*p_)) {
      give_up();
      return *fault;
    }
    for (const std::optional<Failure>& f : ends_)
      if (f) {
        give_up();
        return *f;
      }
    for (const std::unique_ptr<RankState>& r : p_->ranks) {
      if (r->graph) count_captured(*r);
      report.executed[r->rank] = r->executed;
      report.issue[r->rank] = Picoseconds{r->issue_ns * 1000};
      float ms = 0;
      if (cudaEventElapsedTime(&ms, r->start, r->end) == cudaSuccess)
        report.durations[r->rank] = picoseconds(static_cast<double>(ms) * 1e-3);
    }
    return report;
  }

  // What all processes saw of the step, the same in each. The own failure stands before those of others.
  Result<StepReport> wait_for_others(Result<StepReport> own) {
    ByteWriter writer;
    writer.text(encode(own ? Problems() : own.problems()));
    writer.text(own ? encode(*own) : "");
    const Deadline patience = std::chrono::steady_clock::now() + p_->options.timeout + world_patience;
    // Of another's end all learn only if this one ends, too.
    if (!own && own.problems()[0].code == "STV0828") return own;
    Result<std::vector<std::string>> got = p_->cuda.world->all_gather("a step", writer.bytes(), patience);
    if (!own) return own;
    TRY(const std::vector<std::string> all, std::move(got));
    StepReport report = *std::move(own);
    for (Rank rank = 0; rank < all.size(); ++rank) {
      ByteReader reader(all[rank]);
      TRY(Problems problems, decode_problems(reader.text()));
      if (!problems.empty()) {
        give_up();
        return Failure(std::move(problems));
      }
      TRY(StepReport other, decode_report(reader.text()));
      if (rank == p_->cuda.world->process()) continue;
      const auto fits = [&](const auto& theirs) { return theirs.size() == report.executed.size(); };
      if (!fits(other.executed) || !fits(other.durations) || !fits(other.issue))
        return error_at({}, "STV0829", "process {} of this run runs another plan", rank);
      if (rank < report.executed.size()) {
        report.executed[rank] = std::move(other.executed[rank]);
        report.durations[rank] = other.durations[rank];
        report.issue[rank] = other.issue[rank];
      }
      if (!other.hang) continue;
      if (!report.hang) report.hang.emplace();
      for (Blocked& b : other.hang->blocked) report.hang->blocked.push_back(std::move(b));
    }
    if (report.hang) {
      give_up();
      sort_blocked(*report.hang);
    }
    return report;
  }

  // Ranks first to end - 1, which are of one device.
  void serve(std::size_t first, std::size_t end) {
    cudaSetDevice(p_->ranks[first]->device);
    Recorder* const recorder = p_->cuda.recorder;
    if (recorder) recorder->rank_thread(p_->ranks[first]->rank);
    StepId seen = 0;
    while (true) {
      // Steps often follow each other.
      const Deadline asleep = std::chrono::steady_clock::now() + awake;
      for (std::uint32_t turn = 0; posted_ <= seen && std::chrono::steady_clock::now() < asleep;) relax(turn);
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
      if (const Result<void> begun = begin_step(*p_->ranks[r]); !begun) failed_with(r, begun);
    }
    Deadline nap = std::chrono::steady_clock::now() + awake;
    for (std::uint32_t turn = 0;;) {
      bool all_done = true;
      for (std::size_t r = first; r < end; ++r) {
        RankState& rank = *p_->ranks[r];
        if (rank.done) continue;
        const Result<bool> moved = advance(*p_, rank, aborted_);
        if (!moved) failed_with(r, Failure(moved.problems()));
        if (moved && *moved) nap = std::chrono::steady_clock::now() + awake;
        if (rank.done && recorder)
          recorder->step(rank.rank, static_cast<std::uint32_t>(step - 1), step <= p_->cuda.warmup, rank.started_ns,
                         recorder->now());
        all_done = all_done && rank.done;
      }
      if (all_done) return;
      if (std::chrono::steady_clock::now() > nap)
        std::this_thread::sleep_for(std::chrono::microseconds(10));
      else
        relax(turn);
    }
  }

  std::unique_ptr<Prepared> p_;
  std::vector<std::optional<Failure>> ends_;  // by rank: why its step failed
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  StepId steps_ = 0;
  std::atomic<StepId> posted_{0};  // the same, to look at without the mutex
  std::size_t running_ = 0;        // threads in the step
  bool closing_ = false;
  std::chrono::steady_clock::time_point submitted_{};
  std::atomic<bool> aborted_{false};
};

}  // namespace

std::unique_ptr<Execution> execution_of(std::unique_ptr<Prepared> prepared) {
  return std::make_unique<CudaExecution>(std::move(prepared));
}

}  // namespace stave::cuda
