#include "profiles/import/row_batches.h"

#include <algorithm>

namespace stave {

RowBatches::~RowBatches() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

TrackId RowBatches::add(Track track) {
  rows_.tracks.push_back(std::move(track));
  return TrackId{track_count_++};
}

SliceId RowBatches::add(const Slice& slice) {
  rows_.slices.push_back(slice);
  return SliceId{static_cast<std::uint32_t>(++slice_count_)};
}

Result<void> RowBatches::send(Rows& rows) {
  const auto all = [&]<class Row>(std::vector<Row>& of,
                                  Result<void> (TimelineSink::*take)(std::span<const Row>)) -> Result<void> {
    const std::span<const Row> left(of);
    for (std::size_t at = 0; at < left.size(); at += max_batch_rows)
      TRY_VOID((sink_.*take)(left.subspan(at, std::min(max_batch_rows, left.size() - at))));
    of.clear();
    return {};
  };
  TRY_VOID(all(rows.names, &TimelineSink::on_names));
  TRY_VOID(all(rows.tracks, &TimelineSink::on_tracks));
  TRY_VOID(all(rows.slices, &TimelineSink::on_slices));
  TRY_VOID(all(rows.kernels, &TimelineSink::on_kernels));
  TRY_VOID(all(rows.copies, &TimelineSink::on_copies));
  TRY_VOID(all(rows.calls, &TimelineSink::on_calls));
  TRY_VOID(all(rows.args, &TimelineSink::on_args));
  TRY_VOID(all(rows.collectives, &TimelineSink::on_collectives));
  TRY_VOID(all(rows.flows, &TimelineSink::on_flows));
  return all(rows.counters, &TimelineSink::on_counters);
}

void RowBatches::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return busy_ || stop_; });
    if (!busy_) return;
    lock.unlock();
    Result<void> sent = send(sending_);
    lock.lock();
    sent_ = std::move(sent);
    busy_ = false;
    changed_.notify_all();
  }
}

Result<void> RowBatches::wait_for_sink(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !busy_; });
  return sent_;
}

void RowBatches::complete() {
  for (; names_sent_ < names_.size(); ++names_sent_) rows_.names.push_back(names_[StringId{names_sent_}]);
  flow_count_ += static_cast<std::int64_t>(rows_.flows.size());
}

Result<void> RowBatches::hand_over() {
  complete();
  {
    std::unique_lock lock(mutex_);
    TRY_VOID(wait_for_sink(lock));
    std::swap(rows_, sending_);
    busy_ = true;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  changed_.notify_all();
  return {};
}

Result<void> RowBatches::flush() {
  complete();
  std::unique_lock lock(mutex_);
  TRY_VOID(wait_for_sink(lock));
  return send(rows_);
}

Result<void> finish_import(const RowBatches& rows, const ProblemCounts& problems, TimelineSink& sink,
                           ImportReport& report) {
  report.slices = rows.slices();
  report.flows = rows.flows();
  report.problems = problems.rows();
  report.data_lost = problems.data_lost();
  return sink.on_problems(without_folders(report.problems));
}

}  // namespace stave
