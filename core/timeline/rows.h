// The rows of a timeline. Times are picoseconds from the run's start and may be
// negative (a recorder's warm-up). Names are ids into the timeline's strings;
// a StringId of none means that the source does not say, as an empty optional
// or an empty string does.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/ids.h"
#include "core/base/problem.h"
#include "core/base/strings.h"
#include "core/base/units.h"
#include "core/timeline/family.h"

namespace stave {

using TrackId = Id<struct Track>;
using TimelineCommandId = Id<struct TimelineCommand>;
using StepNumber = Id<struct StepSpan>;  // the `step` of a StepSpan, not its position

// A slice's position in write order, from 1; 0 is none.
struct SliceId {
  std::uint32_t value = 0;

  constexpr explicit operator bool() const { return value != 0; }
  constexpr std::uint32_t row() const { return value - 1; }
  friend constexpr auto operator<=>(SliceId, SliceId) = default;
};

enum class TrackKind : std::uint8_t { Stream, CopyEngine, Link, Host, Range, Counter };
std::string_view name_of(TrackKind kind);
std::optional<TrackKind> track_kind_named(std::string_view name);

// A line of the timeline.
struct Track {
  std::uint32_t rank = 0;  // a link belongs to the rank that sends
  TrackKind kind = TrackKind::Stream;
  std::string name{};
  std::optional<std::int64_t> device{};
  std::optional<std::int64_t> context{};
  std::optional<std::int64_t> stream{};
  std::optional<std::int64_t> thread{};
  std::optional<std::uint32_t> peer_rank{};
  std::string unit{};  // of a counter's values: "bytes/s"
  TrackId parent{};    // an earlier track

  friend bool operator==(const Track&, const Track&) = default;
};

// What a slice is an execution of. The key is the path of DESIGN's rule 18; it
// survives edits, the position in this table does not.
struct TimelineCommand {
  std::string key{};
  std::string op{};
  Family family = Family::Other;
  std::uint32_t line = 0;  // in the schedule text, from 1; 0: none
  std::uint32_t column = 0;
  std::optional<std::int64_t> flops{};
  std::optional<std::int64_t> bytes{};
  TimelineCommandId parent{};  // an earlier command

  friend bool operator==(const TimelineCommand&, const TimelineCommand&) = default;
};

// The last element of a command's path, which labels its slices: "wgrad" or "gemm#2[s=3]".
constexpr std::string_view last_of_path(std::string_view key) { return key.substr(key.rfind('/') + 1); }

namespace slice_flags {
inline constexpr std::uint8_t clamped = 1;          // times were outside their parent or the recording
inline constexpr std::uint8_t orphan = 2;           // its launch was not recorded
inline constexpr std::uint8_t extrapolated = 4;     // the cost lies outside the machine's tables
inline constexpr std::uint8_t guessed_command = 8;  // command by name and order, not by identity
inline constexpr std::uint8_t waits = 16;           // a call of the host that only waits for a device
}  // namespace slice_flags

// One stretch of one track. Slices of a track may overlap: `lane` separates them.
struct Slice {
  Time start{};
  Picoseconds duration{};
  TrackId track{};
  StringId name{};
  TimelineCommandId command{};
  StepNumber step{};
  std::uint32_t occurrence = 0;  // counts executions of the command within a step and rank
  std::uint16_t lane = 0;
  Family family = Family::Other;
  std::uint8_t flags = 0;

  Time end() const { return start + duration; }
  friend bool operator==(const Slice&, const Slice&) = default;
};
static_assert(sizeof(Slice) == 40);

// Stored as these numbers: append, never renumber.
enum class FlowKind : std::uint8_t { Launch, Stream, Event, Host, Collective, Graph, Buffer, Room };
inline constexpr std::uint8_t flow_kind_count = 8;
std::string_view name_of(FlowKind kind);

enum class Certainty : std::uint8_t { Recorded, Inferred, Possible, Declared, Predicted };
inline constexpr std::uint8_t certainty_count = 5;
std::string_view name_of(Certainty certainty);

// `to` could not start (or end) before `from` did.
struct SliceFlow {
  SliceId from{};
  SliceId to{};
  FlowKind kind = FlowKind::Launch;
  Certainty certainty = Certainty::Recorded;

  friend bool operator==(const SliceFlow&, const SliceFlow&) = default;
};

// The value of a counter track from `time` on.
struct CounterSample {
  TrackId track{};
  Time time{};
  double value = 0;

  friend bool operator==(const CounterSample&, const CounterSample&) = default;
};

// Part of a predicted duration, e.g. residence_wait, arrival_wait, transfer.
struct CostPart {
  SliceId slice{};
  StringId part{};
  Picoseconds duration{};
  std::optional<Picoseconds> low{};
  std::optional<Picoseconds> high{};
  StringId model{};
  StringId source{};

