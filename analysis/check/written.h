// Which bytes of a buffer have been written so far.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace stave::check {

class Written {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    auto at = ends_.upper_bound(begin);
    if (at != ends_.begin() && std::prev(at)->second >= begin) --at;
    while (at != ends_.end() && at->first <= end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ends_.erase(at);
    }
    ends_.emplace_hint(at, begin, end);
  }

  // The first bytes of the range that are missing.
  std::optional<std::pair<std::int64_t, std::int64_t>> missing(std::int64_t begin, std::int64_t end) const {
    auto next = ends_.upper_bound(begin);
    if (next != ends_.begin()) begin = std::max(begin, std::prev(next)->second);
    if (begin >= end) return std::nullopt;
    return std::pair(begin, next == ends_.end() ? end : std::min(end, next->first));
  }

 private:
  std::map<std::int64_t, std::int64_t> ends_;  // by begin; disjoint, not touching
};

}  // namespace stave::check
