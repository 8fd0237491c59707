// What was recorded, as the rows of a run file.
#include <algorithm>
#include <tuple>

#include "core/lower/cliques.h"
#include "core/lower/issue_names.h"
#include "core/lower/lowering.h"
#include "core/timeline/command_family.h"
#include "executor/cuda/mailbox.h"
#include "executor/cuda/recorder_slices.h"

namespace stave::cuda {
namespace {

constexpr std::size_t batch = 16384;

struct Gauge {
  const char *name, *unit;
  double (*value)(const ClockSample&);
};
constexpr Gauge gauges[] = {
    {"SM clock", "Hz", [](const ClockSample& s) { return s.sm_mhz * 1e6; }},
    {"memory clock", "Hz", [](const ClockSample& s) { return s.memory_mhz * 1e6; }},
    {"power", "W", [](const ClockSample& s) { return s.milliwatts * 1e-3; }},
    {"temperature", "°C", [](const ClockSample& s) { return static_cast<double>(s.celsius); }},
};

class Rows {
 public:
  Rows(States states, const Plan& plan, const std::vector<int>& devices, const std::string& gpu, TimelineSink& sink)
      : states_(states), plan_(plan), devices_(devices), gpu_(gpu), sink_(sink), cliques_(plan) {}

  Result<void> send() {
    origin_ = UINT64_MAX;
    for (const Recorder::State* const state : states_)
      for (const StepRecord& step : state->steps) origin_ = std::min(origin_, step.start);
    if (origin_ == UINT64_MAX) origin_ = 0;
    TRY_VOID(head());
    slices_ = slices_of(states_, plan_, layout_, names_);
    TRY_VOID(slices());
    TRY_VOID(counters());
    TRY_VOID(steps());
    return problems();
  }

 private:
  template <class Row, class Send>
  static Result<void> batches(const std::vector<Row>& rows, Send send) {
    for (std::size_t i = 0; i < rows.size(); i += batch)
      TRY_VOID(send(std::span<const Row>(rows).subspan(i, std::min(batch, rows.size() - i))));
    return {};
  }

  Time time_of(std::uint64_t ns) const {
    return Time{(static_cast<std::int64_t>(ns) - static_cast<std::int64_t>(origin_)) * 1000};
  }

  bool sampled(Rank rank) const {
    return std::any_of(states_.begin(), states_.end(), [&](const Recorder::State* state) {
      return std::any_of(state->samples.begin(), state->samples.end(),
                         [&](const ClockSample& s) { return s.rank == rank; });
    });
  }

  std::vector<Track> tracks() {
    std::vector<Track> tracks;
    for (Rank r = 0; r < plan_.ranks(); ++r) {
      layout_.first_track.push_back(static_cast<std::uint32_t>(tracks.size()));
      const auto add = [&](TrackKind kind, std::string name) -> Track& {
        Track& track = tracks.emplace_back();
        track.rank = r;
        track.kind = kind;
        track.name = std::move(name);
        return track;
      };
      const IssueProgram& program = plan_.of_rank(r).program;
      for (std::size_t s = 0; s < program.streams.size(); ++s) {
        Track& track = add(TrackKind::Stream, to_text(program.streams[s]));
        track.device = devices_[r];
        track.stream = static_cast<std::int64_t>(s);
      }
      add(TrackKind::Host, "host").thread = 0;
      first_gauge_.push_back(static_cast<std::uint32_t>(tracks.size()));
      if (!sampled(r)) continue;
      for (const Gauge& gauge : gauges) {
        Track& track = add(TrackKind::Counter, gauge.name);
        track.device = devices_[r];
        track.unit = gauge.unit;
      }
    }
    return tracks;
  }

  std::vector<TimelineCommand> commands() {
    std::vector<TimelineCommand> commands;
    for (const RankClass& c : plan_.classes) {
      layout_.first_command.push_back(static_cast<std::uint32_t>(commands.size()));
      layout_.streams.push_back(streams_of(c.expanded).of_command);
      for (std::size_t i = 0; i < c.expanded.commands.size(); ++i) {
        const Command& command = c.expanded.commands.raw()[i];
        const Place place = c.expanded.place(command);
        TimelineCommand row;
        row.key = c.expanded.path(CommandId{i});
        row.op = name_of_op(command.payload);
        row.family = family_of(command.payload);
        row.line = place.line;
        row.column = place.column;
        commands.push_back(std::move(row));
      }
    }
    return commands;
  }

