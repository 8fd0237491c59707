#include "gui/view/lane_columns.h"

#include <algorithm>
#include <cmath>

namespace stave::gui {
namespace {

class LaneWalk {
 public:
  LaneWalk(const LaneLod& lane, std::span<const Slice> slices, const TimeMap& time, std::vector<Column>& columns,
           std::vector<WideSlice>* wide)
      : lane_(lane),
        slices_(slices),
        time_(time),
        columns_(columns),
        wide_(wide),
        width_(static_cast<int>(columns.size())),
        begin_(time.time(0)),
        end_(time.time(width_) + 1_ps),
        begin_x_(time.x(begin_)),
        pixels_per_ps_(1 / time.ps_per_pixel()) {}

  void all() {
    if (const LaneLod::Level* level = lane_.level_for(time_.ps_per_pixel())) {
      buckets(*level);
      long_slices(level->longest(), lane_.levels.size() - 1, 0, lane_.levels.back().size());
    } else {
      walk(lane_.levels.size() - 1, 0, lane_.levels.back().size());
    }
  }

 private:
  // As TimeMap::x, without its division.
  double x(Time time) const {
    const auto after = static_cast<std::uint64_t>(time.count()) - static_cast<std::uint64_t>(begin_.count());
    return begin_x_ + static_cast<double>(static_cast<std::int64_t>(after)) * pixels_per_ps_;
  }

  void add(int column, double amount, std::uint32_t slice, std::uint8_t family, std::uint8_t flags) {
    Column& to = columns_[static_cast<std::size_t>(column)];
    const float share = std::max(static_cast<float>(amount), 1e-6f);
    to.busy += share;
    to.flags |= flags;
    if (share > to.most) {
      to.most = share;
      to.slice = slice;
      to.family = family;
    }
  }

  // `busy` pixels' worth of time, spread over [from, to). Casts instead of floor(), which is a call.
  void deposit(double from, double to, double busy, std::uint32_t slice, std::uint8_t family, std::uint8_t flags) {
    if (to < 0 || from >= width_) return;
    if (from >= 0 && static_cast<int>(from) == static_cast<int>(std::min<double>(to, width_)))
      return add(static_cast<int>(from), busy, slice, family, flags);
    const double density = to > from ? busy / (to - from) : 0;
    from = std::max(from, 0.0);
    to = std::min<double>(to, width_);
    for (int column = static_cast<int>(from); column < to; ++column)
      add(column, density * (std::min<double>(to, column + 1) - std::max<double>(from, column)), slice, family, flags);
  }

  void buckets(const LaneLod::Level& level) {
    const double step = time_.ps_per_pixel() / std::ldexp(1.0, level.shift);  // buckets a pixel
    const double left = -time_.x(Time{level.first << level.shift}) * step;
    const auto count = static_cast<double>(level.buckets.size());
    if (step > 4) {  // seen from far away: one or two buckets are all
      for (std::size_t b = 0; b < level.buckets.size(); ++b) {
        const Bucket& bucket = level.buckets[b];
        const double from = (static_cast<double>(b) - left) / step, width = 1 / step;
        if (bucket.busy > 0)
          deposit(from, from + width, width * bucket.busy / 65535, bucket.slice, bucket.family, bucket.flags);
      }
      return;
    }
    const int first = std::max(0, static_cast<int>(std::clamp(-left / step, -1e9, 1e9)));
    const int last = std::min(width_, static_cast<int>(std::clamp((count - left) / step + 1, -1e9, 1e9)));
    // 32 bits after the point; a column meets two or three buckets.
    constexpr std::int64_t one = std::int64_t{1} << 32;
    const auto stride = static_cast<std::int64_t>(step * static_cast<double>(one));
    const auto end = static_cast<std::int64_t>(level.buckets.size()) * one;
    const float scale = static_cast<float>(1 / (step * 65536 * 65535));
    auto next = static_cast<std::int64_t>((left + first * step) * static_cast<double>(one));
    for (int column = first; column < last; ++column) {
      const std::int64_t from = std::max<std::int64_t>(next, 0), to = std::min(next += stride, end);
      std::int64_t sum = 0, most = 0, best = 0;
      std::uint8_t flags = 0;
      for (std::int64_t b = from >> 32; b * one < to; ++b) {
        const Bucket& bucket = level.buckets[static_cast<std::size_t>(b)];
        const std::int64_t part = (std::min(to, (b + 1) * one) - std::max(from, b * one)) >> 16;
        const std::int64_t amount = part * bucket.busy + (bucket.busy > 0);
        sum += amount;
        flags |= bucket.flags;
        best = amount > most ? b : best;
        most = std::max(most, amount);
      }
      if (sum == 0) continue;
      const Bucket& bucket = level.buckets[static_cast<std::size_t>(best)];
      columns_[static_cast<std::size_t>(column)] = {.busy = std::max(static_cast<float>(sum) * scale, 1e-6f),
                                                    .most = static_cast<float>(most) * scale,
                                                    .slice = bucket.slice,
                                                    .family = bucket.family,
                                                    .flags = flags};
    }
  }

