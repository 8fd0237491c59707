#include "profiles/import/row_batches.h"

#include <algorithm>

namespace stave {

StringId RowBatches::name(std::string_view text) { return names_.intern(text); }

TrackId RowBatches::add(Track track) {
  tracks_.push_back(std::move(track));
  return TrackId{track_count_++};
}

SliceId RowBatches::add(const Slice& slice) {
  slices_.push_back(slice);
  return SliceId{static_cast<std::uint32_t>(++slice_count_)};
}

template <class Row>
Result<void> RowBatches::send(std::vector<Row>& rows, Result<void> (TimelineSink::*take)(std::span<const Row>)) {
  const std::span<const Row> all(rows);
  for (std::size_t at = 0; at < all.size(); at += max_batch_rows)
    TRY_VOID((sink_.*take)(all.subspan(at, std::min(max_batch_rows, all.size() - at))));
  rows.clear();
  return {};
}

Result<void> RowBatches::flush() {
  std::vector<std::string_view> names;
  for (; names_sent_ < names_.size(); ++names_sent_) names.push_back(names_[StringId{names_sent_}]);
  flow_count_ += static_cast<std::int64_t>(flows_.size());
  TRY_VOID(send(names, &TimelineSink::on_names));
  TRY_VOID(send(tracks_, &TimelineSink::on_tracks));
  TRY_VOID(send(slices_, &TimelineSink::on_slices));
  TRY_VOID(send(kernels_, &TimelineSink::on_kernels));
  TRY_VOID(send(copies_, &TimelineSink::on_copies));
  TRY_VOID(send(calls_, &TimelineSink::on_calls));
  TRY_VOID(send(args_, &TimelineSink::on_args));
  TRY_VOID(send(collectives_, &TimelineSink::on_collectives));
  TRY_VOID(send(flows_, &TimelineSink::on_flows));
  return send(counters_, &TimelineSink::on_counters);
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