  Result<void> head() {
    std::vector<RankInfo> ranks;
    for (Rank r = 0; r < plan_.ranks(); ++r) {
      RankInfo& info = ranks.emplace_back();
      info.rank = r;
      info.rank_from = "schedule";
      info.device = devices_[r];
      info.gpu = gpu_;
      info.clock_from = "CUPTI";
    }
    TRY_VOID(batches(ranks, [&](auto rows) { return sink_.on_ranks(rows); }));
    const std::vector<TimelineCommand> command_rows = commands();
    for (const Recorder::State* const state : states_)
      for (std::size_t i = 0; i < state->names.size(); ++i) names_.intern(state->names[StringId{i}]);
    for (const TimelineCommand& row : command_rows) names_.intern(row.op);
    for (int dtype = 0; dtype < dtype_count; ++dtype) names_.intern(name_of(static_cast<Dtype>(dtype)));
    for (const std::string_view name : {"graph", "copy_engine", "ring", "tree", "nvls"}) names_.intern(name);
    for (const RankClass& c : plan_.classes)
      for (std::size_t i = 0; i < c.expanded.commands.size(); ++i)
        if (uses_communicator(c.expanded.commands.raw()[i]))
          names_.intern(fmt::format("{}", communicator_of(c.expanded, CommandId{i})));
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < names_.size(); ++i) names.push_back(names_[StringId{i}]);
    TRY_VOID(batches(names, [&](auto rows) { return sink_.on_names(rows); }));
    TRY_VOID(batches(tracks(), [&](auto rows) { return sink_.on_tracks(rows); }));
    return batches(command_rows, [&](auto rows) { return sink_.on_commands(rows); });
  }

  KernelDetail kernel_row(SliceId id, const RecordedSlice& m) const {
    const DeviceRecord& r = *m.record;
    KernelDetail k;
    k.slice = id;
    k.correlation = r.correlation;
    if (r.graph_node != 0) {
      k.graph = r.graph;
      k.graph_node = static_cast<std::int64_t>(r.graph_node);
    }
    k.grid = r.grid;
    k.block = r.block;
    if (r.cluster[0] > 0) k.cluster = r.cluster;
    k.registers_per_thread = r.registers;
    k.static_shared_bytes = r.static_shared;
    k.dynamic_shared_bytes = r.dynamic_shared;
    k.demangled_name = names_.find(m.from->names[r.name]);
    return k;
  }

  static CopyDetail copy_row(SliceId id, const DeviceRecord& r) {
    CopyDetail c;
    c.slice = id;
    c.memset = r.kind == DeviceRecord::Kind::Memset;
    c.correlation = r.correlation;
    if (r.graph_node != 0) c.graph_node = static_cast<std::int64_t>(r.graph_node);
    c.bytes = static_cast<std::int64_t>(r.bytes);
    if (c.memset) {
      c.memset_value = r.value;
    } else {
      c.copy_kind = r.copy_kind;
      c.source_kind = r.source_kind;
      c.destination_kind = r.target_kind;
      c.source_device = r.source_device;
      c.destination_device = r.target_device;
    }
    return c;
  }

  // Sequence numbers count what a rank ran on a communicator, which is the same on all its ranks.
  std::optional<CollectiveDetail> collective_row(SliceId id, const RecordedSlice& m) {
    if (m.command == whole_graph) return std::nullopt;
    const Expanded& e = plan_.of_rank(m.rank).expanded;
    const CommandId command{std::size_t{m.command}};
    const std::vector<CollectivePart> parts = parts_of(e, command);
    if (parts.empty()) return std::nullopt;
    const Command& c = e[parts[0].command];
    const std::int32_t communicator = communicator_of(e, command);
    CollectiveDetail row;
    row.slice = id;
    row.communicator = names_.find(fmt::format("{}", communicator));
    row.sequence = sequences_[{m.rank, communicator}]++;
    row.op = m.slice.name;
    const IdRange<View> views = c.operands.empty() ? c.results : c.operands;
    if (!views.empty()) {
      const bool gathers = std::holds_alternative<AllGather>(c.payload);
      row.dtype = names_.find(name_of(e[views[0]].dtype));
      row.count = e.elements(e[views[0]]);
      row.bytes = e[gathers ? c.results[0] : views[0]].bytes;
    }
    const Cliques::Seat seat = cliques_.seat_of(m.rank, *parts[0].attributes);
    if (seat.clique) row.ranks = static_cast<std::uint32_t>(cliques_.members(seat.clique).size());
    if (parts[0].attributes->algorithm == Algorithm::CopyEngine) row.algorithm = names_.find("copy_engine");
    return row;
  }

