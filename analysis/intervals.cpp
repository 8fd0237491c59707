#include "analysis/intervals.h"

#include <algorithm>

namespace stave {

Intervals union_of(std::vector<Interval> any) {
  std::erase_if(any, [](const Interval& i) { return i.end <= i.begin; });
  std::sort(any.begin(), any.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  Intervals out;
  for (const Interval& i : any) {
    if (!out.empty() && i.begin <= out.back().end)
      out.back().end = std::max(out.back().end, i.end);
    else
      out.push_back(i);
  }
  return out;
}

Intervals union_of(const Intervals& a, const Intervals& b) {
  std::vector<Interval> all = a;
  all.insert(all.end(), b.begin(), b.end());
  return union_of(std::move(all));
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
