// The slices of a window as data for the page's script.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/timeline_index.h"

namespace stave {

struct TimelineData {
  std::string json{};
  std::size_t slices = 0;                     // of the window
  std::size_t shown = 0;                      // blocks in the page; fewer if slices were drawn together
  Picoseconds together{};                     // slices nearer than this became one block; 0: none did
  std::array<bool, family_count> families{};  // that slices have
};

// A run's window; the windows of a page begin together.
struct TimelinePart {
  const TimelineIndex* index = nullptr;
  Interval window{};
  std::string_view run{};  // "A", where there are several
};

// {length, begin, families[{name, fill, text}], names[], tracks[{run, rank, name, kind, rows[][]}]}.
// A row holds five numbers a block: start since the one before, duration, position
// of its name (or, of n slices together, -n), family, waiting part. Rows do not overlap.
TimelineData timeline_data(const std::vector<TimelinePart>& parts, std::size_t most);

}  // namespace stave
