// The second pass over an XSpace: its events become rows.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "profiles/import/importer.h"
#include "profiles/import/row_batches.h"
#include "profiles/import/stream_tracks.h"
#include "profiles/import/xplane_probe.h"

namespace stave {

class XplaneRows {
 public:
  // `ranks`: those of the text, settled.
  XplaneRows(XplaneProbe& probe, std::span<const ImportRank> ranks, const ImportOptions& options, RowBatches& rows,
             ProblemCounts& problems, ImportReport& report);

  void take(const XplaneEvent& event);
  void finish();

 private:
  struct Pending {
    std::int64_t correlation = 0;
    SliceId slice{};
  };

  void gpu_work(const XplaneEvent& event, const XplanePlace& place, Slice slice);
  void thread_work(const XplaneEvent& event, const XplanePlace& place, Slice slice);
  SliceId add(const XplaneEvent& event, const Slice& slice);
  TrackId track(const XplaneEvent& event, TrackKind kind);
  void count(const ProblemKind& kind, const XplaneEvent& event);

  XplaneProbe& probe_;
  std::span<const ImportRank> ranks_;
  const ImportOptions& options_;
  RowBatches& rows_;
  ProblemCounts& problems_;
  ImportReport& report_;
  StreamTracks streams_{StreamLanes::nearly_in_order};
  std::map<std::tuple<std::size_t, std::int64_t, std::string, TrackKind>, TrackId> tracks_;
  std::vector<Pending> pending_;  // device work: its launches stand in a later plane
};

}  // namespace stave
