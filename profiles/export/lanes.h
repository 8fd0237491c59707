// Lanes for the slices of one track, which come by start and, of equal starts,
// the longest first: on a lane slices follow each other or, where they nest,
// lie inside each other. Nothing hides anything.
#pragma once

#include <cstdint>
#include <vector>

namespace stave {

class Lanes {
 public:
  // A thread's calls nest; what overlaps on a stream does not belong to what it overlaps.
  explicit Lanes(bool nest) : nest_(nest) {}

  struct Place {
    std::uint32_t lane = 0;
    std::uint32_t depth = 0;  // of the slices that it lies in
  };
  Place place(std::int64_t start, std::int64_t end) {
    for (std::uint32_t lane = 0; lane < ends_.size() && lane < searched; ++lane) {
      std::vector<std::int64_t>& open = ends_[lane];
      while (!open.empty() && open.back() <= start) open.pop_back();
      if (!open.empty() && (!nest_ || open.back() < end)) continue;
      open.push_back(end);
      return {lane, static_cast<std::uint32_t>(open.size() - 1)};
    }
    ends_.push_back({end});
    return {static_cast<std::uint32_t>(ends_.size() - 1), 0};
  }

 private:
  // Thousands of slices at one time are garbage; each gets a lane, in linear time.
  static constexpr std::uint32_t searched = 256;

  bool nest_;
  std::vector<std::vector<std::int64_t>> ends_;  // by lane: of the open slices, the innermost last
};

}  // namespace stave
