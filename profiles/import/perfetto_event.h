// What a Perfetto trace tells: events, and the tracks that they are on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/timeline/rows.h"
#include "profiles/import/json_text.h"

namespace stave {

// A line of the trace: a track of the file, or a queue of a GPU.
struct PerfettoTrack {
  std::optional<std::uint64_t> parent{};
  std::string name{};
  std::optional<std::int64_t> pid{};
  std::optional<std::int64_t> tid{};
  bool process = false;  // the track of a process
  bool counter = false;
  bool incremental = false;
  std::int64_t unit_multiplier = 1;
  std::string unit{};
  bool gpu_queue = false;
  std::int64_t gpu = 0;
  std::optional<std::uint64_t> context{};
};

struct PerfettoEvent {
  enum class Kind : std::uint8_t { Slice, Instant, Counter };
  Kind kind = Kind::Slice;
  std::size_t track = 0;  // in the reader's tracks
  std::int64_t byte = 0;  // of the packet
  WideTime start = 0;
  WideTime end = 0;
  double value = 0;  // of a counter
  std::string name{};
  std::string category{};
  std::string args{};  // a JSON object, or ""
  std::vector<std::uint64_t> flows{};
  std::vector<std::uint64_t> last_of_flows{};
  // Of a render stage:
  std::optional<std::uint64_t> id{};
  std::vector<std::uint64_t> waits_for{};
  std::string demangled_name{};
  std::optional<LaunchDims> grid{};
  std::optional<LaunchDims> workgroup{};
};

}  // namespace stave
