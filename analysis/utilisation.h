// What each rank's GPU did in a stretch of time, and why it was idle.
//
// For one rank, over the window: M is the union of communication slices
// (collectives, also those on copy engines, send and recv), C that of compute,
// P that of other copies and memsets. A collective first waits (residence: for
// SMs; arrival: for its peers) and then transfers.
//   overlap = |M and C|, its pct of |M|      exposed = |M without C|
//   busy    = |C or P or the transfer part of M|
//   idle_arrival = the waiting part of M with nothing else running
//   other idle time belongs to what its end waited for: a launch (host), work of
//   another stream (event), anything else (other)
// busy + idle_host + idle_event + idle_arrival + idle_other = the window.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/timeline_index.h"

namespace stave {

struct StreamUse {
  std::string stream;
  Picoseconds busy{};
  std::int64_t commands = 0;
};

struct RankUse {
  std::uint32_t rank = 0;
  Time end{};  // of its last slice on a device
  Picoseconds compute{};
  Picoseconds communication{};
  Picoseconds copy{};
  Picoseconds overlap{};
  Picoseconds exposed_communication{};
  Picoseconds arrival_wait{};
  Picoseconds residence_wait{};
  Picoseconds transfer{};
  Picoseconds busy{};
  Picoseconds idle_host{};
  Picoseconds idle_event{};
  Picoseconds idle_arrival{};
  Picoseconds idle_other{};
  std::optional<std::int64_t> peak_device_bytes{};
  std::vector<StreamUse> streams{};  // in track order
};

// Sorted by rank; every rank that has a track.
std::vector<RankUse> utilisation(const TimelineIndex& index, Interval window);

// From 0 to the end of the last slice on a device.
Interval whole(const Timeline& timeline);

// The rank whose work ends last; of several, the one with the most exposed
// communication, then the lowest.
const RankUse* worst_rank(const std::vector<RankUse>& ranks);

// part of whole, in per cent; none if the whole is empty.
std::optional<double> percent(Picoseconds part, Picoseconds whole);

}  // namespace stave
