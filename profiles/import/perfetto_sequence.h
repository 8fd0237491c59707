// What the packets of a sequence leave to those behind them: texts by number,
// defaults, clocks of their own.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/import/perfetto_clocks.h"
#include "profiles/import/perfetto_tracks.h"
#include "profiles/import/wire_stream.h"

namespace stave {

struct PerfettoSequence {
  using Texts = std::unordered_map<std::uint64_t, std::string>;
  struct Defaults {
    std::optional<std::uint64_t> track{};
    std::uint32_t clock = 0;  // 0: none
    std::vector<std::uint64_t> extra_tracks{};
    std::vector<std::uint64_t> extra_double_tracks{};
  };

  Texts categories{}, names{}, annotations{}, strings{}, specifications{}, kernels{}, demangled{}, arg_names{};
  PerfettoClocks::Table clocks{};
  std::map<std::size_t, WideTime> counted{};  // of incremental counters, by track
  std::optional<std::size_t> own_track{};     // of a thread that only a packet describes
  Defaults defaults{};

  // SEQ_INCREMENTAL_STATE_CLEARED.
  void clear();
  // InternedData; contexts are known to all sequences. Throws protozero::exception.
  void intern(std::string_view bytes, PerfettoTracks& tracks);
  // TracePacketDefaults. Throws protozero::exception.
  void set_defaults(std::string_view bytes);
};

// The packet that a message stands in.
struct PerfettoPacket {
  std::int64_t byte;
  PerfettoSequence& sequence;
  WireStream& stream;  // which counts problems
  std::optional<WideTime> time{};

  void count(const ProblemKind& kind) const { stream.count(kind, byte); }
  // The text of a number; one that is not there is counted, and is "#7".
  std::string text(const PerfettoSequence::Texts& texts, std::uint64_t iid) const;
};

}  // namespace stave
