// The rows of a scene: which there are at first, and what hands do with them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "gui/view/scene.h"

namespace stave::gui {
namespace {

constexpr std::size_t many_tracks = 8;
constexpr std::size_t many_counters = 4;  // of all ranks together
constexpr std::size_t many_ranks = 8;
constexpr std::size_t open_ranks = 4;
constexpr std::size_t open_range_lanes = 2;

std::string name_of_track(const Track& track) {
  if (!track.name.empty()) return track.name;
  if (track.stream) return fmt::format("stream {}", *track.stream);
  if (track.thread) return fmt::format("thread {}", *track.thread);
  return std::string(name_of(track.kind));
}

// The tracks of a rank stand in this order; 0 has no header of its own.
enum class Section : std::uint8_t { Device, Links, Counters, Ranges, Host };
constexpr std::string_view section_names[] = {"", "Links", "Counters", "Ranges", "Host threads"};

Section section_of(TrackKind kind) {
  switch (kind) {
    case TrackKind::Stream:
    case TrackKind::CopyEngine: return Section::Device;
    case TrackKind::Link: return Section::Links;
    case TrackKind::Counter: return Section::Counters;
    case TrackKind::Range: return Section::Ranges;
    case TrackKind::Host: break;
  }
  return Section::Host;
}

// A track of one run or, interleaved, the same of several.
struct TrackGroup {
  std::string key, name;
  std::vector<std::pair<std::size_t, TrackId>> tracks;  // run, track
};
using Sections = std::map<Section, std::vector<TrackGroup>>;
using Ranks = std::map<std::uint32_t, Sections>;

void add_tracks(const RunInView& run, std::size_t number, Ranks& ranks) {
  const auto tracks = run.timeline->tracks();
  std::vector<std::size_t> order(tracks.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  // Streams before copy engines, by device and number; else as the source has them.
  const auto place = [&](std::size_t i) {
    const Track& track = tracks[i];
    const bool stream = track.kind == TrackKind::Stream;
    return std::tuple{track.kind == TrackKind::CopyEngine, stream ? track.device.value_or(0) : 0,
                      stream ? track.stream.value_or(0) : 0};
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  std::map<std::string, int> uses;
  for (const std::size_t i : order) {
    if (run.lod->track(TrackId{i}).empty()) continue;
    const Track& track = tracks[i];
    std::string name = name_of_track(track);
    std::string key = fmt::format("rank {}/{}/{}", track.rank, name_of(track.kind), name);
    if (const int use = ++uses[key]; use > 1) key += fmt::format("#{}", use);
    auto& groups = ranks[track.rank][section_of(track.kind)];
    auto same = std::find_if(groups.begin(), groups.end(), [&](const TrackGroup& group) { return group.key == key; });
    if (same == groups.end()) same = groups.insert(groups.end(), TrackGroup{std::move(key), std::move(name), {}});
    same->tracks.emplace_back(number, TrackId{i});
  }
}

std::string name_of_rank(const RunInView& run, std::uint32_t rank) {
  std::string name = fmt::format("Rank {}", rank);
  for (const RankInfo& info : run.timeline->ranks())
    if (info.rank == rank && !info.gpu.empty()) name += " · " + info.gpu;
  return name;
}

std::size_t lane_count(const std::vector<RunInView>& runs, const std::vector<TrackGroup>& groups) {
  std::size_t lanes = 0;
  for (const TrackGroup& group : groups)
    for (const auto& [run, track] : group.tracks) lanes += runs[run].lod->track(track).lanes.size();
  return lanes;
}

// At first: what is beside the devices should not take their room.
bool is_folded(const std::vector<RunInView>& runs, Section section, const std::vector<TrackGroup>& groups, bool device,
               std::size_t ranks) {
  if (section == Section::Host) return device;
  if (section == Section::Counters && device && groups.size() * ranks > many_counters) return true;
  if (section == Section::Ranges) return device && lane_count(runs, groups) > open_range_lanes;
  return groups.size() > many_tracks;
}

void add_rows(const std::vector<RunInView>& runs, const Ranks& ranks, bool interleaved, std::uint8_t depth,
              std::vector<Row>& rows) {
  std::size_t seen = 0;
  for (const auto& [rank, sections] : ranks) {
    Row header{.kind = Row::Kind::Rank, .depth = depth, .rank = rank, .key = fmt::format("rank {}", rank)};
    header.run = sections.begin()->second.front().tracks.front().first;
    header.name = name_of_rank(runs[header.run], rank);
    header.folded = ranks.size() > many_ranks && seen++ >= open_ranks;
    const bool device = sections.contains(Section::Device);
    rows.push_back(header);
    for (const auto& [section, groups] : sections) {
      auto below = static_cast<std::uint8_t>(depth + 1);
      if (section != Section::Device) {
        const auto name = section_names[static_cast<std::size_t>(section)];
        Row group{
            .kind = Row::Kind::Group, .depth = below++, .run = header.run, .rank = rank, .name = std::string(name)};
        group.key = fmt::format("rank {}/{}", rank, name);
        group.folded = is_folded(runs, section, groups, device, ranks.size());
        rows.push_back(group);
      }
      for (const TrackGroup& group : groups)
        for (const auto& [run, track] : group.tracks) {
          Row row{.depth = below, .run = run, .rank = rank, .track = track, .name = group.name, .key = group.key};
          if (runs.size() > 1 && interleaved) row.tag = runs[run].title;
          rows.push_back(row);
        }
    }
  }
}

using Blocks = std::vector<std::vector<Row>>;

// A block is a row with all that belongs to it; the blocks of [begin, end).
Blocks blocks_of(const std::vector<Row>& rows, std::size_t begin, std::size_t end) {
  Blocks blocks;
  for (std::size_t i = begin; i < end; i = row_end(rows, i))
    blocks.emplace_back(rows.begin() + static_cast<std::ptrdiff_t>(i),
                        rows.begin() + static_cast<std::ptrdiff_t>(row_end(rows, i)));
  return blocks;
}

using Places = std::map<std::pair<std::string, std::size_t>, std::size_t>;  // key, run; position

void order_like(const Places& places, std::vector<Row>& rows, std::size_t begin, std::size_t end) {
  Blocks blocks = blocks_of(rows, begin, end);
  // A row that is new stays behind the one it stands behind.
  std::vector<std::pair<std::size_t, std::size_t>> order;
  std::size_t place = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto found = places.find({blocks[i].front().key, blocks[i].front().run});
    if (found != places.end()) place = found->second;
    order.emplace_back(place, i);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::size_t at = begin;
  for (const auto& [_, i] : order) {
    std::copy(blocks[i].begin(), blocks[i].end(), rows.begin() + static_cast<std::ptrdiff_t>(at));
    if (blocks[i].size() > 1) order_like(places, rows, at + 1, at + blocks[i].size());
    at += blocks[i].size();
  }
}

}  // namespace

std::size_t row_end(const std::vector<Row>& rows, std::size_t row) {
  std::size_t end = row + 1;
  while (end < rows.size() && rows[end].depth > rows[row].depth) ++end;
  return end;
}

std::vector<Row> rows_of(const std::vector<RunInView>& runs, Arrangement arrangement) {
  std::vector<Row> rows;
  Ranks together;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    if (arrangement == Arrangement::Interleaved) {
      add_tracks(runs[run], run, together);
      continue;
    }
    Ranks ranks;
    add_tracks(runs[run], run, ranks);
    const bool several = runs.size() > 1;
    if (several) {
      rows.push_back({.kind = Row::Kind::Run, .run = run, .name = runs[run].title, .key = "run"});
    }
    add_rows(runs, ranks, false, several ? 1 : 0, rows);
  }
  add_rows(runs, together, true, 0, rows);
  return rows;
}

std::vector<Row> with_difference_rows(const std::vector<Row>& rows, const std::vector<RunInView>& runs,
                                      std::size_t run) {
  std::vector<Row> all;
  for (const Row& row : rows) {
    if (row.kind == Row::Kind::Difference) continue;
    all.push_back(row);
    if (row.kind != Row::Kind::Track || row.run != run || !is_device_track(runs[run].timeline->track(row.track)))
      continue;
    Row difference = row;
    difference.kind = Row::Kind::Difference;
    difference.name = "Δ";
    difference.tag.clear();
    difference.key += "/difference";
    difference.pinned = difference.folded = false;
    all.push_back(difference);
  }
  return all;
}

void carry_rows(const std::vector<Row>& from, std::vector<Row>& rows) {
  std::map<std::pair<std::string, std::size_t>, const Row*> by_run;
  std::map<std::string, const Row*> by_key;
  Places by_place;
  for (std::size_t i = 0; i < from.size(); ++i) {
    by_run.emplace(std::pair{from[i].key, from[i].run}, &from[i]);
    by_key.emplace(from[i].key, &from[i]);
  }
  for (Row& row : rows) {
    const Row* old = nullptr;
    if (const auto exact = by_run.find({row.key, row.run}); exact != by_run.end()) old = exact->second;
    if (const auto any = by_key.find(row.key); old == nullptr && any != by_key.end()) old = any->second;
    if (old == nullptr) continue;
    row.folded = old->folded;
    row.hidden = old->hidden;
    row.pinned = old->pinned;
    row.height = old->height;
    by_place.emplace(std::pair{row.key, row.run}, static_cast<std::size_t>(old - from.data()));
  }
  order_like(by_place, rows, 0, rows.size());
}

bool move_row(std::vector<Row>& rows, std::size_t from, std::size_t to) {
  if (from >= rows.size() || to > rows.size()) return false;
  const std::size_t end = row_end(rows, from);
  if (to >= from && to <= end) return false;
  const auto depth = rows[from].depth;
  // Nothing between the two places may be above the row, and `to` must be the begin of a sibling.
  const auto between_begin = to < from ? to : end, between_end = to < from ? from : to;
  for (std::size_t i = between_begin; i < between_end; ++i)
    if (rows[i].depth < depth) return false;
  if (to < rows.size() && rows[to].depth > depth) return false;
  const auto at = [&](std::size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i); };
  if (to < from) {
    std::rotate(at(to), at(from), at(end));
  } else {
    std::rotate(at(from), at(end), at(to));
  }
  return true;
}

}  // namespace stave::gui
