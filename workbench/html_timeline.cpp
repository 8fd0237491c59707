#include "workbench/html_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

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
  std::size_t part = 0;
  std::uint32_t track = 0;
  std::vector<std::vector<Block>> rows{};
};

bool nests(const Track& track) { return track.kind == TrackKind::Host || track.kind == TrackKind::Range; }

std::vector<std::vector<Block>> blocks_of(const TimelineIndex& index, std::uint32_t track, Interval window,
                                          Strings& names) {
  const Timeline& timeline = index.timeline();
  std::vector<std::vector<Block>> out;
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
      row_of[place.lane].push_back(out.size());
      out.emplace_back();
    }
    Block block;
    block.start = (slice.start - window.begin).count();
    block.end = block.start + slice.duration.count();
    block.name = names.intern(title_of(timeline, SliceId{row + 1})).value;
    block.family = slice.family;
    block.waits = std::min(index.waits(row).sum(), slice.duration).count();
    out[row_of[place.lane][place.depth]].push_back(block);
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

TimelineData timeline_data(const std::vector<TimelinePart>& parts, std::size_t most) {
  TimelineData out;
  Strings names;
  std::vector<TrackBlocks> tracks;
  std::int64_t length = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    length = std::max(length, parts[p].window.length().count());
    for (std::uint32_t i = 0; i < parts[p].index->timeline().tracks().size(); ++i) {
      std::vector<std::vector<Block>> rows = blocks_of(*parts[p].index, i, parts[p].window, names);
      if (rows.empty()) continue;
      for (const std::vector<Block>& row : rows) {
        out.slices += row.size();
        for (const Block& block : row) out.families[static_cast<std::size_t>(block.family)] = true;
      }
      tracks.push_back({p, i, std::move(rows)});
    }
  }
  const auto track_of = [&](const TrackBlocks& blocks) -> const Track& {
    return parts[blocks.part].index->timeline().tracks()[blocks.track];
  };
  std::stable_sort(tracks.begin(), tracks.end(), [&](const TrackBlocks& a, const TrackBlocks& b) {
    const Track &x = track_of(a), &y = track_of(b);
    // Of several runs the devices stand together, the hosts below.
    const bool low_a = parts.size() > 1 && !is_device_track(x), low_b = parts.size() > 1 && !is_device_track(y);
    return std::tuple(low_a, a.part, x.rank, x.kind) < std::tuple(low_b, b.part, y.rank, y.kind);
  });
  out.shown = out.slices;
  for (std::int64_t least = std::max<std::int64_t>(length / 16384, 1); out.shown > most && least < length; least *= 2) {
    out.shown = 0;
    out.together = Picoseconds{least};
    for (TrackBlocks& track : tracks)
      for (std::vector<Block>& row : track.rows) out.shown += join(row, least);
  }
  std::string& json = out.json;
  json = fmt::format("{{\"length\":{},\"begin\":{},\"families\":[", length,
                     parts.size() == 1 ? parts[0].window.begin.count() : 0);
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
    const Track& track = track_of(tracks[t]);
    json += fmt::format("{}\n{{\"run\":\"{}\",\"rank\":{},\"kind\":\"{}\",\"name\":{},\"rows\":[", t == 0 ? "" : ",",
                        parts[tracks[t].part].run, track.rank, name_of(track.kind), json_quoted(track.name));
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
