// The clocks of a Perfetto trace, against the one that times name which name none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>

#include "profiles/import/json_text.h"

namespace stave {

class PerfettoClocks {
 public:
  struct Clock {
    std::int64_t offset_ns = 0;  // to the trace's clock
    std::int64_t last_ns = 0;
    std::int64_t unit_ns = 1;
    bool incremental = false;
  };
  using Table = std::map<std::uint32_t, Clock>;

  // `own`: those of the packet's sequence. None: a clock of the sequence that no snapshot explained.
  std::optional<WideTime> time_of(std::uint64_t timestamp, std::uint32_t clock, Table& own);
  // A ClockSnapshot. Throws protozero::exception.
  void snapshot(std::string_view bytes, Table& own);
  // What to add to the trace's clock for nanoseconds since 1970.
  std::optional<std::int64_t> unix_offset_ns() const { return unix_offset_ns_; }

 private:
  Table shared_;  // of all sequences
  std::optional<std::int64_t> unix_offset_ns_{};
};

}  // namespace stave
