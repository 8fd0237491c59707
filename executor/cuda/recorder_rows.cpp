// CUPTI's records as rows: what a command's kernels did is one slice on the
// track of the stream that the schedule puts the command on, also where a graph
// ran it on streams of its own.
#include <algorithm>
#include <tuple>

#include "core/lower/issue_names.h"
#include "core/lower/lowering.h"
#include "core/timeline/command_family.h"
#include "executor/cuda/recorder_state.h"

namespace stave::cuda {
namespace {

constexpr std::size_t batch = 16384;

std::string_view op_of(const Payload& payload) {
  return std::visit([]<class T>(const T&) { return T::info.name; }, payload);
}

struct Made {  // a slice with what belongs to it
  Slice slice;
  std::uint64_t start = 0, end = 0;
  const DeviceRecord* record = nullptr;  // the longest of its records
  const ApiRecord* api = nullptr;
  std::uint32_t correlation = 0;
};

class Rows {
 public:
  Rows(const Recorder::State& state, const Plan& plan, const std::vector<int>& devices, const std::string& gpu,
       TimelineSink& sink)
      : s_(state), plan_(plan), devices_(devices), gpu_(gpu), sink_(sink) {}

  Result<void> send() {
    origin_ = UINT64_MAX;
    for (const StepRecord& step : s_.steps) origin_ = std::min(origin_, step.start);
    if (s_.steps.empty()) origin_ = 0;
    TRY_VOID(head());
    executions();
    calls();
    lanes();
    TRY_VOID(slices());
    return tail();
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

  Result<void> head() {
    std::vector<RankInfo> ranks;
    std::vector<Track> tracks;
    for (Rank r = 0; r < plan_.ranks(); ++r) {
      RankInfo info;
      info.rank = r;
      info.rank_from = "schedule";
      info.device = devices_[r];
      info.gpu = gpu_;
      info.clock_from = "CUPTI";
      ranks.push_back(info);
      first_track_.push_back(static_cast<std::uint32_t>(tracks.size()));
      const auto add = [&](TrackKind kind, std::string name, std::optional<std::int64_t> stream) {
        Track track;
        track.rank = r;
        track.kind = kind;
        track.name = std::move(name);
        track.device = kind == TrackKind::Stream ? std::optional<std::int64_t>(devices_[r]) : std::nullopt;
        track.stream = stream;
        if (kind == TrackKind::Host) track.thread = 0;
        tracks.push_back(std::move(track));
      };
      const IssueProgram& program = plan_.of_rank(r).program;
      for (std::size_t s = 0; s < program.streams.size(); ++s)
        add(TrackKind::Stream, to_text(program.streams[s]), static_cast<std::int64_t>(s));
      add(TrackKind::Host, "host", std::nullopt);
    }
    TRY_VOID(batches(ranks, [&](auto rows) { return sink_.on_ranks(rows); }));
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < s_.names.size(); ++i) names_.intern(s_.names[StringId{i}]);
    std::vector<TimelineCommand> commands;
    for (const RankClass& c : plan_.classes) {
      first_command_.push_back(static_cast<std::uint32_t>(commands.size()));
      streams_.push_back(streams_of(c.expanded).of_command);
      for (std::size_t i = 0; i < c.expanded.commands.size(); ++i) {
        const Command& command = c.expanded.commands.raw()[i];
        const Place place = c.expanded.place(command);
        TimelineCommand row;
        row.key = c.expanded.path(CommandId{i});
        row.op = op_of(command.payload);
        row.family = family_of(command.payload);
        row.line = place.line;
        row.column = place.column;
        names_.intern(row.op);
        commands.push_back(std::move(row));
      }
    }
    for (std::size_t i = 0; i < names_.size(); ++i) names.push_back(names_[StringId{i}]);
    TRY_VOID(batches(names, [&](auto rows) { return sink_.on_names(rows); }));
    TRY_VOID(batches(tracks, [&](auto rows) { return sink_.on_tracks(rows); }));
    return batches(commands, [&](auto rows) { return sink_.on_commands(rows); });
  }

  const StepRecord* step_at(Rank rank, std::uint64_t start) const {
    for (const StepRecord& step : s_.steps)
      if (step.rank == rank && step.start <= start && start <= step.end) return &step;
    return nullptr;
  }

