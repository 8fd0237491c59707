#include "gui/view/lod.h"

#include <cmath>

#include "gui/view/lane_build.h"
#include "gui/view/parallel.h"

namespace stave::gui {
namespace {

// Where a slice goes: its own lane, the next free one above it, or any free one.
std::size_t free_lane(const std::vector<Time>& reach, std::size_t wanted, Time start) {
  for (std::size_t lane = wanted; lane < reach.size(); ++lane)
    if (reach[lane] <= start) return lane;
  if (reach.size() < TrackLod::max_lanes) return std::max(wanted, reach.size());
  for (std::size_t lane = 0; lane < wanted; ++lane)
    if (reach[lane] <= start) return lane;
  return TrackLod::max_lanes - 1;
}

std::vector<LaneLod> lanes_of(const TimelineIndex& index, TrackId track) {
  const auto slices = index.timeline().slices();
  std::vector<LaneLod> lanes;
  std::vector<Time> reach;
  for (const std::uint32_t row : index.rows(track)) {
    const Slice& slice = slices[row];
    const std::size_t wanted = std::min<std::size_t>(slice.lane, TrackLod::max_lanes - 1);
    const std::size_t lane = free_lane(reach, wanted, slice.start);
    if (lane >= lanes.size()) {
      lanes.resize(lane + 1);
      reach.resize(lane + 1, Time::min());
    }
    lanes[lane].slices.emplace_back(slice, row);
    reach[lane] = std::max(reach[lane], slice.end());
  }
  std::erase_if(lanes, [](const LaneLod& lane) { return lane.slices.empty(); });
  for (LaneLod& lane : lanes) lane.slices.shrink_to_fit();
  return lanes;
}

void build_levels(CounterLod& counter) {
  auto& points = counter.points;
  const auto earlier = [](const CounterPoint& a, const CounterPoint& b) { return a.time < b.time; };
  if (!std::is_sorted(points.begin(), points.end(), earlier)) std::stable_sort(points.begin(), points.end(), earlier);
  const auto join = [](CounterExtent& to, const CounterExtent& from) {
    to.min = std::min(to.min, from.min);
    to.max = std::max(to.max, from.max);
  };
  std::vector<CounterExtent> below;
  below.reserve(points.size());
  for (const CounterPoint& point : points) below.push_back({point.value, point.value});
  while (below.size() > 1) {
    std::vector<CounterExtent> level((below.size() + CounterLod::fan_out - 1) / CounterLod::fan_out);
    for (std::size_t i = 0; i < below.size(); ++i) {
      if (i % CounterLod::fan_out == 0) level[i / CounterLod::fan_out] = below[i];
      join(level[i / CounterLod::fan_out], below[i]);
    }
    counter.levels.push_back(level);
    below = std::move(level);
  }
  if (!below.empty()) counter.all = below.front();
}

}  // namespace

LaneSlice::LaneSlice(const Slice& slice, std::uint32_t row)
    : start_(slice.start),
      row_(row),
      packed_(static_cast<std::uint32_t>(slice.family) << duration_bits |
              static_cast<std::uint32_t>(std::clamp<std::int64_t>(slice.duration.count(), 0, longest))) {}

const LaneLod::Level* LaneLod::level_for(double ps) const {
  if (pyramid.empty() || !(std::ldexp(1.0, pyramid.front().shift) <= ps)) return nullptr;
  const auto coarser = static_cast<std::size_t>(std::ilogb(ps) - pyramid.front().shift);
  return &pyramid[std::min(coarser, pyramid.size() - 1)];
}

bool CounterLod::extent(Time begin, Time end, CounterExtent& of) const {
  const auto position = [&](Time time) {  // of the first sample that is later
    return static_cast<std::size_t>(std::upper_bound(points.begin(), points.end(), time,
                                                     [](Time t, const CounterPoint& point) { return t < point.time; }) -
                                    points.begin());
  };
  std::size_t first = position(begin);
  const std::size_t last = std::max(position(Time{end.count() - 1}), first);
  if (first > 0) --first;
  if (first >= last) return false;
  of = {points[first].value, points[first].value};
  const auto join = [&](CounterExtent other) {
    of.min = std::min(of.min, other.min);
    of.max = std::max(of.max, other.max);
  };
  for (std::size_t i = first; i < last;) {
    std::size_t level = 0, span = 1;
    while (level < levels.size() && i % (span * fan_out) == 0 && i + span * fan_out <= last) {
      span *= fan_out;
      ++level;
    }
    join(level == 0 ? CounterExtent{points[i].value, points[i].value} : levels[level - 1][i / span]);
    i += span;
  }
  return true;
}

Lod::Lod(const TimelineIndex& index, unsigned threads) : index_(&index), tracks_(index.timeline().tracks().size()) {
  const Timeline& timeline = index.timeline();
  for (const CounterSample& sample : timeline.counters())
    if (!std::isnan(sample.value)) tracks_[sample.track.value].counter.points.push_back({sample.time, sample.value});
  in_parallel(tracks_.size(), threads, [&](std::size_t i) {
    TrackLod& track = tracks_[i];
    track.lanes = lanes_of(index, TrackId{i});
    for (LaneLod& lane : track.lanes) {
      build_nodes(timeline.slices(), lane);
      build_pyramid(timeline.slices(), lane);
    }
    build_levels(track.counter);
  });
}

std::size_t Lod::lane_of(SliceId slice) const {
  const Slice& wanted = index_->timeline().slice(slice);
  const auto& lanes = tracks_[wanted.track.value].lanes;
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    const auto& in_lane = lanes[lane].slices;
    auto at = std::lower_bound(in_lane.begin(), in_lane.end(), wanted.start,
                               [](const LaneSlice& slice, Time start) { return slice.start() < start; });
    for (; at != in_lane.end() && at->start() == wanted.start; ++at)
      if (at->row() == slice.row()) return lane;
  }
  return 0;
}

std::size_t Lod::bytes() const {
  std::size_t bytes = tracks_.size() * sizeof(TrackLod);
  for (const TrackLod& track : tracks_) {
    bytes += track.counter.points.size() * (sizeof(CounterPoint) + sizeof(CounterExtent) / CounterLod::fan_out);
    for (const LaneLod& lane : track.lanes) {
      bytes += sizeof(LaneLod) + lane.slices.capacity() * sizeof(LaneSlice);
      for (const auto& level : lane.levels) bytes += level.capacity() * sizeof(Node);
      for (const auto& level : lane.pyramid) bytes += level.buckets.capacity() * sizeof(Bucket);
    }
  }
  return bytes;
}

}  // namespace stave::gui