  Result<void> slices() {
    std::vector<Slice> rows;
    std::vector<KernelDetail> kernels;
    std::vector<CopyDetail> copies;
    std::vector<ApiDetail> apis;
    std::vector<CollectiveDetail> collectives;
    std::vector<SliceFlow> flows;
    const auto add = [&](RecordedSlice& m) {
      m.slice.start = time_of(m.start);
      m.slice.duration = Picoseconds{static_cast<std::int64_t>(m.end - m.start) * 1000};
      rows.push_back(m.slice);
      return SliceId{static_cast<std::uint32_t>(rows.size())};
    };
    for (RecordedSlice& m : slices_.calls) {
      const SliceId id = add(m);
      apis.push_back({id, m.api->correlation, m.api->result});
    }
    for (RecordedSlice& m : slices_.executions) {
      const SliceId id = add(m);
      const DeviceRecord& r = *m.record;
      const bool of_graph = r.graph_node != 0 || r.kind == DeviceRecord::Kind::Graph;
      if (m.call)
        flows.push_back({SliceId{*m.call + 1}, id, of_graph ? FlowKind::Graph : FlowKind::Launch, Certainty::Recorded});
      if (r.kind == DeviceRecord::Kind::Kernel)
        kernels.push_back(kernel_row(id, m));
      else if (r.kind != DeviceRecord::Kind::Graph)
        copies.push_back(copy_row(id, r));
      if (const std::optional<CollectiveDetail> row = collective_row(id, m)) collectives.push_back(*row);
    }
    TRY_VOID(batches(rows, [&](auto part) { return sink_.on_slices(part); }));
    TRY_VOID(batches(kernels, [&](auto part) { return sink_.on_kernels(part); }));
    TRY_VOID(batches(copies, [&](auto part) { return sink_.on_copies(part); }));
    TRY_VOID(batches(apis, [&](auto part) { return sink_.on_calls(part); }));
    TRY_VOID(batches(collectives, [&](auto part) { return sink_.on_collectives(part); }));
    return batches(flows, [&](auto part) { return sink_.on_flows(part); });
  }

  Result<void> counters() {
    std::vector<CounterSample> rows;
    for (const Recorder::State* const state : states_)
      for (const ClockSample& s : state->samples)
        for (std::size_t g = 0; g < std::size(gauges) && s.rank < plan_.ranks(); ++g)
          if (gauges[g].value(s) > 0)
            rows.push_back({TrackId{first_gauge_[s.rank] + g}, time_of(s.time), gauges[g].value(s)});
    std::stable_sort(rows.begin(), rows.end(), [](const CounterSample& a, const CounterSample& b) {
      return std::tuple(a.track, a.time) < std::tuple(b.track, b.time);
    });
    return batches(rows, [&](auto part) { return sink_.on_counters(part); });
  }

  Result<void> steps() {
    std::vector<StepSpan> rows;
    for (const Recorder::State* const state : states_)
      for (const StepRecord& s : state->steps) {
        StepSpan& row = rows.emplace_back();
        row.step = s.number;
        row.rank = s.rank;
        row.phase = s.warmup ? StepPhase::Warmup : StepPhase::Timed;
        row.start = time_of(s.start);
        row.end = time_of(s.end);
      }
    std::stable_sort(rows.begin(), rows.end(), [](const StepSpan& a, const StepSpan& b) {
      return std::tuple(a.step, a.rank) < std::tuple(b.step, b.rank);
    });
    return batches(rows, [&](auto part) { return sink_.on_steps(part); });
  }

  Result<void> problems() {
    std::vector<TimelineProblem> rows;
    const auto say = [&](std::string_view code, std::uint64_t count, std::string_view message) {
      if (count == 0) return;
      TimelineProblem& p = rows.emplace_back();
      p.code = code;
      p.count = static_cast<std::int64_t>(count);
      p.message = message;
    };
    std::uint64_t dropped = 0, timeless = 0;
    for (const Recorder::State* const state : states_) {
      dropped += state->dropped;
      timeless += state->timeless;
    }
    say("STV0945", dropped, "records that CUPTI had no room for");
    say("STV0946", timeless, "device records without times");
    say("STV0947", slices_.unknown, "records of graph nodes that belong to no command");
    return batches(rows, [&](auto part) { return sink_.on_problems(part); });
  }

  States states_;
  const Plan& plan_;
  const std::vector<int>& devices_;
  const std::string& gpu_;
  TimelineSink& sink_;
  Cliques cliques_;
  std::uint64_t origin_ = 0;
  Strings names_;
  RowLayout layout_;
  std::vector<std::uint32_t> first_gauge_;  // by rank
  RecordedSlices slices_;
  std::map<std::pair<Rank, std::int32_t>, std::int64_t> sequences_;
};

}  // namespace

Result<void> send_rows(std::span<const Recorder::State* const> states, const Plan& plan,
                       const std::vector<int>& devices, const std::string& gpu, TimelineSink& sink) {
  return Rows(states, plan, devices, gpu, sink).send();
}

}  // namespace stave::cuda
