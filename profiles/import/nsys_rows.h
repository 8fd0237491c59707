// The second look at an export: its rows become a timeline's.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiles/import/event_flows.h"
#include "profiles/import/host_waits.h"
#include "profiles/import/importer.h"
#include "profiles/import/nsys_file.h"
#include "profiles/import/row_batches.h"
#include "profiles/import/stream_lanes.h"

namespace stave {

class NsysRows {
 public:
  // `ranks` and `clocks` are those of the file's processes; `shift` brings its times to the run's.
  NsysRows(NsysFile& file, std::span<const std::uint32_t> ranks, std::span<const RankClock> clocks,
           std::span<const Time> shifts, const ImportOptions& options, RowBatches& rows, ProblemCounts& problems,
           ImportReport& report, Progress* progress);

  Result<void> read();

 private:
  using Columns = std::vector<std::string_view>;
  struct ThreadCall {
    Time start{};
    std::int64_t correlation = 0;
  };
  struct Thread {
    std::vector<ThreadCall> records;   // cudaEventRecord...
    std::vector<ThreadCall> launches;  // whose work is on a device
  };
  struct Stream {
    TrackId track{};
    StreamLanes lanes{StreamLanes::any_order};  // a table after the other
  };
  // process position, device, context, stream
  using StreamKey = std::tuple<std::size_t, std::int64_t, std::int64_t, std::int64_t>;
  struct Placed {
    std::size_t process = 0;
    Slice slice{};
    StreamKey on{};
    LaunchCall* launch = nullptr;
    std::optional<std::int64_t> correlation{};
  };

  // What a table of device work begins with, and columns of its own.
  static Columns device_columns(std::initializer_list<std::string_view> own);
  static constexpr int first_own = 8;

  // Calls `take` for each row; a damaged table ends with a problem, not with an error.
  template <class Take>
  Result<void> each(std::string_view table, const Columns& columns, Take take);

  Result<void> calls();
  Result<void> kernels();
  Result<void> copies(bool memset);
  Result<void> graph_launches();
  Result<void> waits();
  Result<void> ranges();
  Result<void> counters();
  Result<void> diagnostics();
  void edges();
  // The lane of a call: how many others it lies in.
  std::uint16_t depth(std::int64_t thread, Time start, Time end);
  void inferred(const std::vector<SliceFlow>& flows);
  void finish();

  // Start, end, process, lane, launch of a device row whose first columns are those of device_columns.
  static bool names_a_stream(const NsysRecord& row);
  std::optional<Placed> place(const NsysRecord& row, bool kernel);
  SliceId add(const Placed& placed);
  std::size_t position(const NsysProcess& process) const;
  // Picoseconds of the run; none: out of range, which is counted.
  std::optional<std::pair<Time, Picoseconds>> span(const NsysRecord& row, std::size_t process, std::uint8_t& flags);
  Stream& stream(const StreamKey& key);
  // The stream with device work, whatever the device: rows of waits do not always name the right one.
  const std::pair<const StreamKey, Stream>* working_stream(const StreamKey& key) const;
  // `otherwise` stands for an empty text.
  StringId name_of(NsysText& text, std::string_view otherwise);
  TrackId thread_track(std::size_t process, std::int64_t global_tid, TrackKind kind);
  void count(const ProblemKind& kind, std::int64_t by = 1);

  NsysFile& file_;
  std::span<const std::uint32_t> ranks_;
  std::span<const RankClock> clocks_;
  std::span<const Time> shifts_;
  const ImportOptions& options_;
  RowBatches& rows_;
  ProblemCounts& problems_;
  ImportReport& report_;
  Progress* progress_;

  std::string table_;     // that is read now
  std::int64_t row_ = 0;  // of it, from 1
  std::map<StreamKey, Stream> streams_;
  std::map<std::pair<std::int64_t, TrackKind>, TrackId> threads_;
  std::map<StreamKey, TrackId> wait_tracks_;
  std::map<std::int64_t, Thread> by_thread_;
  std::map<std::pair<std::size_t, std::int64_t>, std::int64_t> thread_of_call_;  // of waits, by process, correlation
  std::map<std::pair<std::size_t, std::int64_t>, StreamKey> recorded_on_;        // where CUDA_EVENT says it
  std::map<std::pair<std::size_t, std::int64_t>, StreamKey> stream_of_launch_;
  struct RawWait {
    std::size_t process = 0;
    StreamKey stream{};
    std::int64_t correlation = 0;
    bool stream_waits = false;
    Time end{};
  };
  std::vector<RawWait> waits_;
  std::vector<IssuedWork> issued_;
  std::vector<HostWaits> host_waits_;  // by process
  std::vector<CopyWaits> copy_waits_;
  std::map<std::int64_t, std::vector<std::pair<Time, Time>>> open_calls_;  // that a thread is in
  bool has_waits_ = false;
  std::int64_t graph_launches_ = 0;
};

template <class Take>
Result<void> NsysRows::each(std::string_view table, const Columns& columns, Take take) {
  table_ = file_.tables().table(table);
  row_ = 0;
  const auto read = [&]() -> Result<void> {
    TRY(NsysReader reader, NsysReader::open(file_.database(), file_.tables(), table, columns));
    while (true) {
      TRY(const NsysBlock* const block, reader.next());
      if (block == nullptr) return {};
      for (std::size_t i = 0; i < block->rows; ++i) {
        ++row_;
        take(reader.row(*block, i));
        TRY_VOID(rows_.flush_if_full());
      }
      if (progress_ != nullptr) progress_->done += static_cast<std::int64_t>(block->rows);
      TRY_VOID(still_wanted(progress_));
    }
  };
  Result<void> done = read();
  if (done || done.problems()[0].place.file != file_.path()) return done;
  problems_.say(problem_kinds::damaged, {.file = file_.path()},
                fmt::format("{} row {}: {}", table_, row_ + 1, done.problems()[0].message));
  return {};
}

}  // namespace stave
