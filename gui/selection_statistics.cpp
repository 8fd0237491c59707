#include "gui/selection_statistics.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stave::gui {
namespace {

DurationSummary summary_of(std::vector<Picoseconds>& durations) {
  DurationSummary out;
  out.count = static_cast<std::int64_t>(durations.size());
  if (durations.empty()) return out;
  std::ranges::sort(durations);
  for (const Picoseconds d : durations) out.sum += d;
  out.min = durations.front();
  out.max = durations.back();
  // As quantile() counts.
  const auto at = [&](double part) {
    const double n = std::ceil(part * static_cast<double>(durations.size()));
    return durations[static_cast<std::size_t>(std::max(1.0, n)) - 1];
  };
  out.median = at(0.5);
  out.p90 = at(0.9);
  return out;
}

std::optional<std::int64_t> bytes_of(const Timeline& timeline, SliceId slice) {
  if (const CollectiveDetail* collective = timeline.collective(slice)) return collective->bytes;
  if (const CopyDetail* copy = timeline.copy(slice)) return copy->bytes;
  return std::nullopt;
}

// What a rank computes in a stretch, selected or not: it is what hides communication.
Intervals computing(const Run& run, std::uint32_t rank, Interval window) {
  std::vector<Interval> out;
  for (std::size_t t = 0; t < run.timeline->tracks().size(); ++t) {
    const Track& track = run.timeline->tracks()[t];
    if (track.rank != rank || !is_device_track(track)) continue;
    for (const std::uint32_t row : run.index->rows(TrackId{t}, window)) {
      const Slice& slice = run.timeline->slices()[row];
      if (run.index->work(row) == WorkKind::Compute) out.push_back({slice.start, slice.end()});
    }
  }
  return union_of(std::move(out));
}

struct RankSets {
  std::vector<Interval> compute, communication, copy;
};

}  // namespace

std::optional<double> SelectionStatistics::bytes_per_s() const {
  if (bytes == 0 || bytes_time.count() <= 0) return std::nullopt;
  return static_cast<double>(bytes) / (static_cast<double>(bytes_time.count()) * 1e-12);
}

SelectionStatistics statistics_of(const std::vector<SelectedSlices>& selected, const Progress* progress) {
  SelectionStatistics out;
  std::vector<Picoseconds> all;
  std::map<std::pair<std::string_view, Family>, std::vector<Picoseconds>> names;
  std::optional<Interval> extent;
  for (const SelectedSlices& part : selected) {
    const Timeline& timeline = *part.run->timeline;
    std::map<std::uint32_t, RankSets> ranks;
    std::size_t looked_at = 0;
    const auto take = [&](std::uint32_t row) {
      const Slice& slice = timeline.slices()[row];
      Interval of{slice.start, slice.end()};
      if (part.span) of = {std::max(of.begin, part.span->begin), std::min(of.end, part.span->end)};
      // Of no length, at the edge: it is not in the stretch.
      if (of.end < of.begin || (part.span && of.end == of.begin && slice.duration.count() > 0)) return;
      if (part.span && slice.duration.count() == 0 && (slice.start < part.span->begin || slice.start >= part.span->end))
        return;
      all.push_back(of.length());
      names[{timeline.text(slice.name), slice.family}].push_back(of.length());
      extent = extent ? Interval{std::min(extent->begin, of.begin), std::max(extent->end, of.end)} : of;
      RankSets& sets = ranks[timeline.track(slice.track).rank];
      switch (part.run->index->work(row)) {
        case WorkKind::Compute: sets.compute.push_back(of); break;
        case WorkKind::Communication: sets.communication.push_back(of); break;
        case WorkKind::Copy: sets.copy.push_back(of); break;
        case WorkKind::None: break;
      }
      if (const std::optional<std::int64_t> bytes = bytes_of(timeline, SliceId{row + 1})) {
        out.bytes += *bytes;
        out.bytes_time += of.length() - std::min(of.length(), part.run->index->waits(row).sum());
      }
    };
    for (const std::uint32_t row : part.rows) take(row);
    for (const TrackId track : part.tracks)
      for (const std::uint32_t row : part.run->index->rows(track, *part.span)) {
        if ((++looked_at & 0xffff) == 0 && progress && progress->cancelled()) return {};
        take(row);
      }
    for (auto& [rank, sets] : ranks) {
      const Intervals compute = union_of(std::move(sets.compute)),
                      communication = union_of(std::move(sets.communication));
      Picoseconds overlap{};
      if (!communication.empty())
        overlap = length_of(intersection_of(
            computing(*part.run, rank, {communication.front().begin, communication.back().end}), communication));
      out.communication += length_of(communication);
      out.overlap += overlap;
      out.exposed += length_of(communication) - overlap;
      out.busy += length_of(union_of(union_of(compute, communication), union_of(std::move(sets.copy))));
    }
    if (part.span) out.stretch = std::max(out.stretch, part.span->length());
  }
  if (extent && out.stretch.count() == 0) out.stretch = extent->length();
  for (auto& [key, durations] : names) out.names.push_back({std::string(key.first), key.second, summary_of(durations)});
  std::ranges::stable_sort(out.names, [](const auto& a, const auto& b) { return a.durations.sum > b.durations.sum; });
  out.durations = summary_of(all);
  return out;
}

}  // namespace stave::gui
