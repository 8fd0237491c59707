// Work is what an activity has to get through: picoseconds at full pace, in
// units of 2^-12 ps. Its pace is a 32-bit binary fraction, so a pace that is
// rounded down costs less than 1 ps in 2^32.
#pragma once

#include <cstdint>
#include <limits>

namespace stave::simulator {

using Work = std::int64_t;
inline constexpr int work_bits = 12;
inline constexpr std::uint64_t full_pace = std::uint64_t{1} << 32;
inline constexpr Work no_work = std::numeric_limits<Work>::max();

constexpr Work work_of(std::int64_t picoseconds) { return picoseconds << work_bits; }

// What gets done in `duration` ps, rounded down.
constexpr Work work_in(std::int64_t duration, std::uint64_t pace) {
  if (pace == full_pace) return duration << work_bits;
  return static_cast<Work>((static_cast<unsigned __int128>(duration) * pace) >> (32 - work_bits));
}

// How long `work` takes, rounded up, so that it is done when the time is over.
constexpr std::int64_t time_for(Work work, std::uint64_t pace) {
  if (work <= 0) return 0;
  if (pace == full_pace) return (work + (Work{1} << work_bits) - 1) >> work_bits;
  constexpr int shift = 32 - work_bits;
  if (work < Work{1} << (62 - shift)) {
    const auto scaled = static_cast<std::uint64_t>(work) << shift;
    return static_cast<std::int64_t>((scaled + pace - 1) / pace);
  }
  const auto scaled = static_cast<unsigned __int128>(work) << shift;
  return static_cast<std::int64_t>((scaled + pace - 1) / pace);
}

}  // namespace stave::simulator
