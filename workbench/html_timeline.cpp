#include "workbench/html_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/compare.h"
#include "core/base/json.h"
#include "profiles/export/lanes.h"
#include "profiles/export/palette.h"

namespace stave {
namespace {

struct Block {
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t name = 0;  // -n: n slices
  std::int64_t waits = 0;
  Family family = Family::Other;
  std::array<std::int64_t, family_count> time{};  // of what is together
};

struct TrackBlocks {
  std::uint32_t track = 0;
  std::vector<std::vector<Block>> rows{};
};

bool nests(const Track& track) { return track.kind == TrackKind::Host || track.kind == TrackKind::Range; }

TrackBlocks blocks_of(const TimelineIndex& index, std::uint32_t track, Interval window, Strings& names) {
  const Timeline& timeline = index.timeline();
  TrackBlocks out{track, {}};
  // The index has equal starts by end: the longest must come first to nest.
  const auto span = index.rows(TrackId{track}, window);
  std::vector<std::uint32_t> rows(span.begin(), span.end());
  std::stable_sort(rows.begin(), rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Slice &x = timeline.slices()[a], &y = timeline.slices()[b];
    return x.start != y.start ? x.start < y.start : x.duration > y.duration;
  });
  Lanes lanes(nests(timeline.tracks()[track]));
  std::vector<std::vector<std::size_t>> row_of;  // by lane and depth
  for (const std::uint32_t row : rows) {
    const Slice& slice = timeline.slices()[row];
    if (slice.end() < window.begin || slice.start >= window.end) continue;
    const Lanes::Place place = lanes.place(slice.start.count(), slice.end().count());
    if (row_of.size() <= place.lane) row_of.resize(place.lane + 1);
    while (row_of[place.lane].size() <= place.depth) {
      row_of[place.lane].push_back(out.rows.size());
      out.rows.emplace_back();
    }
    Block block;
    block.start = (slice.start - window.begin).count();
    block.end = block.start + slice.duration.count();
    block.name = names.intern(title_of(timeline, SliceId{row + 1})).value;
    block.family = slice.family;
    block.waits = std::min(index.waits(row).sum(), slice.duration).count();
    out.rows[row_of[place.lane][place.depth]].push_back(block);
  }
  return out;
}

// Neighbours that are, with what is between them, shorter than `least`.
std::size_t join(std::vector<Block>& row, std::int64_t least) {
  std::vector<Block> out;
  for (Block& block : row) {
    block.time[static_cast<std::size_t>(block.family)] += block.name >= 0 ? block.end - block.start : 0;
    const bool near = !out.empty() && block.end - out.back().start < least;
    if (!near) {
      out.push_back(block);
      continue;
    }
    Block& last = out.back();
    const auto count = [](const Block& b) { return b.name < 0 ? -b.name : 1; };
    last.name = -(count(last) + count(block));
    last.end = std::max(last.end, block.end);
    last.waits = 0;
    for (std::size_t f = 0; f < last.time.size(); ++f) last.time[f] += block.time[f];
    last.family = static_cast<Family>(std::max_element(last.time.begin(), last.time.end()) - last.time.begin());
  }
  row = std::move(out);
  return row.size();
}

}  // namespace

TimelineData timeline_data(const TimelineIndex& index, Interval window, std::size_t most) {
  const Timeline& timeline = index.timeline();
  TimelineData out;
  Strings names;
  std::vector<TrackBlocks> tracks;
  for (std::uint32_t i = 0; i < timeline.tracks().size(); ++i) {
    TrackBlocks blocks = blocks_of(index, i, window, names);
    if (blocks.rows.empty()) continue;
    for (const std::vector<Block>& row : blocks.rows) {
      out.slices += row.size();
      for (const Block& block : row) out.families[static_cast<std::size_t>(block.family)] = true;
    }
    tracks.push_back(std::move(blocks));
  }
  std::stable_sort(tracks.begin(), tracks.end(), [&](const TrackBlocks& a, const TrackBlocks& b) {
    const Track &x = timeline.tracks()[a.track], &y = timeline.tracks()[b.track];
    return std::pair(x.rank, x.kind) < std::pair(y.rank, y.kind);
  });
  out.shown = out.slices;
  for (std::int64_t least = std::max<std::int64_t>(window.length().count() / 16384, 1);
       out.shown > most && least < window.length().count(); least *= 2) {
    out.shown = 0;
    out.together = Picoseconds{least};
    for (TrackBlocks& track : tracks)
      for (std::vector<Block>& row : track.rows) out.shown += join(row, least);
  }
  std::string& json = out.json;
  json = fmt::format("{{\"length\":{},\"begin\":{},\"families\":[", window.length().count(), window.begin.count());
  for (std::uint8_t f = 0; f < family_count; ++f) {
    const Paint paint = paint_of(static_cast<Family>(f));
    json += fmt::format("{}{{\"name\":\"{}\",\"fill\":\"{}\",\"text\":\"{}\"}}", f == 0 ? "" : ",",
                        name_of(static_cast<Family>(f)), paint.fill, paint.text);
  }
  json += "],\"names\":[";
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) json += ',';
    json += json_quoted(names[StringId{i}]);
  }
  json += "],\n\"tracks\":[";
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    const Track& track = timeline.tracks()[tracks[t].track];
    json += fmt::format("{}\n{{\"rank\":{},\"kind\":\"{}\",\"name\":{},\"rows\":[", t == 0 ? "" : ",", track.rank,
                        name_of(track.kind), json_quoted(track.name));
    for (std::size_t r = 0; r < tracks[t].rows.size(); ++r) {
      json += r == 0 ? "[" : ",\n[";
      std::int64_t before = 0;
      const char* comma = "";
      for (const Block& block : tracks[t].rows[r]) {
        fmt::format_to(std::back_inserter(json), "{}{},{},{},{},{}", comma, block.start - before,
                       block.end - block.start, block.name, static_cast<int>(block.family), block.waits);
        before = block.start;
        comma = ",";
      }
      json += ']';
    }
    json += "]}";
  }
  json += "]}";
  return out;
}

}  // namespace stave
