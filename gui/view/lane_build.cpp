#include "gui/view/lane_build.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace stave::gui {
namespace {

using FamilyTimes = std::array<std::int64_t, family_count>;

std::uint8_t largest(const FamilyTimes& times) {
  return static_cast<std::uint8_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

// Fills the buckets of one level from left to right.
class BucketSweep {
 public:
  explicit BucketSweep(LaneLod::Level& level) : level_(level) {}

  void add(const Slice& slice, std::uint32_t position) {
    const Time begin = std::max(slice.start, reach_);
    if (slice.end() <= begin) {  // of no length, or below another one
      touch(number(slice.start), slice, position);
      return;
    }
    reach_ = slice.end();
    const std::int64_t last = number(Time{slice.end().count() - 1});
    for (std::int64_t b = number(begin); b <= last; ++b) {
      touch(b, slice, position);
      const std::int64_t from = std::max(begin.count(), b << level_.shift);
      const std::int64_t to = b == last ? slice.end().count() : (b + 1) << level_.shift;
      busy_ += to - from;
      times_[static_cast<std::size_t>(slice.family)] += to - from;
      if (to - from > most_) {
        most_ = to - from;
        bucket(b).slice = position;
      }
    }
  }

  void finish() {
    if (current_ < level_.first) return;
    Bucket& b = bucket(current_);
    const double part = static_cast<double>(busy_) / std::ldexp(1.0, level_.shift);
    b.busy = static_cast<std::uint16_t>(std::clamp(std::ceil(part * 65535), 1.0, 65535.0));
    if (busy_ > 0) b.family = largest(times_);
    busy_ = most_ = 0;
    times_ = {};
  }

 private:
  std::int64_t number(Time time) const { return time.count() >> level_.shift; }
  Bucket& bucket(std::int64_t b) { return level_.buckets[static_cast<std::size_t>(b - level_.first)]; }

  void touch(std::int64_t b, const Slice& slice, std::uint32_t position) {
    if (b > current_) {
      finish();
      current_ = b;
      bucket(b).slice = position;
      bucket(b).family = static_cast<std::uint8_t>(slice.family);
    }
    bucket(b).flags |= slice.flags;
  }

  LaneLod::Level& level_;
  Time reach_ = Time::min();
  std::int64_t current_ = INT64_MIN;
  std::int64_t busy_ = 0, most_ = 0;
  FamilyTimes times_{};
};

void add_to(LaneLod::Level& level, const Slice& slice, std::uint32_t position) {
  const double size = std::ldexp(1.0, level.shift);
  const std::int64_t last = (slice.end().count() - 1) >> level.shift;
  for (std::int64_t b = slice.start.count() >> level.shift; b <= last; ++b) {
    const double from = std::max(static_cast<double>(slice.start.count() - (b << level.shift)), 0.0);
    const double to = std::min(static_cast<double>(slice.end().count() - (b << level.shift)), size);
    const double share = std::ceil((to - from) / size * 65535);
    Bucket& bucket = level.buckets[static_cast<std::size_t>(b - level.first)];
    if (share >= bucket.busy) {
      bucket.slice = position;
      bucket.family = static_cast<std::uint8_t>(slice.family);
    }
    bucket.busy = static_cast<std::uint16_t>(std::min(bucket.busy + share, 65535.0));
    bucket.flags |= slice.flags;
  }
}

}  // namespace

void build_nodes(std::span<const Slice> slices, LaneLod& lane) {
  auto& first = lane.levels.emplace_back((lane.slices.size() + LaneLod::fan_out - 1) / LaneLod::fan_out);
  Time reach = Time::min();
  for (std::size_t n = 0; n < first.size(); ++n) {
    Node& node = first[n];
    FamilyTimes times{};
    const std::size_t begin = n * LaneLod::fan_out, end = std::min(begin + LaneLod::fan_out, lane.slices.size());
    node.begin = node.end = lane.slices[begin].start();
    node.longest = Picoseconds{-1};
    for (std::size_t i = begin; i < end; ++i) {
      const Slice& slice = slices[lane.slices[i].row()];
      const Picoseconds visible = std::max(slice.end() - std::max(slice.start, reach), Picoseconds{});
      reach = std::max(reach, slice.end());
      node.end = std::max(node.end, slice.end());
      node.busy += visible;
      times[static_cast<std::size_t>(slice.family)] += visible.count();
      node.flags |= slice.flags;
      if (slice.duration > node.longest) {
        node.longest = slice.duration;
        node.slice = static_cast<std::uint32_t>(i);
        if (node.busy == Picoseconds{}) node.family = static_cast<std::uint8_t>(slice.family);
      }
    }
    if (node.busy > Picoseconds{}) node.family = largest(times);
  }
  while (lane.levels.back().size() > LaneLod::fan_out) {
    const std::vector<Node>& below = lane.levels.back();
    std::vector<Node> nodes((below.size() + LaneLod::fan_out - 1) / LaneLod::fan_out);
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      const std::size_t begin = n * LaneLod::fan_out, end = std::min(begin + LaneLod::fan_out, below.size());
      Node& node = nodes[n] = below[begin];
      FamilyTimes times{};
      times[node.family] += node.busy.count();
      for (std::size_t i = begin + 1; i < end; ++i) {
        node.end = std::max(node.end, below[i].end);
        node.busy += below[i].busy;
        node.flags |= below[i].flags;
        times[below[i].family] += below[i].busy.count();
        if (below[i].longest > node.longest) {
          node.longest = below[i].longest;
          node.slice = below[i].slice;
        }
      }
      if (node.busy > Picoseconds{}) node.family = largest(times);
    }
    lane.levels.push_back(std::move(nodes));
  }
}

