// What panels say of a run that is not needed for its picture: found after it, in the background.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "gui/run.h"

namespace stave::gui {

// What the start of a slice hung on: whatever it had to wait for that ended last.
enum class LateFor : std::uint8_t { Host, Compute, Collective, Unknown };
inline constexpr std::size_t late_for_count = 4;

// A collective of several ranks.
struct Meeting {
  std::string_view communicator, op;  // of the run's timeline
  std::int64_t sequence = 0;
  std::map<std::uint32_t, SliceId> slices;  // by rank
  Time first{};                             // the first rank's start
  Picoseconds late{};                       // the last rank's start after it
  std::uint32_t last = 0;                   // that rank
  LateFor why = LateFor::Unknown;
};

struct Meetings {
  std::size_t count = 0;
  std::vector<Meeting> shown;  // the first ones of all
  std::vector<std::uint32_t> ranks;
  Picoseconds most_late{};
  struct Lateness {
    Picoseconds sum{};
    int times = 0;  // that it was the last one
  };
  std::map<std::uint32_t, Lateness> late_of;  // by rank
  std::array<Picoseconds, late_for_count> reasons{};
};

struct RunStudy {
  std::vector<Picoseconds> slack;     // by slice row, in the whole run
  std::vector<std::uint32_t> beside;  // rows of work that the end does not hang on, least slack first
  Meetings meetings;
};
RunStudy study(const Run& run);

}  // namespace stave::gui
