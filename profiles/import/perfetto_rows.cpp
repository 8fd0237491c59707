#include "profiles/import/perfetto_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/import/args_text.h"
#include "profiles/import/collective_rows.h"
#include "profiles/perfetto_messages.h"

namespace stave {
namespace {

std::optional<std::int64_t> correlation_in(const ArgsFields& args) {
  const auto said = integer(args["correlation"]);
  return said ? said : integer(args["correlation_id"]);
}

}  // namespace

PerfettoRows::PerfettoRows(const PerfettoProbe& probe, std::span<const ImportRank> ranks, const ImportOptions& options,
                           RowBatches& rows, ProblemCounts& problems, ImportReport& report)
    : probe_(probe), ranks_(ranks), options_(options), rows_(rows), problems_(problems), report_(report) {}

void PerfettoRows::count(const ProblemKind& kind, const PerfettoEvent& event) {
  problems_.count(kind, {.file = probe_.display, .byte = event.byte});
}

std::optional<Time> PerfettoRows::time_of(const PerfettoEvent& event) const {
  const std::optional<Time> time = since(probe_.start, event.start);
  return time ? std::optional(*time + ranks_[probe_.places[event.track].rank].shift) : std::nullopt;
}

SliceId PerfettoRows::add(const PerfettoEvent& event, const Slice& slice) {
  const SliceId id = rows_.add(slice);
  if (options_.args && event.args.size() > 2) rows_.add(ArgsDetail{id, event.args});
  return id;
}

TrackId PerfettoRows::track(const PerfettoEvent& event, TrackKind kind, std::string_view suffix) {
  const PerfettoPlace& place = probe_.places[event.track];
  if (place.name.ends_with(suffix)) suffix = "";
  const auto [at, added] = tracks_.try_emplace({event.track, kind, std::string(suffix)});
  if (added) {
    at->second = rows_.add(Track{.rank = ranks_[place.rank].info.rank,
                                 .kind = kind,
                                 .name = place.name + std::string(suffix),
                                 .device = place.device,
                                 .stream = place.stream,
                                 .thread = place.thread,
                                 .unit = place.unit});
  }
  return at->second;
}

void PerfettoRows::take(PerfettoEvent& event) {
  if (event.track >= probe_.places.size()) return;  // written after the probe, or damaged
  if (event.category == perfetto::step_category) return;
  const std::optional<Time> time = time_of(event);
  if (!time) return count(problem_kinds::no_time, event);
  if (event.kind == PerfettoEvent::Kind::Counter) {
    if (event.value != event.value) return count(problem_kinds::bad_message, event);
    rows_.add(CounterSample{track(event, TrackKind::Counter, ""), *time, event.value});
    return;
  }
  const PerfettoPlace& place = probe_.places[event.track];
  Slice slice{.start = *time};
  if (const auto duration = lasting(event.end - event.start)) {
    slice.duration = *duration;
  } else {
    count(problem_kinds::negative_duration, event);
    slice.flags |= slice_flags::clamped;
  }
  slice.name = rows_.name(event.name.empty() ? std::string_view("unnamed") : std::string_view(event.name));
  slice.step = said_step(event);
  if (!slice.step) slice.step = step_at(ranks_[place.rank].steps, *time - ranks_[place.rank].shift);
  if (event.kind == PerfettoEvent::Kind::Instant) {
    slice.family = Family::Mark;
    slice.track = track(event, TrackKind::Range, place.kind == PerfettoPlace::Kind::Range ? "" : " ranges");
    add(event, slice);
    return;
  }
  const PerfettoClass found = classify(event, place);
  slice.family = found.family;
  if (is_gpu_work(found.kind))
    gpu_work(event, found.kind, slice);
  else
    host_work(event, found.kind, slice);
}

StreamKey PerfettoRows::stream_of(const PerfettoPlace& place) const {
  StreamKey key{.rank = ranks_[place.rank].info.rank, .device = place.device.value_or(0)};
  if (place.stream)
    key.stream = *place.stream;
  else
    key.name = place.name;
  return key;
}

void PerfettoRows::gpu_work(const PerfettoEvent& event, KinetoKind kind, Slice slice) {
  const PerfettoPlace& place = probe_.places[event.track];
  const bool kernel = kind == KinetoKind::Kernel;
  if (slice.duration.count() == 0 && (slice.flags & slice_flags::clamped) == 0)
    count(problem_kinds::zero_duration, event);
  streams_.place(stream_of(place), place.context, slice, kernel, rows_);
  if (event.flows.empty() && event.last_of_flows.empty()) {
    slice.flags |= slice_flags::orphan;
    ++report_.orphans;
    count(problem_kinds::orphan, event);
  }
  const SliceId id = add(event, slice);
  const FlowEnd end{id, slice.start, slice.end(), true, false};
  flows(event, end);
  if (probe_.waits) {
    if (event.id) stages_[*event.id] = end;
    for (const std::uint64_t wait : event.waits_for) waits_.emplace_back(wait, end);
  }
  const ArgsFields args(event.args);
  if (!kernel) {
    ++report_.copies;
    CopyDetail copy{.slice = id, .memset = kind == KinetoKind::Memset, .correlation = correlation_in(args)};
    copy.bytes = integer(args["bytes"]);
    copy.graph_node = integer(args["graph node id"]);
    if (!copy.memset) fill_copy_kinds(event.name, copy);
    rows_.add(copy);
    return;
  }
  ++report_.kernels;
  KernelDetail detail{.slice = id, .correlation = correlation_in(args)};
  detail.graph = integer(args["graph id"]);
  detail.graph_node = integer(args["graph node id"]);
  detail.grid = event.grid ? event.grid : launch_dims(args["grid"]);
  detail.block = event.workgroup ? event.workgroup : launch_dims(args["block"]);
  detail.registers_per_thread = small_integer(args["registers per thread"]);
  if (!detail.registers_per_thread) detail.registers_per_thread = small_integer(args["registers_per_thread"]);
  if (!event.demangled_name.empty()) detail.demangled_name = rows_.name(event.demangled_name);
  rows_.add(detail);
  if (slice.family != Family::Collective) return;
  const ImportRank& rank = ranks_[place.rank];
  const WideTime own = WideTime{(slice.start - rank.shift).count()} + rank.clock.start;
  std::optional<CollectiveDetail> row = collective_row(rank.clock, own, collective_in(args, event.name), rows_);
  if (!row) return;
  row->slice = id;
  rows_.add(*row);
}

void PerfettoRows::host_work(const PerfettoEvent& event, KinetoKind kind, Slice slice) {
  const PerfettoPlace& place = probe_.places[event.track];
  const bool thread = place.kind == PerfettoPlace::Kind::Thread;
  switch (kind) {
    case KinetoKind::Call:
    case KinetoKind::Host: slice.track = track(event, TrackKind::Host, ""); break;
    // A wait is a record of its own beside the call; it must not count as work.
    case KinetoKind::Sync: slice.track = track(event, TrackKind::Host, " waits"); break;
    case KinetoKind::Other:  // of a stream, but no work: a branch, a stretch where it waits
      streams_.place(stream_of(place), place.context, slice, false, rows_);
      break;
    default: slice.track = track(event, TrackKind::Range, thread ? " ranges" : ""); break;
  }
  const SliceId id = add(event, slice);
  if (kind == KinetoKind::Call) {
    ++report_.calls;
    rows_.add(ApiDetail{.slice = id, .correlation = correlation_in(ArgsFields(event.args))});
  }
  flows(event, {id, slice.start, slice.end(), false, false});
}

void PerfettoRows::flows(const PerfettoEvent& event, const FlowEnd& slice) {
  for (const bool last : {false, true}) {
    for (const std::uint64_t flow : last ? event.last_of_flows : event.flows) {
      std::vector<FlowEnd>& ends = open_flows_[flow];
      ends.push_back(slice);
      ends.back().last = last;
      // Slices come when they end: of two of a flow, the last one may come first.
      const bool terminated = std::any_of(ends.begin(), ends.end(), [](const FlowEnd& end) { return end.last; });
      if (!terminated || ends.size() < 2) continue;
      join(ends);
      open_flows_.erase(flow);
    }
  }
}

// A flow goes from each slice to the next that starts.
void PerfettoRows::join(std::vector<FlowEnd>& ends) {
  std::sort(ends.begin(), ends.end(), [](const FlowEnd& a, const FlowEnd& b) {
    return a.last != b.last ? b.last : a.start != b.start ? a.start < b.start : a.slice < b.slice;
  });
  for (std::size_t i = 1; i < ends.size(); ++i) arrow(ends[i - 1], ends[i]);
}

void PerfettoRows::arrow(const FlowEnd& from, const FlowEnd& to) {
  const FlowKind kind = !to.device ? FlowKind::Host : from.device ? FlowKind::Event : FlowKind::Launch;
  const bool possible = kind == FlowKind::Launch ? from.start <= to.start
                        : kind == FlowKind::Host ? from.end <= to.end
                                                 : from.end <= to.start;
  if (!possible) {
    ++contradicted_;
    return;
  }
  rows_.add(SliceFlow{from.slice, to.slice, kind, Certainty::Recorded});
}

void PerfettoRows::finish() {
  std::vector<std::uint64_t> left;
  for (const auto& [flow, ends] : open_flows_) left.push_back(flow);
  std::sort(left.begin(), left.end());
  for (const std::uint64_t flow : left) join(open_flows_[flow]);
  for (const auto& [id, to] : waits_) {
    const auto from = stages_.find(id);
    if (from == stages_.end())
      ++contradicted_;
    else
      arrow(from->second, to);
  }
  const ProblemCounts::At file{.file = probe_.display};
  if (contradicted_ > 0) problems_.count(problem_kinds::bad_dependency, file, contradicted_);
  streams_.finish(probe_.display, problems_, report_);
  if (report_.kernels == 0) problems_.count(problem_kinds::no_kernels, file);
}

}  // namespace stave
