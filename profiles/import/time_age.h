// The first instant of a recording whose times may hold a few of another age,
// as the zeros that a recorder writes for what it could not time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/units.h"
#include "profiles/import/json_text.h"

namespace stave {

// Further from the others than this is no time of the same recording; its
// picoseconds fit 63 bits.
inline constexpr WideTime most_apart = WideTime{50} * 24 * 3600 * 1'000'000'000'000;

class TimeAge {
 public:
  void add(WideTime time) {
    for (Cluster& cluster : clusters_) {
      if (cluster.count > 0 && (time - cluster.first > most_apart / 2 || cluster.first - time > most_apart / 2))
        continue;
      if (cluster.count++ == 0) cluster.first = cluster.least = time;
      cluster.least = std::min(cluster.least, time);
      return;
    }
  }
  WideTime least() const { return clusters_[0].count >= clusters_[1].count ? clusters_[0].least : clusters_[1].least; }

 private:
  struct Cluster {
    std::int64_t count = 0;
    WideTime first = 0;
    WideTime least = 0;
  };
  Cluster clusters_[2];
};

// From `start` to `time`; none: of another age.
inline std::optional<Time> since(WideTime start, WideTime time) {
  const WideTime apart = time - start;
  if (apart > most_apart || apart < -most_apart) return std::nullopt;
  return Time{static_cast<std::int64_t>(apart)};
}

// The stretch between two times: none if it ends before it starts, or if an
// unsigned difference wrapped.
inline std::optional<Picoseconds> lasting(WideTime duration) {
  if (duration < 0 || duration > most_apart) return std::nullopt;
  return Picoseconds{static_cast<std::int64_t>(duration)};
}

}  // namespace stave