  void walk(std::size_t level, std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const Node& node = lane_.levels[level][n];
      if (node.begin >= end_) return;
      if (node.end < begin_) continue;
      const double from = x(node.begin), to = x(node.end);
      if (to - from <= 1) {
        deposit(from, to, static_cast<double>(node.busy.count()) * pixels_per_ps_, node.slice, node.family, node.flags);
      } else if (level > 0) {
        walk(level - 1, n * LaneLod::fan_out, std::min((n + 1) * LaneLod::fan_out, lane_.levels[level - 1].size()));
      } else {
        for (std::size_t i = n * LaneLod::fan_out; i < std::min((n + 1) * LaneLod::fan_out, lane_.slices.size()); ++i)
          slice(static_cast<std::uint32_t>(i), node.flags != 0);
      }
    }
  }

  void slice(std::uint32_t position, bool flagged) {
    const LaneSlice& slice = lane_.slices[position];
    const Time slice_end = slice.end(slices_);
    if (slice_end < begin_ || slice.start() >= end_) return;
    double from = x(slice.start()), to = x(slice_end);
    if (wide_ != nullptr && to - from >= wide_pixels) {
      from = std::clamp(from, 0.0, static_cast<double>(width_));
      to = std::clamp(to, 0.0, static_cast<double>(width_));
      const int left = static_cast<int>(std::lround(from)), right = static_cast<int>(std::lround(to));
      if (right > left) return wide_->push_back({slice.row(), left, right});
      // But for a part of a pixel out of view.
    }
    deposit(from, to, to - from, position, static_cast<std::uint8_t>(slice.family()),
            flagged ? slices_[slice.row()].flags : std::uint8_t{0});
  }

  // Those that last `least` or longer.
  void long_slices(Picoseconds least, std::size_t level, std::size_t first, std::size_t last) {
    for (std::size_t n = first; n < last; ++n) {
      const Node& node = lane_.levels[level][n];
      if (node.begin >= end_) return;
      if (node.end < begin_ || node.longest < least) continue;
      const std::size_t begin = n * LaneLod::fan_out;
      if (level > 0) {
        long_slices(least, level - 1, begin, std::min(begin + LaneLod::fan_out, lane_.levels[level - 1].size()));
        continue;
      }
      for (std::size_t i = begin; i < std::min(begin + LaneLod::fan_out, lane_.slices.size()); ++i)
        if (lane_.slices[i].duration(slices_) >= least) slice(static_cast<std::uint32_t>(i), node.flags != 0);
    }
  }

  const LaneLod& lane_;
  std::span<const Slice> slices_;
  const TimeMap& time_;
  std::vector<Column>& columns_;
  std::vector<WideSlice>* wide_;
  int width_;
  Time begin_, end_;  // what is in view, at least
  double begin_x_, pixels_per_ps_;
};

void clear(std::vector<Column>& columns, const TimeMap& time) {
  columns.assign(static_cast<std::size_t>(std::max(0.0, std::ceil(time.width()))), {});
}

}  // namespace

void lane_columns(const LaneLod& lane, std::span<const Slice> slices, const TimeMap& time, std::vector<Column>& columns,
                  std::vector<WideSlice>& wide) {
  clear(columns, time);
  wide.clear();
  LaneWalk(lane, slices, time, columns, &wide).all();
}

void lane_columns(const LaneLod& lane, std::span<const Slice> slices, const TimeMap& time,
                  std::vector<Column>& columns) {
  clear(columns, time);
  LaneWalk(lane, slices, time, columns, nullptr).all();
}

}  // namespace stave::gui