  // One slice for each execution of a command, from all its records.
  void executions() {
    std::vector<const DeviceRecord*> records;
    for (const DeviceRecord& r : s_.device) records.push_back(&r);
    std::stable_sort(records.begin(), records.end(),
                     [](const DeviceRecord* a, const DeviceRecord* b) { return a->start < b->start; });
    using Key = std::tuple<Rank, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;
    std::map<Key, Made> made;  // rank, command, step, instance, which execution of that
    std::map<std::tuple<std::uint64_t, std::uint32_t>, std::uint64_t> ordinals;  // of a node in a step
    for (const DeviceRecord* r : records) {
      CommandMark mark;
      if (r->graph_node != 0) {
        const auto at = s_.by_node.find(r->graph_node);
        if (at == s_.by_node.end()) {
          ++unknown_;
          continue;
        }
        mark = at->second;
      } else {
        const auto at = s_.by_correlation.find(r->correlation);
        if (at == s_.by_correlation.end()) continue;  // memory of the driver itself
        mark = at->second;
      }
      if (mark.rank >= plan_.ranks()) continue;
      const StepRecord* step = step_at(mark.rank, r->start);
      if (step == nullptr) continue;
      const std::uint64_t which = r->graph_node != 0 ? ordinals[{r->graph_node, step->number}]++ : mark.occurrence;
      const auto [at, added] =
          made.try_emplace({mark.rank, mark.command, step->number, r->graph_node != 0 ? mark.instance : 0, which});
      Made& m = at->second;
      if (added || r->start < m.start) m.start = r->start;
      m.end = std::max(m.end, r->end);
      if (m.record == nullptr || r->end - r->start > m.record->end - m.record->start) m.record = r;
      m.correlation = r->correlation;
    }
    for (auto& [key, m] : made) {
      const auto [rank, command, step, instance, which] = key;
      const std::uint32_t rank_class = plan_.class_of_rank[rank];
      const Command& c = plan_.classes[rank_class].expanded.commands.raw()[command];
      m.slice.track = TrackId{std::size_t{first_track_[rank]} + streams_[rank_class][command].value};
      m.slice.command = TimelineCommandId{std::size_t{first_command_[rank_class]} + command};
      m.slice.name = names_.find(op_of(c.payload));
      m.slice.family = family_of(c.payload);
      m.slice.step = StepNumber{std::size_t{step}};
      made_.push_back(m);
    }
    std::stable_sort(made_.begin(), made_.end(), [](const Made& a, const Made& b) { return a.start < b.start; });
    std::map<std::tuple<TrackId, TimelineCommandId, StepNumber>, std::uint32_t> counts;
    for (Made& m : made_) m.slice.occurrence = counts[{m.slice.track, m.slice.command, m.slice.step}]++;
  }

  // Calls inside another call of the same thread are part of it.
  void calls() {
    std::vector<const ApiRecord*> sorted;
    for (const ApiRecord& a : s_.api) sorted.push_back(&a);
    std::stable_sort(sorted.begin(), sorted.end(), [](const ApiRecord* a, const ApiRecord* b) {
      return std::tuple(a->thread, a->start, UINT64_MAX - a->end) <
             std::tuple(b->thread, b->start, UINT64_MAX - b->end);
    });
    std::uint32_t thread = 0;
    std::uint64_t end = 0;
    for (const ApiRecord* a : sorted) {
      const auto thread_rank = s_.threads.find(a->thread);
      if (thread_rank == s_.threads.end()) continue;
      // One thread may serve several ranks: what it issued for a command is that rank's.
      const auto mark = s_.by_correlation.find(a->correlation);
      const Rank rank = mark != s_.by_correlation.end() ? mark->second.rank : thread_rank->second;
      if (rank >= plan_.ranks()) continue;
      const StepRecord* step = step_at(rank, a->start);
      if (step == nullptr) continue;
      const bool inside = a->thread == thread && a->end <= end && !calls_.empty();
      if (!inside) {
        Made m;
        m.start = a->start;
        m.end = a->end;
        m.api = a;
        m.slice.track = TrackId{std::size_t{first_track_[rank]} + plan_.of_rank(rank).program.streams.size()};
        m.slice.name = a->name;
        m.slice.family = Family::HostApi;
        m.slice.step = StepNumber{std::size_t{step->number}};
        calls_.push_back(m);
        thread = a->thread;
        end = a->end;
      }
      call_of_[a->correlation] = calls_.size() - 1;
    }
  }

  // Slices of a track that overlap stand in lanes of their own.
  void lanes() {
    for (std::vector<Made>* list : {&made_, &calls_}) {
      std::map<TrackId, std::vector<std::uint64_t>> ends;  // by lane
      std::vector<Made*> order;
      for (Made& m : *list) order.push_back(&m);
      std::stable_sort(order.begin(), order.end(), [](const Made* a, const Made* b) { return a->start < b->start; });
      for (Made* m : order) {
        std::vector<std::uint64_t>& lane_ends = ends[m->slice.track];
        std::size_t lane = 0;
        while (lane < lane_ends.size() && lane_ends[lane] > m->start) ++lane;
        if (lane == lane_ends.size()) lane_ends.push_back(0);
        lane_ends[lane] = m->end;
        m->slice.lane = static_cast<std::uint16_t>(std::min<std::size_t>(lane, 65535));
      }
    }
  }

