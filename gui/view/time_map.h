// Time to pixel and back. Pixels are doubles from the left edge of the tracks.
#pragma once

#include <string>
#include <vector>

#include "core/timeline/timeline.h"

namespace stave::gui {

// a - b in picoseconds, also where it is no int64.
inline double difference(Time a, Time b) {
  std::int64_t exact = 0;
  if (!__builtin_sub_overflow(a.count(), b.count(), &exact)) return static_cast<double>(exact);
  return static_cast<double>(a.count()) - static_cast<double>(b.count());
}

class TimeMap {
 public:
  TimeMap() = default;
  // A pixel is at least 1 ps and the width at most 100 days: what lies outside is clamped.
  TimeMap(TimeSpan visible, double width);

  double width() const { return width_; }
  double ps_per_pixel() const { return ps_per_pixel_; }
  double x(Time time) const { return (difference(time, origin_) - fraction_) / ps_per_pixel_; }
  Time time(double x) const;  // rounded down
  TimeSpan visible() const { return {time(0), time(width_)}; }

  // For a run that is drawn `shift` later than its own times.
  TimeMap shifted(Picoseconds shift) const;
  // factor < 1 zooms in; the time at `x` stays at `x`.
  TimeMap zoomed(double factor, double x) const;
  TimeMap panned(double pixels) const;  // > 0: later times come into view
  TimeMap resized(double width) const;  // same scale, same left edge
  // Not wider than `extent` with its margin, and with part of it in view.
  TimeMap within(TimeSpan extent) const;

  friend bool operator==(const TimeMap&, const TimeMap&) = default;

 private:
  void move(double ps);

  Time origin_{};        // at x = 0 ...
  double fraction_ = 0;  // ... plus this part of a picosecond
  double ps_per_pixel_ = 1'000'000;
  double width_ = 1;
};

// `span` with some space around it, so that its ends can be seen; at least 100 ps.
TimeSpan with_margin(TimeSpan span, double part = 0.02);

struct Tick {
  Time time{};
  std::string label{};  // empty: a minor tick

  friend bool operator==(const Tick&, const Tick&) = default;
};
struct Ticks {
  // What the labels count from, where they would be long, with more than four digits after the point; else empty.
  std::string anchor{};
  std::vector<Tick> ticks{};
};
// Round times with labels at least `spacing` pixels apart.
Ticks ticks_of(const TimeMap& map, double spacing);

}  // namespace stave::gui
