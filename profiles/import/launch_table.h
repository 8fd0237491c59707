// The calls that launched something, by correlation id, in a few bytes each.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/timeline/rows.h"
#include "profiles/import/packed_runs.h"

namespace stave {

class LaunchTable {
 public:
  struct Launch {
    std::size_t at = 0;  // in the table
    Time start{};
  };
  std::optional<Launch> find(std::int64_t correlation) const;
  std::optional<Launch> find(std::optional<std::int64_t> correlation) const {
    return correlation ? find(*correlation) : std::nullopt;
  }

  // Known once the second pass has met the call; none before.
  SliceId slice(const Launch& launch) const { return slices_[launch.at]; }
  void set_slice(const Launch& launch, SliceId slice) { slices_[launch.at] = slice; }

  // By rising correlation ids, each once; `calls` of them.
  void reserve(std::size_t calls);
  void add(std::int64_t correlation, Time start);

 private:
  static constexpr std::size_t block_calls = 32;
  struct Block {
    std::int64_t first = 0;  // correlation id
    std::size_t byte = 0;
  };
  std::vector<Block> blocks_;
  std::vector<std::uint8_t> bytes_;  // differences within a block
  std::vector<SliceId> slices_;
  std::int64_t last_correlation_ = 0, last_start_ = 0, last_rest_ = 0;
};

// Gathers all calls and all ids that device work or a wait names, in any order.
class LaunchGatherer {
 public:
  // Times of calls count from any instant.
  void call(std::int64_t correlation, std::int64_t start) { calls_.add(correlation, start); }
  void need(std::int64_t correlation) {
    if (correlation != 0) needed_.add(correlation, 0);
  }
  // Of calls with one id the last one counts; `shared`: how many others there were. `shift` is added to the times.
  LaunchTable finish(Picoseconds shift, std::int64_t& shared);

 private:
  PackedRuns calls_;
  PackedRuns needed_;
};

}  // namespace stave
