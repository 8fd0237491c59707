// The first pass over a Kineto or Chrome trace: what has to be known before its
// first row can be written, as the rank, the time that is 0, and which calls
// launched something.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "profiles/import/collective_match.h"
#include "profiles/import/host_waits.h"
#include "profiles/import/import_ranks.h"
#include "profiles/import/json_events.h"
#include "profiles/import/launch_table.h"
#include "profiles/import/rank_numbers.h"

namespace stave {

// One text of one rank. Times count from `start`, the rank's first event.
struct KinetoProbe {
  std::string name;     // of the file, without folders
  std::string display;  // for messages
  std::uint32_t source = 0;
  std::int64_t events = 0;
  std::int64_t gpu_events = 0;
  std::int64_t sync_events = 0;  // waits whose event or stream is known
  WideTime start = 0;            // in the text's own clock, with baseTimeNanoseconds added
  WideTime base = 0;             // baseTimeNanoseconds
  std::optional<std::uint32_t> said_rank{};
  std::optional<std::uint32_t> world_size{};
  std::optional<std::int64_t> device{};  // of the first GPU record
  std::string gpu{};
  std::string schema_version{};
  LaunchTable launches{};
  HostWaits host_waits{};
  std::int64_t shared_correlations = 0;
  std::vector<ProbedStep> steps{};                                            // by start
  std::map<std::pair<std::string, std::string>, std::string> thread_names{};  // by pid, tid
  std::map<std::string, std::string> process_names{};
  Collectives collectives{};  // times in the text's own clock

  // The time of an event from `start`; none: it has none, or one of another age.
  std::optional<Time> time_of(const JsonValue& text) const;
  StepNumber step_at(Time time) const;
};

// Also on an error `probe` holds what was read before it. STV0950: cancelled.
Result<void> probe_kineto(ByteSource& text, std::string_view display, KinetoProbe& probe, Progress* progress,
                          const std::atomic<std::int64_t>* bytes_read);

// Hands a progress line the bytes of the files that were read. STV0950: cancelled.
Result<void> show_progress(Progress* progress, const std::atomic<std::int64_t>* bytes_read);

}  // namespace stave
