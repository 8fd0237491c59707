// The second pass over a Perfetto trace: its events become rows.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "profiles/import/importer.h"
#include "profiles/import/perfetto_probe.h"
#include "profiles/import/row_batches.h"
#include "profiles/import/stream_tracks.h"

namespace stave {

class PerfettoRows {
 public:
  // `ranks`: those of the text, settled.
  PerfettoRows(const PerfettoProbe& probe, std::span<const ImportRank> ranks, const ImportOptions& options,
               RowBatches& rows, ProblemCounts& problems, ImportReport& report);

  void take(PerfettoEvent& event);
  // After the last event: what only the whole trace shows.
  void finish();

 private:
  struct FlowEnd {
    SliceId slice{};
    Time start{};
    Time end{};
    bool device = false;
    bool last = false;
  };

  std::optional<Time> time_of(const PerfettoEvent& event) const;
  void gpu_work(const PerfettoEvent& event, KinetoKind kind, Slice slice);
  void host_work(const PerfettoEvent& event, KinetoKind kind, Slice slice);
  StreamKey stream_of(const PerfettoPlace& place) const;
  void flows(const PerfettoEvent& event, const FlowEnd& slice);
  void arrow(const FlowEnd& from, const FlowEnd& to);
  void join(std::vector<FlowEnd>& ends);
  SliceId add(const PerfettoEvent& event, const Slice& slice);
  TrackId track(const PerfettoEvent& event, TrackKind kind, std::string_view suffix);
  void count(const ProblemKind& kind, const PerfettoEvent& event);

  const PerfettoProbe& probe_;
  std::span<const ImportRank> ranks_;
  const ImportOptions& options_;
  RowBatches& rows_;
  ProblemCounts& problems_;
  ImportReport& report_;

  StreamTracks streams_{StreamLanes::nearly_in_order};
  std::map<std::tuple<std::size_t, TrackKind, std::string>, TrackId, std::less<>> tracks_;
  std::unordered_map<std::uint64_t, std::vector<FlowEnd>> open_flows_;
  std::unordered_map<std::uint64_t, FlowEnd> stages_;  // by the id of a render stage
  std::vector<std::pair<std::uint64_t, FlowEnd>> waits_;
  std::int64_t contradicted_ = 0;
};

}  // namespace stave