  Result<void> slices() {
    std::vector<Slice> rows;
    std::vector<KernelDetail> kernels;
    std::vector<CopyDetail> copies;
    std::vector<ApiDetail> apis;
    std::vector<SliceFlow> flows;
    const auto add = [&](Made& m) {
      m.slice.start = time_of(m.start);
      m.slice.duration = Picoseconds{static_cast<std::int64_t>(m.end - m.start) * 1000};
      rows.push_back(m.slice);
      return SliceId{static_cast<std::uint32_t>(rows.size())};
    };
    for (Made& m : calls_) {
      const SliceId id = add(m);
      apis.push_back({id, m.api->correlation, m.api->result});
    }
    for (Made& m : made_) {
      const SliceId id = add(m);
      const DeviceRecord& r = *m.record;
      if (const auto from = call_of_.find(r.correlation); from != call_of_.end())
        flows.push_back({SliceId{static_cast<std::uint32_t>(from->second + 1)}, id,
                         r.graph_node != 0 ? FlowKind::Graph : FlowKind::Launch, Certainty::Recorded});
      if (r.kind == DeviceRecord::Kind::Kernel) {
        KernelDetail k;
        k.slice = id;
        k.correlation = r.correlation;
        if (r.graph_node != 0) k.graph = r.graph, k.graph_node = static_cast<std::int64_t>(r.graph_node);
        k.grid = r.grid;
        k.block = r.block;
        if (r.cluster[0] > 0) k.cluster = r.cluster;
        k.registers_per_thread = r.registers;
        k.static_shared_bytes = r.static_shared;
        k.dynamic_shared_bytes = r.dynamic_shared;
        k.demangled_name = r.name;
        kernels.push_back(k);
      } else {
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
        copies.push_back(c);
      }
    }
    TRY_VOID(batches(rows, [&](auto part) { return sink_.on_slices(part); }));
    TRY_VOID(batches(kernels, [&](auto part) { return sink_.on_kernels(part); }));
    TRY_VOID(batches(copies, [&](auto part) { return sink_.on_copies(part); }));
    TRY_VOID(batches(apis, [&](auto part) { return sink_.on_calls(part); }));
    return batches(flows, [&](auto part) { return sink_.on_flows(part); });
  }

  Result<void> tail() {
    std::vector<StepSpan> steps;
    for (const StepRecord& s : s_.steps) {
      StepSpan row;
      row.step = s.number;
      row.rank = s.rank;
      row.phase = s.warmup ? StepPhase::Warmup : StepPhase::Timed;
      row.start = time_of(s.start);
      row.end = time_of(s.end);
      steps.push_back(row);
    }
    std::stable_sort(steps.begin(), steps.end(), [](const StepSpan& a, const StepSpan& b) {
      return std::tuple(a.step, a.rank) < std::tuple(b.step, b.rank);
    });
    TRY_VOID(batches(steps, [&](auto part) { return sink_.on_steps(part); }));
    std::vector<TimelineProblem> problems;
    const auto say = [&](std::string_view code, std::uint64_t count, std::string_view message) {
      if (count == 0) return;
      TimelineProblem p;
      p.code = code;
      p.count = static_cast<std::int64_t>(count);
      p.message = message;
      problems.push_back(std::move(p));
    };
    say("STV0945", s_.dropped, "records that CUPTI had no room for");
    say("STV0946", s_.timeless, "device records without times");
    say("STV0947", unknown_, "records of graph nodes that belong to no command");
    return batches(problems, [&](auto part) { return sink_.on_problems(part); });
  }

  const Recorder::State& s_;
  const Plan& plan_;
  const std::vector<int>& devices_;
  const std::string& gpu_;
  TimelineSink& sink_;
  std::uint64_t origin_ = 0;
  Strings names_;
  std::vector<std::uint32_t> first_track_, first_command_;
  std::vector<std::vector<StreamId>> streams_;  // by class, then command
  std::vector<Made> made_, calls_;
  std::map<std::uint32_t, std::size_t> call_of_;  // by correlation: position in calls_
  std::uint64_t unknown_ = 0;
};

}  // namespace

Result<void> send_rows(const Recorder::State& state, const Plan& plan, const std::vector<int>& devices,
                       const std::string& gpu, TimelineSink& sink) {
  return Rows(state, plan, devices, gpu, sink).send();
}

}  // namespace stave::cuda
