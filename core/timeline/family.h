// What a slice is about: the colour of a timeline, and what analysis counts as
// communication, compute or copy.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stave {

// Stored as these numbers: append, never renumber.
enum class Family : std::uint8_t {
  Other,
  Host,        // host work without an API call: a range of a thread's own code
  HostApi,     // a CUDA runtime, driver or NCCL call
  Compute,     // a kernel
  Gemm,        // a matrix multiplication
  Memory,      // a copy or a memset
  Collective,  // also send, recv and permute
  Control,     // predicates, branches, loop conditions
  Stream,      // event records, waits, synchronisations
  Mark,        // a range or a mark that names other slices
  Idle,        // a stretch where the track waits
};
inline constexpr std::uint8_t family_count = 11;

std::string_view name_of(Family family);
std::optional<Family> family_named(std::string_view name);

}  // namespace stave
