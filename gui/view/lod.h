// Levels of detail of a timeline: what a lane looks like at a scale, at a cost of
// pixels, not of slices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/timeline_index.h"

namespace stave::gui {

// 2^k ps of a lane: its slices that are shorter than `long_buckets` buckets.
struct Bucket {
  std::uint32_t slice = 0;  // position in the lane of one that fills much of it
  std::uint16_t busy = 0;   // of 65535, rounded up: 0 only where no such slice is
  std::uint8_t family = 0;  // fills most of it; in a coarser bucket, that of its busier half
  std::uint8_t flags = 0;   // of all slices in it
};

// Eight slices of a lane, or eight nodes of the level below.
struct Node {
  Time begin{};
  Time end{};               // the last end
  Picoseconds busy{};       // length of the union
  Picoseconds longest{};    // duration
  std::uint32_t slice = 0;  // position in the lane of the longest one
  std::uint8_t family = 0;  // fills most of it
  std::uint8_t flags = 0;
};

// What frames need of a slice, side by side: those of a lane lie far apart in a timeline.
class LaneSlice {
 public:
  LaneSlice(const Slice& slice, std::uint32_t row);

  Time start() const { return start_; }
  std::uint32_t row() const { return row_; }  // in `all` below
  Family family() const { return static_cast<Family>(packed_ >> duration_bits); }
  Picoseconds duration(std::span<const Slice> all) const {
    const std::uint32_t duration = packed_ & longest;
    return duration == longest ? all[row_].duration : Picoseconds{duration};
  }
  Time end(std::span<const Slice> all) const { return start_ + duration(all); }

 private:
  static constexpr int duration_bits = 28;
  static constexpr std::uint32_t longest = (1u << duration_bits) - 1;  // or longer

  Time start_;
  std::uint32_t row_;
  std::uint32_t packed_;  // family, duration
};

// Slices of a lane do not overlap, but in the last one of very many.
struct LaneLod {
  static constexpr std::size_t fan_out = 8;

  std::vector<LaneSlice> slices;          // by start
  std::vector<std::vector<Node>> levels;  // [0]: of slices; the last one has at most fan_out nodes

  // Bucket b of a level stands at [b << shift, (b + 1) << shift), `first` is its first one's number.
  struct Level {
    static constexpr int long_buckets = 4;

    int shift = 0;
    std::int64_t first = 0;
    std::vector<Bucket> buckets;

    // From here on a slice is too long to be in the buckets.
    Picoseconds longest() const { return Picoseconds{std::int64_t{long_buckets} << std::min(shift, 60)}; }
  };
  std::vector<Level> pyramid;  // shift grows by one

  // The coarsest level with buckets of at most `ps`; null if all are longer.
  const Level* level_for(double ps) const;
};

struct CounterPoint {
  Time time{};
  double value = 0;
};
struct CounterExtent {
  double min = 0;
  double max = 0;
};

struct CounterLod {
  static constexpr std::size_t fan_out = 8;

  std::vector<CounterPoint> points;                // by time
  std::vector<std::vector<CounterExtent>> levels;  // [0]: of fan_out points
  CounterExtent all{};

  // Of the values from `begin` to `end`: the one that holds at `begin`, and the samples before `end`. False if
  // there is none yet.
  bool extent(Time begin, Time end, CounterExtent& of) const;
};

struct TrackLod {
  static constexpr std::size_t max_lanes = 128;

  std::vector<LaneLod> lanes;
  CounterLod counter;  // of a counter track

  bool empty() const { return lanes.empty() && counter.points.empty(); }
};

// Answers for a timeline that must live as long and must not change.
class Lod {
 public:
  // On `threads` threads; 0: as many as there are cores.
  explicit Lod(const TimelineIndex& index, unsigned threads = 0);

  const TrackLod& track(TrackId id) const { return tracks_[id.value]; }
  // The lane that a slice is drawn in. It keeps its own where that is free; else it gets the next free one.
  std::size_t lane_of(SliceId slice) const;
  std::size_t bytes() const;

 private:
  const TimelineIndex* index_;
  std::vector<TrackLod> tracks_;
};

}  // namespace stave::gui
