// Gives the slices of one stream lanes, so that those of a lane do not overlap.
// They may come in any order; most come nearly in the order of time.
#pragma once

#include <cstdint>
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

  std::uint16_t place(Time start, Picoseconds duration, bool kernel);

  struct Overlaps {
    std::int64_t kernels = 0;  // that start before an earlier one of the stream ended
    std::int64_t covers = 0;   // kernels that last over many_covered later ones
  };
  Overlaps overlaps() const;

 private:
  struct Taken {
    std::int64_t start;
    std::uint64_t duration : 63;
    std::uint64_t kernel : 1;

    std::int64_t end() const { return start + static_cast<std::int64_t>(duration); }
  };
  // Blocks of neighbours, so that one that comes late moves few.
  using Block = std::vector<Taken>;
  using Lane = std::vector<Block>;
  static constexpr std::size_t block_rows = 256;
  // False if `taken` overlaps what is there and `always` is not set.
  static bool insert(Lane& lane, const Taken& taken, bool always);

  std::vector<Lane> lanes_;
};

}  // namespace stave
