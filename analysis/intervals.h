// Sets of time as sorted, disjoint, half-open intervals.
#pragma once

#include <vector>

#include "core/base/units.h"

namespace stave {

struct Interval {
  Time begin{};
  Time end{};

  Picoseconds length() const { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Sorted by begin; neither overlapping, touching nor empty.
using Intervals = std::vector<Interval>;

// Any intervals, in any order, as a set.
Intervals union_of(std::vector<Interval> any);
Intervals union_of(const Intervals& a, const Intervals& b);
Intervals intersection_of(const Intervals& a, const Intervals& b);
// a without b.
Intervals difference_of(const Intervals& a, const Intervals& b);
Picoseconds length_of(const Intervals& set);

}  // namespace stave
