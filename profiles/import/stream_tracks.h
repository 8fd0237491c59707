// The streams of a trace: a track each, and lanes for their slices.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "core/timeline/rows.h"
#include "profiles/import/importer.h"
#include "profiles/import/row_batches.h"
#include "profiles/import/stream_lanes.h"

namespace stave {

struct StreamKey {
  std::uint32_t rank = 0;
  std::int64_t device = 0;
  std::int64_t stream = 0;
  std::string name{};  // of a queue that has no number

  friend auto operator<=>(const StreamKey&, const StreamKey&) = default;
};

class StreamTracks {
 public:
  // As for StreamLanes.
  explicit StreamTracks(std::size_t most_kept) : most_kept_(most_kept) {}

  // Sets the slice's track and lane.
  void place(const StreamKey& key, std::optional<std::int64_t> context, Slice& slice, bool kernel, RowBatches& rows);
  // The track of a stream on which something was placed; none otherwise.
  TrackId find(const StreamKey& key) const;
  // Counts what overlaps, after the last slice.
  void finish(std::string_view file, ProblemCounts& problems, ImportReport& report);

 private:
  struct Stream {
    TrackId track{};
    StreamLanes lanes;
  };
  std::size_t most_kept_;
  std::map<StreamKey, Stream> streams_;
};

}  // namespace stave
