#include "core/timeline/family.h"

#include <iterator>

#include "core/timeline/rows.h"
#include "core/timeline/run_info.h"

namespace stave {
namespace {

constexpr std::string_view families[] = {"other",      "host",    "host_api", "compute", "gemm", "memory",
                                         "collective", "control", "stream",   "mark",    "idle"};
constexpr std::string_view track_kinds[] = {"stream", "copy_engine", "link", "host", "range", "counter"};
constexpr std::string_view flow_kinds[] = {"launch",     "stream", "event",  "host",
                                           "collective", "graph",  "buffer", "room"};
constexpr std::string_view certainties[] = {"recorded", "inferred", "possible", "declared", "predicted"};
constexpr std::string_view matches[] = {"ids", "order", "command"};
constexpr std::string_view phases[] = {"warmup", "timed"};
constexpr std::string_view run_kinds[] = {"measured", "predicted", "imported"};
static_assert(std::size(families) == family_count);
static_assert(std::size(flow_kinds) == flow_kind_count);
static_assert(std::size(certainties) == certainty_count);

template <class Enum, std::size_t n>
std::string_view name_in(const std::string_view (&names)[n], Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < n ? names[index] : "unknown";
}

template <class Enum, std::size_t n>
std::optional<Enum> find_in(const std::string_view (&names)[n], std::string_view name) {
  for (std::size_t i = 0; i < n; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Family family) { return name_in(families, family); }
std::string_view name_of(TrackKind kind) { return name_in(track_kinds, kind); }
std::string_view name_of(FlowKind kind) { return name_in(flow_kinds, kind); }
std::string_view name_of(Certainty certainty) { return name_in(certainties, certainty); }
std::string_view name_of(MatchedBy matched_by) { return name_in(matches, matched_by); }
std::string_view name_of(RunKind kind) { return name_in(run_kinds, kind); }
std::string_view name_of(StepPhase phase) { return name_in(phases, phase); }

std::optional<Family> family_named(std::string_view name) { return find_in<Family>(families, name); }
std::optional<TrackKind> track_kind_named(std::string_view name) { return find_in<TrackKind>(track_kinds, name); }
std::optional<MatchedBy> matched_by_named(std::string_view name) { return find_in<MatchedBy>(matches, name); }
std::optional<RunKind> run_kind_named(std::string_view name) { return find_in<RunKind>(run_kinds, name); }
std::optional<StepPhase> step_phase_named(std::string_view name) { return find_in<StepPhase>(phases, name); }

}  // namespace stave
