#include "executor/cuda/recorder_slices.h"

#include <algorithm>
#include <tuple>

#include "core/lower/collective_contract.h"
#include "core/lower/lowering.h"
#include "core/timeline/command_family.h"

namespace stave::cuda {
namespace {

// The steps of each rank, found by time.
class Steps {
 public:
  explicit Steps(const Recorder::State& s) {
    for (const StepRecord& step : s.steps) of_rank_[step.rank].push_back(&step);
    for (auto& [rank, steps] : of_rank_)
      std::sort(steps.begin(), steps.end(),
                [](const StepRecord* a, const StepRecord* b) { return a->start < b->start; });
  }
  // Null: the time is in no step.
  const StepRecord* at(Rank rank, std::uint64_t time) const {
    const auto found = of_rank_.find(rank);
    if (found == of_rank_.end()) return nullptr;
    const auto after = std::upper_bound(found->second.begin(), found->second.end(), time,
                                        [](std::uint64_t t, const StepRecord* step) { return t < step->start; });
    if (after == found->second.begin() || (*std::prev(after))->end < time) return nullptr;
    return *std::prev(after);
  }

 private:
  std::map<Rank, std::vector<const StepRecord*>> of_rank_;
};

// Calls inside another call of the same thread are part of it. By correlation: which of `out.calls`.
std::map<std::uint32_t, std::uint32_t> add_calls(const Recorder::State& s, const Plan& plan, const RowLayout& layout,
                                                 const Strings& names, RecordedSlices& out) {
  std::map<std::uint32_t, std::uint32_t> call_of;
  const Steps steps(s);
  std::vector<const ApiRecord*> sorted;
  for (const ApiRecord& a : s.api) sorted.push_back(&a);
  std::stable_sort(sorted.begin(), sorted.end(), [](const ApiRecord* a, const ApiRecord* b) {
    return std::tuple(a->thread, a->start, UINT64_MAX - a->end) < std::tuple(b->thread, b->start, UINT64_MAX - b->end);
  });
  std::uint32_t thread = 0;
  std::uint64_t end = 0;
  for (const ApiRecord* a : sorted) {
    const auto thread_rank = s.threads.find(a->thread);
    if (thread_rank == s.threads.end()) continue;
    // One thread may serve several ranks: what it issued for a command is that rank's.
    const auto mark = s.by_correlation.find(a->correlation);
    const Rank rank = mark != s.by_correlation.end() ? mark->second.rank : thread_rank->second;
    if (rank >= plan.ranks()) continue;
    const StepRecord* step = steps.at(rank, a->start);
    if (step == nullptr) continue;
    if (a->thread != thread || a->end > end) {
      RecordedSlice m;
      m.start = a->start;
      m.end = a->end;
      m.rank = rank;
      m.api = a;
      m.from = &s;
      m.slice.track = TrackId{std::size_t{layout.first_track[rank]} + plan.of_rank(rank).program.streams.size()};
      m.slice.name = names.find(s.names[a->name]);
      m.slice.family = Family::HostApi;
      m.slice.step = StepNumber{std::size_t{step->number}};
      out.calls.push_back(m);
      thread = a->thread;
      end = a->end;
    }
    call_of[a->correlation] = static_cast<std::uint32_t>(out.calls.size() - 1);
  }
  return call_of;
}

bool by_copy_engine(const Plan& plan, const CommandMark& mark) {
  if (mark.command == whole_graph) return false;
  const CollectiveAttributes* a = attributes_of(plan.of_rank(mark.rank).expanded[CommandId{std::size_t{mark.command}}]);
  return a != nullptr && a->algorithm == Algorithm::CopyEngine;
}

// Of the records of one execution: the longest, but of a copy-engine collective a copy, not the kernels that wait.
bool says_more(const Plan& plan, const CommandMark& mark, const DeviceRecord& r, const DeviceRecord& than) {
  using Kind = DeviceRecord::Kind;
  if ((r.kind == Kind::Copy) != (than.kind == Kind::Copy) && by_copy_engine(plan, mark)) return r.kind == Kind::Copy;
  return r.end - r.start > than.end - than.start;
}

// One slice for each execution of a command, from all its records.
void add_executions(const Recorder::State& s, const Plan& plan, const std::map<std::uint32_t, std::uint32_t>& call_of,
                    RecordedSlices& out) {
  const Steps steps(s);
  std::vector<const DeviceRecord*> records;
  for (const DeviceRecord& r : s.device) records.push_back(&r);
  std::stable_sort(records.begin(), records.end(),
                   [](const DeviceRecord* a, const DeviceRecord* b) { return a->start < b->start; });
  using Key = std::tuple<Rank, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>;
  std::map<Key, RecordedSlice> made;  // rank, command, step, instance, which execution of that
  std::map<std::tuple<std::uint64_t, std::uint32_t>, std::uint64_t> ordinals;  // of a node in a step
  for (const DeviceRecord* r : records) {
    CommandMark mark;
    const bool of_node = r->graph_node != 0;
    if (of_node) {
      const auto at = s.by_node.find(r->graph_node);
      if (at == s.by_node.end()) {
        ++out.unknown;
        continue;
      }
      mark = at->second;
    } else {
      const auto at = s.by_correlation.find(r->correlation);
      if (at == s.by_correlation.end()) continue;  // memory of the driver itself
      mark = at->second;
    }
    if (mark.rank >= plan.ranks()) continue;
    if (mark.command != whole_graph && mark.command >= plan.of_rank(mark.rank).expanded.commands.size()) continue;
    if (mark.command == whole_graph && r->kind != DeviceRecord::Kind::Graph) continue;
    const StepRecord* step = steps.at(mark.rank, r->start);
    if (step == nullptr) continue;
    const std::uint64_t which = of_node ? ordinals[{r->graph_node, step->number}]++ : mark.occurrence;
    const auto [at, added] =
        made.try_emplace({mark.rank, mark.command, step->number, of_node ? mark.instance : 0, which});
    RecordedSlice& m = at->second;
    if (added || r->start < m.start) m.start = r->start;
    m.end = std::max(m.end, r->end);
    m.rank = mark.rank;
    m.command = mark.command;
    m.from = &s;
    m.slice.step = StepNumber{std::size_t{step->number}};
    if (m.record != nullptr && !says_more(plan, mark, *r, *m.record)) continue;
    m.record = r;
    const auto call = call_of.find(r->correlation);
    m.call = call == call_of.end() ? std::nullopt : std::optional(call->second);
  }
  for (auto& [key, m] : made) out.executions.push_back(m);
}

// Slices of a track that overlap stand in lanes of their own.
void set_lanes(std::vector<RecordedSlice>& slices) {
  std::map<TrackId, std::vector<std::uint64_t>> ends;  // by lane
  std::vector<RecordedSlice*> order;
  for (RecordedSlice& m : slices) order.push_back(&m);
  std::stable_sort(order.begin(), order.end(),
                   [](const RecordedSlice* a, const RecordedSlice* b) { return a->start < b->start; });
  for (RecordedSlice* m : order) {
    std::vector<std::uint64_t>& lane_ends = ends[m->slice.track];
    std::size_t lane = 0;
    while (lane < lane_ends.size() && lane_ends[lane] > m->start) ++lane;
    if (lane == lane_ends.size()) lane_ends.push_back(0);
    lane_ends[lane] = m->end;
    m->slice.lane = static_cast<std::uint16_t>(std::min<std::size_t>(lane, 65535));
  }
}

void name_executions(const Plan& plan, const RowLayout& layout, const Strings& names, RecordedSlices& out) {
  std::stable_sort(out.executions.begin(), out.executions.end(),
                   [](const RecordedSlice& a, const RecordedSlice& b) { return a.start < b.start; });
  std::map<std::tuple<TrackId, TimelineCommandId, StepNumber>, std::uint32_t> counts;
  for (RecordedSlice& m : out.executions) {
    const std::uint32_t rank_class = plan.class_of_rank[m.rank];
    StreamId stream{0};
    if (m.command == whole_graph) {
      m.slice.name = names.find("graph");
    } else {
      const Command& c = plan.classes[rank_class].expanded.commands.raw()[m.command];
      stream = layout.streams[rank_class][m.command];
      m.slice.command = TimelineCommandId{std::size_t{layout.first_command[rank_class]} + m.command};
      m.slice.name = names.find(name_of_op(c.payload));
      m.slice.family = family_of(c.payload);
    }
    m.slice.track = TrackId{std::size_t{layout.first_track[m.rank]} + stream.value};
    m.slice.occurrence = counts[{m.slice.track, m.slice.command, m.slice.step}]++;
  }
}

}  // namespace

std::string_view name_of_op(const Payload& payload) {
  return std::visit([]<class T>(const T&) { return T::info.name; }, payload);
}

RecordedSlices slices_of(States states, const Plan& plan, const RowLayout& layout, const Strings& names) {
  RecordedSlices out;
  for (const Recorder::State* const s : states) {
    const auto call_of = add_calls(*s, plan, layout, names, out);
    add_executions(*s, plan, call_of, out);
  }
  name_executions(plan, layout, names, out);
  set_lanes(out.calls);
  set_lanes(out.executions);
  return out;
}

}  // namespace stave::cuda
