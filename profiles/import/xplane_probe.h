// The first pass over an XSpace: what its planes and lines are, whose, and what
// has to be known of each rank before the first row.
#pragma once

#include <string>
#include <vector>

#include "core/base/progress.h"
#include "profiles/import/import_ranks.h"
#include "profiles/import/launch_table.h"
#include "profiles/import/xplane_events.h"

namespace stave {

// What a line of a plane is in a timeline.
struct XplanePlace {
  enum class Kind : std::uint8_t { Stream, Steps, Range, Thread };
  Kind kind = Kind::Thread;
  std::size_t rank = 0;  // among the text's
  std::int64_t device = 0;
  std::int64_t stream = 0;
};

// A device with streams is a rank. A thread belongs to the device that it launches most to, else to the first.
struct XplaneProbe {
  std::string name{};     // of the file, without folders
  std::string display{};  // for messages
  std::uint32_t source = 0;
  std::int64_t events = 0;
  std::vector<XplanePlane> planes{};
  std::vector<std::vector<XplanePlace>> places{};  // by plane, line
  std::vector<ImportRank> ranks{};
  std::vector<bool> device_steps{};  // by rank: its steps are the device's, not the host's
  std::size_t first_rank = 0;        // of the text among those of the import
  WideTime start = 0;
  LaunchTable launches{};  // those that device work names
  std::int64_t shared_correlations = 0;

  const XplanePlace& place(const XplaneEvent& event) const { return places[event.plane][event.line]; }
};

// After the planes were read. STV0950: cancelled.
Result<void> probe_xplane(ByteSource& text, XplaneProbe& probe, Progress* progress,
                          const std::atomic<std::int64_t>* bytes_read);

}  // namespace stave
