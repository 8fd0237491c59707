#include "profiles/import/stream_tracks.h"

#include <fmt/format.h>

namespace stave {

void StreamTracks::place(const StreamKey& key, std::optional<std::int64_t> context, Slice& slice, bool kernel,
                         RowBatches& rows) {
  const auto [at, added] = streams_.try_emplace(key, Stream{{}, StreamLanes(most_kept_)});
  if (added) {
    const bool numbered = key.name.empty();
    at->second.track = rows.add(Track{.rank = key.rank,
                                      .kind = TrackKind::Stream,
                                      .name = numbered ? fmt::format("GPU {} stream {}", key.device, key.stream)
                                                       : fmt::format("GPU {} {}", key.device, key.name),
                                      .device = key.device,
                                      .context = context,
                                      .stream = numbered ? std::optional(key.stream) : std::nullopt});
  }
  slice.track = at->second.track;
  slice.lane = at->second.lanes.place(slice.start, slice.duration, kernel);
}

TrackId StreamTracks::find(const StreamKey& key) const {
  const auto at = streams_.find(key);
  return at == streams_.end() ? TrackId{} : at->second.track;
}

void StreamTracks::finish(std::string_view file, ProblemCounts& problems, ImportReport& report) {
  for (auto& [key, stream] : streams_) {
    const StreamLanes::Overlaps overlaps = stream.lanes.overlaps();
    report.overlaps += overlaps.kernels;
    if (overlaps.kernels > 0) problems.count(problem_kinds::overlap, {.file = file}, overlaps.kernels);
    if (overlaps.covers > 0) problems.count(problem_kinds::covers, {.file = file}, overlaps.covers);
  }
}

}  // namespace stave
