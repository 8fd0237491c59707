// Gives the slices of one stream lanes, so that those of a lane do not overlap.
// They may come in any order; most come nearly in the order of time.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "core/base/units.h"

namespace stave {

class StreamLanes {
 public:
  // What overlaps more than this shares the last lane.
  static constexpr std::uint16_t most_lanes = 64;
  // A kernel that lasts over the start of this many later ones is suspicious:
  // programmatic dependent launch lets one or two start early.
  static constexpr std::size_t many_covered = 4;

  // How many slices are kept to be looked at. One that comes later than so many
  // others is placed as if what was forgotten lasted until its end.
  static constexpr std::size_t nearly_in_order = std::size_t{1} << 15;
  static constexpr std::size_t any_order = SIZE_MAX;
  explicit StreamLanes(std::size_t most_kept) : most_kept_(most_kept) {}

  std::uint16_t place(Time start, Picoseconds duration, bool kernel);

  struct Overlaps {
    std::int64_t kernels = 0;  // that start before an earlier one of the stream ended
    std::int64_t covers = 0;   // kernels that last over many_covered later ones
  };
  // Of all that was placed. Nothing can be placed after it.
  Overlaps overlaps();

 private:
  struct Taken {
    std::int64_t start;
    std::uint64_t duration : 63;
    std::uint64_t kernel : 1;

    std::int64_t end() const { return start + static_cast<std::int64_t>(duration); }
  };
  // Blocks of neighbours, so that one that comes late moves few.
  using Block = std::vector<Taken>;
  struct Lane {
    std::deque<Block> blocks{};
    std::int64_t busy_until = INT64_MIN;  // by what was forgotten
  };
  static constexpr std::size_t block_rows = 256;

  // False if `taken` overlaps what is there and `always` is not set.
  static bool insert(Lane& lane, const Taken& taken, bool always);
  // Counts all that start before `before`, and forgets them.
  void forget(std::int64_t before);

  std::size_t most_kept_;
  std::vector<Lane> lanes_;
  std::size_t kept_ = 0;
  std::deque<Taken> last_kernels_;  // the last ones that were counted, by start
  Overlaps found_;
};

}  // namespace stave
