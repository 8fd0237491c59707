// Gathers an importer's rows and sends them in batches, in an order that a sink takes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/base/strings.h"
#include "core/timeline/sink.h"
#include "profiles/import/importer.h"
#include "profiles/import/problem_counts.h"

namespace stave {

class RowBatches {
 public:
  explicit RowBatches(TimelineSink& sink) : sink_(sink) {}

  StringId name(std::string_view text);
  TrackId add(Track track);
  SliceId add(const Slice& slice);
  void add(const SliceFlow& row) { flows_.push_back(row); }
  void add(const KernelDetail& row) { kernels_.push_back(row); }
  void add(const CopyDetail& row) { copies_.push_back(row); }
  void add(const ApiDetail& row) { calls_.push_back(row); }
  void add(ArgsDetail row) { args_.push_back(std::move(row)); }
  void add(const CollectiveDetail& row) { collectives_.push_back(row); }
  void add(const CounterSample& row) { counters_.push_back(row); }

  std::int64_t slices() const { return slice_count_; }
  std::int64_t flows() const { return flow_count_ + static_cast<std::int64_t>(flows_.size()); }

  // Call after each event: sends when there is enough.
  Result<void> flush_if_full() {
    if (slices_.size() < batch_rows && flows_.size() < batch_rows && counters_.size() < batch_rows) return {};
    return flush();
  }
  Result<void> flush();

 private:
  // A transaction each: large enough to be fast, small enough to lose little when killed.
  static constexpr std::size_t batch_rows = 16384;

  template <class Row>
  Result<void> send(std::vector<Row>& rows, Result<void> (TimelineSink::*take)(std::span<const Row>));

  TimelineSink& sink_;
  Strings names_;
  std::size_t names_sent_ = 0;
  std::size_t track_count_ = 0;
  std::int64_t slice_count_ = 0;
  std::int64_t flow_count_ = 0;  // sent
  std::vector<Track> tracks_;
  std::vector<Slice> slices_;
  std::vector<SliceFlow> flows_;
  std::vector<KernelDetail> kernels_;
  std::vector<CopyDetail> copies_;
  std::vector<ApiDetail> calls_;
  std::vector<ArgsDetail> args_;
  std::vector<CollectiveDetail> collectives_;
  std::vector<CounterSample> counters_;
};

// The end of an import, when all rows were flushed: its counts go into the
// report, its problems there and to the sink.
Result<void> finish_import(const RowBatches& rows, const ProblemCounts& problems, TimelineSink& sink,
                           ImportReport& report);

}  // namespace stave
