// Edges that a trace does not store but that its rows imply: which device work
// a wait for an event waited for. The rules, and that they are rules and not
// records, stand in docs/import.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/timeline/rows.h"
#include "profiles/import/problem_counts.h"

namespace stave {

// Device work, with the time at which the host issued it.
struct IssuedWork {
  TrackId track{};
  SliceId slice{};
  Time start{};
  Time end{};
  Time issued{};
};

// A wait for all that was issued to a stream up to a time.
struct IssuedWait {
  TrackId recorded_on{};  // the stream that is waited for
  Time recorded{};        // when the host recorded the event, or began to wait for the stream
  TrackId waiting{};      // the stream that waits; none: the host does
  Time waited{};          // when the host told the stream to wait
  SliceId call{};         // of the host
  Time call_end{};        // until when the host waited
  Certainty certainty = Certainty::Inferred;
};

struct EventFlows {
  std::vector<SliceFlow> flows{};
  // Waits that the times rule out: of streams for events, of the host for either.
  std::int64_t contradicted_streams = 0;
  std::int64_t contradicted_host = 0;
};

// From the last work issued to `recorded_on` before `recorded`, to the first
// issued to `waiting` after `waited`, or to the end of the host's call. What
// would make an effect come before its cause is counted, not kept; of the host's
// waits only what no skew of two clocks explains.
EventFlows event_flows(const std::vector<IssuedWork>& work, const std::vector<IssuedWait>& waits);
void count_contradicted(const EventFlows& found, std::string_view file, ProblemCounts& problems);

}  // namespace stave
