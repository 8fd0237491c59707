// The events of a Perfetto trace, one after the other, with what its packets
// leave to their sequence: names, defaults, clocks, and which begin an end is of.
#pragma once

#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/import/perfetto_sequence.h"
#include "profiles/import/perfetto_stages.h"
#include "profiles/import/perfetto_track_event.h"

namespace stave {

class PerfettoPackets {
 public:
  // What is null is not told.
  PerfettoPackets(ByteSource& source, std::string_view file, ProblemCounts* problems);

  // The next event: a slice when its end comes. False: there is none.
  Result<bool> next(PerfettoEvent& event);

  // Grow while events come; complete behind the last one, in an equal order each time.
  const PerfettoTracks& tracks() const { return tracks_; }
  std::optional<std::int64_t> unix_offset_ns() const { return clocks_.unix_offset_ns(); }

 private:
  struct Parts;
  void packet(std::string_view bytes, std::int64_t byte, int depth);
  void packet_of(const Parts& parts, PerfettoPacket& packet, int depth);
  void compressed(std::string_view bytes, std::int64_t byte, int depth);
  void track_event(std::string_view bytes, const PerfettoPacket& packet);
  void end(const PerfettoEvent& event, const PerfettoPacket& packet);
  void counters(const PerfettoPacket& packet, const std::vector<std::uint64_t>& tracks,
                const std::vector<double>& values);
  void counter(const PerfettoPacket& packet, std::size_t track, double value);

  WireStream stream_;
  std::unordered_map<std::uint32_t, PerfettoSequence> sequences_;
  PerfettoClocks clocks_;
  PerfettoTracks tracks_;
  PerfettoStages stages_;
  std::unordered_map<std::size_t, std::vector<PerfettoEvent>> open_;  // by track
  std::deque<PerfettoEvent> ready_;
};

}  // namespace stave
