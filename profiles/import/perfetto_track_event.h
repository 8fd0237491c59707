// A TrackEvent, before it is known what came before it on its track.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "profiles/import/perfetto_sequence.h"
#include "profiles/perfetto_messages.h"

namespace stave {

struct PerfettoTrackEvent {
  perfetto::EventType type = perfetto::EventType::none;
  std::optional<std::uint64_t> uuid{};  // of its track
  std::optional<double> value{};
  std::vector<std::uint64_t> extra_tracks{}, extra_double_tracks{};  // of further counters
  std::vector<double> extra_values{}, extra_double_values{};         // their values, in the same order
  PerfettoEvent event{};                                             // without track and times
};

// What the event does not say its sequence's defaults say. Throws protozero::exception.
PerfettoTrackEvent read_track_event(std::string_view bytes, const PerfettoPacket& packet);

}  // namespace stave
