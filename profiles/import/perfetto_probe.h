// The first pass over a Perfetto trace: what its tracks are, whose, and what
// has to be known of each rank before the first row.
#pragma once

#include <string>
#include <vector>

#include "core/base/progress.h"
#include "profiles/import/args_text.h"
#include "profiles/import/import_ranks.h"
#include "profiles/import/kineto_kinds.h"
#include "profiles/import/perfetto_packets.h"

namespace stave {

// What a track of the file is in a timeline.
struct PerfettoPlace {
  enum class Kind : std::uint8_t { Stream, Thread, Range, Counter };
  Kind kind = Kind::Range;
  std::size_t rank = 0;  // among the text's
  std::string name{};
  std::string unit{};
  std::optional<std::int64_t> device{};
  std::optional<std::int64_t> stream{};
  std::optional<std::int64_t> context{};
  std::optional<std::int64_t> thread{};
};

// By the category that Kineto or Stave writes, else by the place.
struct PerfettoClass {
  KinetoKind kind = KinetoKind::Other;
  Family family = Family::Other;
};
PerfettoClass classify(const PerfettoEvent& event, const PerfettoPlace& place);

// What Stave writes beside each slice; none in other files.
StepNumber said_step(const PerfettoEvent& event);

// What Stave writes of a collective, else what Kineto does.
std::optional<CollectiveArguments> collective_in(const ArgsFields& args, std::string_view kernel);

struct PerfettoProbe {
  std::string name{};     // of the file, without folders
  std::string display{};  // for messages
  std::uint32_t source = 0;
  std::int64_t events = 0;
  std::int64_t gpu_events = 0;
  bool waits = false;                   // some render stage names what it waited for
  WideTime start = 0;                   // of the first event
  std::vector<PerfettoPlace> places{};  // beside the reader's tracks
  std::vector<ImportRank> ranks{};
  std::size_t first_rank = 0;  // of the text among those of the import
};

// STV0950: cancelled.
Result<void> probe_perfetto(ByteSource& text, PerfettoProbe& probe, Progress* progress,
                            const std::atomic<std::int64_t>* bytes_read);

}  // namespace stave
