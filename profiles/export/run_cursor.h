// One stored run, row by row, for what writes it in another form: memory does
// not grow with the slices. Edges alone are kept, 16 bytes each.
//
// Codes as open_run_file() and StoreReader; STV0706 a row that does not fit.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/timeline/timeline.h"
#include "profiles/export/run_flows.h"
#include "profiles/run_rows.h"

namespace stave {

// Which rows of a run are meant. A slice is in a window if it meets it, and stays whole.
struct RowFilter {
  TimeSpan window{Time::min(), Time::max()};
  std::vector<std::uint32_t> ranks{};  // empty: all

  bool all_times() const { return window == TimeSpan{Time::min(), Time::max()}; }
  bool all() const { return ranks.empty() && all_times(); }
  bool has_rank(std::uint32_t rank) const;
};

// A slice with what is known about it. Texts live until the next row.
struct SliceRow {
  SliceId id{};
  Slice slice{};
  std::string_view name{};
  std::optional<KernelDetail> kernel{};
  std::optional<CopyDetail> copy{};
  std::optional<ApiDetail> call{};
  std::optional<CollectiveDetail> collective{};
  std::string_view args{};  // a valid JSON object, or empty

  // Of its kernel, copy or call.
  std::optional<std::int64_t> correlation() const;
};

class RunCursor {
 public:
  // The rows of one run of a file.
  static Result<RunCursor> open(const std::string& path, std::int64_t run, RowFilter filter);

  // Sources, ranks, names, tracks, commands and steps; no slices.
  const Timeline& head() const { return head_; }
  const Track& track(const Slice& slice) const { return head_.track(slice.track); }
  const RowFilter& filter() const { return filter_; }
  void set_window(TimeSpan window) { filter_.window = window; }

  enum class Order : std::uint8_t {
    Written,
    Tracks,  // by track, start, longest first
  };
  // STV0950: cancelled.
  Result<void> slices(Order order, bool args, Progress* progress,
                      const std::function<Result<void>(const SliceRow&)>& take);
  Result<void> counters(const std::function<Result<void>(const CounterSample&)>& take);
  Result<RunFlows> flows();
  Result<std::int64_t> flow_count();  // of the whole run
  Result<std::int64_t> args_count();  // events with arguments, of the whole run
  // From the first start to the last end of the slices that are meant, and how many they are.
  struct Extent {
    TimeSpan span{};
    std::int64_t slices = 0;
  };
  Result<Extent> extent();
  // Of the slices of a name on range tracks, for windows; none without one.
  Result<std::optional<TimeSpan>> range(std::string_view name);
  // Whether the run has correlation ids of its own.
  Result<bool> has_correlations();

 private:
  RunCursor(sqlite::Database database, RowFilter filter) : database_(std::move(database)), filter_(std::move(filter)) {}
  bool meant(const Slice& slice) const;
  std::string where_slices() const;

  sqlite::Database database_;
  RowFilter filter_;
  RunRows rows_{};
  Timeline head_;
};

// Nanoseconds, rounded down, so that slices that touch still do.
constexpr std::int64_t floor_ns(Time time) {
  const std::int64_t ps = time.count();
  return ps / 1000 - (ps % 1000 < 0 ? 1 : 0);
}

}  // namespace stave
