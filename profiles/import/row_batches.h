// Gathers an importer's rows and sends them in batches, in an order that a sink takes.
#pragma once

#include <condition_variable>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/strings.h"
#include "core/timeline/sink.h"
#include "profiles/import/importer.h"
#include "profiles/import/problem_counts.h"

namespace stave {

// A long import's rows go to the sink on a thread of their own: while a file
// takes one batch the next is read.
class RowBatches {
 public:
  explicit RowBatches(TimelineSink& sink) : sink_(sink) {}
  RowBatches(const RowBatches&) = delete;
  RowBatches& operator=(const RowBatches&) = delete;
  ~RowBatches();

  StringId name(std::string_view text) { return names_.intern(text); }
  TrackId add(Track track);
  SliceId add(const Slice& slice);
  void add(const SliceFlow& row) { rows_.flows.push_back(row); }
  void add(const KernelDetail& row) { rows_.kernels.push_back(row); }
  void add(const CopyDetail& row) { rows_.copies.push_back(row); }
  void add(const ApiDetail& row) { rows_.calls.push_back(row); }
  void add(ArgsDetail row) { rows_.args.push_back(std::move(row)); }
  void add(const CollectiveDetail& row) { rows_.collectives.push_back(row); }
  void add(const CounterSample& row) { rows_.counters.push_back(row); }

  std::int64_t slices() const { return slice_count_; }
  std::int64_t flows() const { return flow_count_ + static_cast<std::int64_t>(rows_.flows.size()); }

  // Call after each event: sends when there is enough. An error of the sink may come a batch later.
  Result<void> flush_if_full() {
    if (rows_.slices.size() < batch_rows && rows_.flows.size() < batch_rows && rows_.counters.size() < batch_rows)
      return {};
    return hand_over();
  }
  // Sends what there is; afterwards the sink may be used directly.
  Result<void> flush();

 private:
  // A transaction each: large enough to be fast, small enough to lose little when killed.
  static constexpr std::size_t batch_rows = 16384;

  struct Rows {
    std::vector<std::string_view> names{};  // of names_, where they stay
    std::vector<Track> tracks{};
    std::vector<Slice> slices{};
    std::vector<KernelDetail> kernels{};
    std::vector<CopyDetail> copies{};
    std::vector<ApiDetail> calls{};
    std::vector<ArgsDetail> args{};
    std::vector<CollectiveDetail> collectives{};
    std::vector<SliceFlow> flows{};
    std::vector<CounterSample> counters{};
  };
  void complete();  // rows_, before it goes
  Result<void> hand_over();
  // Until the thread has nothing to do; its error.
  Result<void> wait_for_sink(std::unique_lock<std::mutex>& lock);
  Result<void> send(Rows& rows);
  void work();

  TimelineSink& sink_;
  Strings names_;
  std::size_t names_sent_ = 0;
  std::size_t track_count_ = 0;
  std::int64_t slice_count_ = 0;
  std::int64_t flow_count_ = 0;  // handed over
  Rows rows_;

  std::mutex mutex_;
  std::condition_variable changed_;
  Rows sending_;  // the thread's while busy_
  bool busy_ = false;
  bool stop_ = false;
  Result<void> sent_{};
  std::thread thread_;
};

// The end of an import, when all rows were flushed: its counts go into the
// report, its problems there and to the sink.
Result<void> finish_import(const RowBatches& rows, const ProblemCounts& problems, TimelineSink& sink,
                           ImportReport& report);

}  // namespace stave
