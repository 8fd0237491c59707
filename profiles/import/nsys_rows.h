// The second look at an export: its rows become a timeline's.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiles/import/event_flows.h"
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
    StreamLanes lanes{};
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
  void finish();

  // Start, end, process, lane, launch of a device row whose first columns are those of device_columns.
  std::optional<Placed> place(const sqlite::Statement& row, bool kernel);
  SliceId add(const Placed& placed);
  std::size_t position(const NsysProcess& process) const;
  // Picoseconds of the run; none: out of range, which is counted.
  std::optional<std::pair<Time, Picoseconds>> span(const sqlite::Statement& row, std::size_t process,
                                                   std::uint8_t& flags);
  Stream& stream(const StreamKey& key);
  // The stream with device work, whatever the device: rows of waits do not always name the right one.
  const std::pair<const StreamKey, Stream>* working_stream(const StreamKey& key) const;
  TrackId thread_track(std::size_t process, std::int64_t global_tid, TrackKind kind);
  void count(const ProblemKind& kind, std::int64_t by = 1);
  std::string extras(const sqlite::Statement& row, const Columns& columns, std::size_t from) const;

  NsysFile& file_;
  std::span<const std::uint32_t> ranks_;
  std::span<const RankClock> clocks_;
  std::span<const Time> shifts_;
  const ImportOptions& options_;
  RowBatches& rows_;
  ProblemCounts& problems_;
  ImportReport& report_;
  Progress* progress_;

  std::string table_;          // that is read now
  std::int64_t row_ = 0;       // of it, from 1
  std::int64_t all_rows_ = 0;  // so far
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
  bool has_waits_ = false;
  std::int64_t graph_launches_ = 0;
};

}  // namespace stave
