#include <algorithm>
#include <iterator>

#include "core/timeline/timeline.h"

namespace stave {
namespace {

struct TrackTotal {
  std::size_t slices = 0;
  Picoseconds busy{};
  TimeSpan span;

  // Slices come in order of their start.
  void add(const Slice& slice) {
    if (slices++ == 0) {
      span = {slice.start, slice.end()};
      busy = slice.duration;
      return;
    }
    busy += std::max(slice.end() - std::max(slice.start, span.end), Picoseconds{0});
    span.end = std::max(span.end, slice.end());
  }
};

}  // namespace

std::string timeline_text(const Timeline& timeline) {
  const auto slices = timeline.slices();
  std::vector<std::uint32_t> order(slices.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(slices[a].track, slices[a].start, a) < std::tie(slices[b].track, slices[b].start, b);
  });

  std::string text;
  const auto out = std::back_inserter(text);
  std::vector<TrackTotal> totals(timeline.tracks().size());
  for (const std::uint32_t row : order) {
    const Slice& slice = slices[row];
    const Track& track = timeline.track(slice.track);
    totals[slice.track.value].add(slice);
    fmt::format_to(out, "rank {} {}  [{}, {})  {}", track.rank, track.name, slice.start.count(), slice.end().count(),
                   timeline.text(slice.name));
    if (slice.command) fmt::format_to(out, "  {}", timeline.command(slice.command).key);
    if (slice.occurrence > 0) fmt::format_to(out, "  occurrence {}", slice.occurrence);
    text += '\n';
  }
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const TrackTotal& total = totals[i];
    if (total.slices == 0) continue;
    const Track& track = timeline.tracks()[i];
    fmt::format_to(out, "total rank {} {}: {} slices, busy {} in [{}, {})\n", track.rank, track.name, total.slices,
                   total.busy.count(), total.span.start.count(), total.span.end.count());
  }
  return text;
}

}  // namespace stave