  friend bool operator==(const CostPart&, const CostPart&) = default;
};

// How the slices of one collective on several ranks were found to belong together.
enum class MatchedBy : std::uint8_t { Ids, Order, Command };
std::string_view name_of(MatchedBy matched_by);
std::optional<MatchedBy> matched_by_named(std::string_view name);

struct CollectiveDetail {
  SliceId slice{};
  StringId communicator{};
  std::int64_t sequence = 0;  // within the communicator
  StringId op{};
  StringId dtype{};
  std::optional<std::int64_t> count{};
  std::optional<std::int64_t> bytes{};
  std::uint32_t ranks = 0;
  std::optional<Picoseconds> arrival_wait{};
  std::optional<Picoseconds> transfer{};
  StringId algorithm{};
  StringId protocol{};
  std::optional<std::uint32_t> channels{};
  MatchedBy matched_by = MatchedBy::Command;

  friend bool operator==(const CollectiveDetail&, const CollectiveDetail&) = default;
};

using LaunchDims = std::array<std::uint32_t, 3>;

struct KernelDetail {
  SliceId slice{};
  std::optional<std::int64_t> correlation{};
  std::optional<std::int64_t> graph{};
  std::optional<std::int64_t> graph_node{};
  std::optional<LaunchDims> grid{};
  std::optional<LaunchDims> block{};
  std::optional<LaunchDims> cluster{};
  std::optional<std::uint32_t> registers_per_thread{};
  std::optional<std::uint32_t> static_shared_bytes{};
  std::optional<std::uint32_t> dynamic_shared_bytes{};
  StringId demangled_name{};

  friend bool operator==(const KernelDetail&, const KernelDetail&) = default;
};

// A copy or a memset on a device; the kinds are CUPTI's numbers.
struct CopyDetail {
  SliceId slice{};
  bool memset = false;
  std::optional<std::int64_t> correlation{};
  std::optional<std::int64_t> graph_node{};
  std::optional<std::int64_t> bytes{};
  std::optional<std::uint32_t> memset_value{};
  std::optional<std::uint32_t> copy_kind{};
  std::optional<std::uint32_t> source_kind{};
  std::optional<std::uint32_t> destination_kind{};
  std::optional<std::uint32_t> source_device{};
  std::optional<std::uint32_t> destination_device{};

  friend bool operator==(const CopyDetail&, const CopyDetail&) = default;
};

// A call of an API on a host track.
struct ApiDetail {
  SliceId slice{};
  std::optional<std::int64_t> correlation{};
  std::optional<std::int64_t> return_value{};

  friend bool operator==(const ApiDetail&, const ApiDetail&) = default;
};

// What has no column: a JSON object, verbatim.
struct ArgsDetail {
  SliceId slice{};
  std::string json{};

  friend bool operator==(const ArgsDetail&, const ArgsDetail&) = default;
};

enum class StepPhase : std::uint8_t { Warmup, Timed };
std::string_view name_of(StepPhase phase);
std::optional<StepPhase> step_phase_named(std::string_view name);

// One execution of the schedule on one rank, or one iteration of a trace.
struct StepSpan {
  std::uint32_t step = 0;
  std::uint32_t rank = 0;
  StepPhase phase = StepPhase::Timed;
  std::string label{};
  Time start{};
  Time end{};
  std::optional<std::int64_t> sm_clock_hz{};
  std::optional<std::int64_t> power_mw{};
  std::optional<std::int64_t> temperature_mc{};  // thousandths of a degree Celsius

  friend bool operator==(const StepSpan&, const StepSpan&) = default;
};

// A file that a timeline was read from.
struct SourceInfo {
  std::string name{};  // without its folders
  std::string sha256{};
  std::int64_t bytes = 0;
  std::string format{};
  std::string format_version{};

  friend bool operator==(const SourceInfo&, const SourceInfo&) = default;
};

struct RankInfo {
  std::uint32_t rank = 0;
  std::string rank_from{};  // how the rank is known: "schedule", "distributedInfo", "file order"
  std::string host{};
  std::optional<std::int64_t> pid{};
  std::optional<std::int64_t> device{};
  std::string gpu{};
  std::string gpu_uuid{};
  std::optional<std::uint32_t> source{};  // position among the SourceInfos, from 0
  Picoseconds clock_offset{};             // was added to this rank's own times
  std::optional<Picoseconds> clock_error{};
  std::string clock_from{};

  friend bool operator==(const RankInfo&, const RankInfo&) = default;
};

// Something suspicious that was counted, not fatal.
struct TimelineProblem {
  Severity severity = Severity::Warning;
  std::string code{};
  std::int64_t count = 1;
  std::string message{};
  std::string file{};
  std::uint32_t line = 0;  // 0: none
  std::uint32_t column = 0;
  std::optional<std::int64_t> byte{};  // of the first occurrence

  friend bool operator==(const TimelineProblem&, const TimelineProblem&) = default;
};

}  // namespace stave