void build_pyramid(std::span<const Slice> slices, LaneLod& lane) {
  Time end = Time::min();
  for (const Node& node : lane.levels.back()) end = std::max(end, node.end);
  const std::int64_t first = lane.slices.front().start().count();
  const std::int64_t last = std::max(lane.slices.back().start().count(), end.count() - 1);
  // At most as many buckets as slices: below that the nodes are as fast.
  const auto most = static_cast<std::int64_t>(std::max<std::size_t>(256, lane.slices.size()));
  int shift = 0;
  while ((last >> shift) - (first >> shift) >= most) ++shift;

  auto& finest = lane.pyramid.emplace_back();
  finest.shift = shift;
  finest.first = first >> shift;
  finest.buckets.resize(static_cast<std::size_t>((last >> shift) - finest.first + 1));
  // Which slices are short enough for the first time, by shift.
  std::vector<std::vector<std::uint32_t>> later(64);
  BucketSweep sweep(finest);
  for (std::uint32_t i = 0; i < lane.slices.size(); ++i) {
    const Slice& slice = slices[lane.slices[i].row()];
    if (slice.duration < finest.longest()) {
      sweep.add(slice, i);
    } else {
      later[static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(slice.duration.count()))) - 2].push_back(
          i);
    }
  }
  sweep.finish();

  // Buckets on both sides of 0 never join.
  while (lane.pyramid.back().buckets.size() > 2) {
    const LaneLod::Level& below = lane.pyramid.back();
    LaneLod::Level level{.shift = below.shift + 1, .first = below.first >> 1, .buckets = {}};
    const std::int64_t end_bucket = (below.first + static_cast<std::int64_t>(below.buckets.size()) - 1) >> 1;
    level.buckets.resize(static_cast<std::size_t>(end_bucket - level.first + 1));
    const auto at = [&](std::int64_t b) {
      const std::int64_t i = b - below.first;
      return i >= 0 && i < static_cast<std::int64_t>(below.buckets.size()) ? below.buckets[static_cast<std::size_t>(i)]
                                                                           : Bucket{};
    };
    for (std::size_t i = 0; i < level.buckets.size(); ++i) {
      const std::int64_t b = level.first + static_cast<std::int64_t>(i);
      const Bucket left = at(2 * b), right = at(2 * b + 1);
      Bucket& bucket = level.buckets[i] = right.busy > left.busy ? right : left;
      bucket.busy = static_cast<std::uint16_t>((left.busy + right.busy + 1) / 2);
      bucket.flags = left.flags | right.flags;
    }
    for (const std::uint32_t i : later[static_cast<std::size_t>(level.shift)])
      add_to(level, slices[lane.slices[i].row()], i);
    lane.pyramid.push_back(std::move(level));
  }
}

}  // namespace stave::gui
