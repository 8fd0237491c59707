// Render stages of GPUs: what ran on which queue.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/perfetto_sequence.h"

namespace stave {

class PerfettoStages {
 public:
  // A GpuRenderStageEvent. None: it only names queues and stages, or has no
  // time, which is counted. Throws protozero::exception.
  std::optional<PerfettoEvent> read(std::string_view bytes, const PerfettoPacket& packet, PerfettoTracks& tracks);

 private:
  struct Fields;
  void read_fields(std::string_view bytes, const PerfettoPacket& packet, Fields& fields);
  void specify(std::string_view specifications);

  std::vector<std::string> queue_names_, stage_names_;  // of an older way to write render stages
};

}  // namespace stave
