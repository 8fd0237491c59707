// The second pass over a Kineto or Chrome trace: its events become rows.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiles/import/event_flows.h"
#include "profiles/import/importer.h"
#include "profiles/import/kineto_kinds.h"
#include "profiles/import/kineto_probe.h"
#include "profiles/import/row_batches.h"
#include "profiles/import/stream_tracks.h"

namespace stave {

// One rank's text. `shift` brings the probe's times to the run's.
class KinetoRows {
 public:
  KinetoRows(KinetoProbe& probe, const RankClock& clock, std::uint32_t rank, Time shift, const ImportOptions& options,
             RowBatches& rows, ProblemCounts& problems, ImportReport& report);

  void take(const TraceEvent& event);
  // After the last event: what only the whole text shows.
  void finish();

 private:
  struct OpenRange {
    Time start{};
    StringId name{};
    std::string args{};
    std::int64_t byte = 0;
  };
  struct Pending {
    std::int64_t correlation;
    SliceId slice;
  };

  void complete(const TraceEvent& event);
  void gpu_work(const TraceEvent& event, KinetoKind kind, Slice slice);
  void call(const TraceEvent& event, Slice slice);
  void sync(const TraceEvent& event, Slice slice);
  void instant(const TraceEvent& event);
  void counter(const TraceEvent& event);
  void begin(const TraceEvent& event);
  void end(const TraceEvent& event);
  void collective(const TraceEvent& event, std::string_view name, SliceId slice, Time start);

  void join_pending();
  void edges();
  void inferred(const std::vector<SliceFlow>& flows);
  SliceId add(const TraceEvent& event, const Slice& slice);
  void add_args(const TraceEvent& event, SliceId slice);
  StringId name_of(const TraceEvent& event);
  StreamKey stream_of(const TraceEvent& event) const;
  TrackId host_track(const TraceEvent& event, TrackKind kind, std::string_view suffix = "");
  TrackId stream_side_track(const TraceEvent& event, TrackKind kind, std::string_view suffix);
  TrackId counter_track(const std::string& name, std::string_view unit, std::optional<std::int64_t> device);
  void count(const ProblemKind& kind, const TraceEvent& event);

  KinetoProbe& probe_;
  const RankClock& clock_;
  std::uint32_t rank_;
  Time shift_;
  const ImportOptions& options_;
  RowBatches& rows_;
  ProblemCounts& problems_;
  ImportReport& report_;

  StreamTracks streams_{StreamLanes::nearly_in_order};
  std::map<std::tuple<std::string, std::string, TrackKind, std::string>, TrackId, std::less<>> tracks_;
  std::map<std::tuple<std::string, std::string>, std::vector<OpenRange>> open_;
  std::map<std::string, TrackId> counters_;
  std::map<TrackId, double> last_value_;
  std::map<std::string, std::int64_t> not_read_;
  static constexpr std::size_t first_most_pending = 8192;
  std::size_t most_pending_ = first_most_pending;
  std::vector<Pending> pending_;  // GPU work whose call stands later in the text
  CopyWaits copy_waits_;
  std::vector<IssuedWork> issued_;
  struct RawWait {
    StreamKey recorded_on{}, waiting{};
    bool stream_waits = false;
    std::int64_t record = 0;
    std::int64_t call = 0;
    Time end{};
  };
  std::vector<RawWait> waits_;
  std::string storage_;
  // The last thread of a call: most events are on the thread of the one before.
  std::string last_pid_, last_tid_;
  TrackId last_host_{};
};

}  // namespace stave
