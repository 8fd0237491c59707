// How far a long job is, and whether anybody still waits for its result. The job
// counts, and asks now and then; another thread reads the counts. Jobs take a
// `Progress*`, null where nobody looks.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/result.h"

namespace stave {

struct Progress {
  // Set by whoever gives up; lock-free, so a signal handler may. Null: nobody does.
  const std::atomic<bool>* cancel = nullptr;
  std::atomic<const char*> job{""};       // what is done now: "predicting"
  std::atomic<std::int64_t> commands{0};  // that the job has run
  std::atomic<std::int64_t> done{0};      // of `total`, in the job's own unit
  std::atomic<std::int64_t> total{0};     // 0: not known

  bool cancelled() const { return cancel != nullptr && cancel->load(std::memory_order_relaxed); }

  // The next job, with nothing done of it.
  void begin(const char* name, std::int64_t of = 0) {
    commands = 0;
    done = 0;
    total = of;
    job = name;
  }
  // `count` commands more, each worth one of `done`.
  void ran(std::int64_t count = 1) {
    commands.fetch_add(count, std::memory_order_relaxed);
    done.fetch_add(count, std::memory_order_relaxed);
  }
};
static_assert(std::atomic<bool>::is_always_lock_free);

// STV0950: cancelled.
inline Result<void> still_wanted(const Progress* progress) {
  if (progress == nullptr || !progress->cancelled()) return {};
  return error_at({}, "STV0950", "cancelled");
}

}  // namespace stave
