#include "analysis/intervals.h"

#include <algorithm>

namespace stave {

namespace {

constexpr auto by_begin = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };

// Sorted intervals, none empty, as a set.
Intervals joined(Intervals sorted) {
  std::size_t last = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (sorted[i].begin <= sorted[last].end)
      sorted[last].end = std::max(sorted[last].end, sorted[i].end);
    else
      sorted[++last] = sorted[i];
  }
  if (!sorted.empty()) sorted.resize(last + 1);
  return sorted;
}

}  // namespace

Intervals union_of(std::vector<Interval> any) {
  std::erase_if(any, [](const Interval& i) { return i.end <= i.begin; });
  if (!std::is_sorted(any.begin(), any.end(), by_begin)) std::sort(any.begin(), any.end(), by_begin);
  return joined(std::move(any));
}

Intervals union_of(const Intervals& a, const Intervals& b) {
  Intervals both(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), both.begin(), by_begin);
  return joined(std::move(both));
}

Intervals intersection_of(const Intervals& a, const Intervals& b) {
  Intervals out;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Time begin = std::max(a[i].begin, b[j].begin);
    const Time end = std::min(a[i].end, b[j].end);
    if (begin < end) out.push_back({begin, end});
    a[i].end < b[j].end ? ++i : ++j;
  }
  return out;
}

Intervals difference_of(const Intervals& a, const Intervals& b) {
  Intervals out;
  std::size_t j = 0;
  for (Interval left : a) {
    while (j < b.size() && b[j].end <= left.begin) ++j;
    for (std::size_t k = j; k < b.size() && b[k].begin < left.end; ++k) {
      if (left.begin < b[k].begin) out.push_back({left.begin, b[k].begin});
      left.begin = std::max(left.begin, b[k].end);
    }
    if (left.begin < left.end) out.push_back(left);
  }
  return out;
}

Picoseconds length_of(const Intervals& set) {
  Picoseconds sum{0};
  for (const Interval& i : set) sum += i.length();
  return sum;
}

}  // namespace stave
