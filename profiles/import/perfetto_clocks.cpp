#include "profiles/import/perfetto_clocks.h"

#include <algorithm>
#include <vector>

#include "profiles/import/wire_message.h"
#include "profiles/perfetto_messages.h"

namespace stave {
namespace {

namespace pb = perfetto;
using namespace wire_message;

std::int64_t saturated(std::uint64_t value) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(value, std::uint64_t{INT64_MAX}));
}

std::int64_t saturated_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? (a < 0 ? INT64_MIN : INT64_MAX) : out;
}

bool is_own(std::uint32_t clock) { return clock >= pb::first_sequence_clock && clock <= pb::last_sequence_clock; }

}  // namespace

std::optional<WideTime> PerfettoClocks::time_of(std::uint64_t timestamp, std::uint32_t clock, Table& own) {
  const bool of_sequence = is_own(clock);
  auto& clocks = of_sequence ? own : shared_;
  const auto at = clocks.find(clock);
  if (at == clocks.end()) {
    if (of_sequence) return std::nullopt;
    return WideTime{timestamp} * ps_per_ns;  // no other clock that it could be held against
  }
  Clock& found = at->second;
  WideTime ns = WideTime{timestamp} * found.unit_ns;
  if (found.incremental) {
    ns += found.last_ns;
    found.last_ns = static_cast<std::int64_t>(std::clamp<WideTime>(ns, INT64_MIN, INT64_MAX));
  }
  return (ns + found.offset_ns) * ps_per_ns;
}

void PerfettoClocks::snapshot(std::string_view bytes, Table& own) {
  struct Reading {
    std::uint32_t id = 0;
    std::int64_t ns = 0;
    Clock clock{};
  };
  std::vector<Reading> readings;
  auto in = message<pb::ClockSnapshot>(bytes);
  while (in.next(pb::ClockSnapshot::clocks, bytes_type)) {
    Reading reading;
    std::uint64_t timestamp = 0;
    pbf_message<pb::Clock> clock(in.get_message());
    while (clock.next()) {
      switch (clock.tag_and_type()) {
        case tag_and_type(pb::Clock::id, varint): reading.id = clock.get_uint32(); break;
        case tag_and_type(pb::Clock::timestamp, varint): timestamp = clock.get_uint64(); break;
        case tag_and_type(pb::Clock::incremental, varint): reading.clock.incremental = clock.get_bool(); break;
        case tag_and_type(pb::Clock::unit_ns, varint): reading.clock.unit_ns = saturated(clock.get_uint64()); break;
        default: clock.skip();
      }
    }
    if (reading.clock.unit_ns < 1 || reading.clock.unit_ns > 1'000'000'000) reading.clock.unit_ns = 1;
    const WideTime ns = WideTime{timestamp} * reading.clock.unit_ns;
    reading.ns = static_cast<std::int64_t>(std::min<WideTime>(ns, INT64_MAX));
    readings.push_back(reading);
  }
  const auto of = [&](std::uint32_t id) -> const Reading* {
    for (const Reading& reading : readings)
      if (reading.id == id) return &reading;
    return nullptr;
  };
  // The trace's clock is the one of times that name none.
  const Reading* reference = of(pb::clock_boottime);
  if (reference == nullptr) return;
  for (Reading& reading : readings) {
    reading.clock.offset_ns = saturated_sum(reference->ns, -reading.ns);
    reading.clock.last_ns = reading.ns;
    // The first snapshot counts: clocks that drift do not move what was told before.
    if (is_own(reading.id))
      own[reading.id] = reading.clock;
    else
      shared_.try_emplace(reading.id, reading.clock);
  }
  const Reading* unix = of(pb::clock_realtime);
  if (unix != nullptr && !unix_offset_ns_) unix_offset_ns_ = saturated_sum(unix->ns, -reference->ns);
}

}  // namespace stave
