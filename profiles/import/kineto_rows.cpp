#include "profiles/import/kineto_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace stave {
namespace {

constexpr std::int64_t no_stream = -1;

std::optional<LaunchDims> dims(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::Array) return std::nullopt;
  LaunchDims out{};
  std::size_t i = 0;
  std::string_view text = value.text.substr(1);
  while (i < out.size()) {
    const std::size_t end = text.find_first_of(",]");
    if (end == std::string_view::npos) return std::nullopt;
    std::string_view number = text.substr(0, end);
    while (!number.empty() && number[0] == ' ') number.remove_prefix(1);
    const auto n = integer({JsonValue::Kind::Number, false, number});
    if (!n || *n < 0 || *n > UINT32_MAX) return std::nullopt;
    out[i++] = static_cast<std::uint32_t>(*n);
    text.remove_prefix(end + 1);
  }
  return out;
}

std::optional<std::uint32_t> small(const JsonValue& value) {
  const auto n = integer(value);
  if (!n || *n < 0 || *n > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*n);
}

}  // namespace

KinetoRows::KinetoRows(KinetoProbe& probe, const RankClock& clock, std::uint32_t rank, Time shift,
                       const ImportOptions& options, RowBatches& rows, ProblemCounts& problems, ImportReport& report)
    : probe_(probe),
      clock_(clock),
      rank_(rank),
      shift_(shift),
      options_(options),
      rows_(rows),
      problems_(problems),
      report_(report) {}

void KinetoRows::count(const ProblemKind& kind, const TraceEvent& event) {
  problems_.count(kind, {.file = probe_.display, .byte = event.byte});
}

StringId KinetoRows::name_of(const TraceEvent& event) {
  return rows_.name(plain_text(event.name, event.odd, storage_));
}

void KinetoRows::add_args(const TraceEvent& event, SliceId slice) {
  if (!options_.args || event.args.text.size() <= 2) return;
  rows_.add(ArgsDetail{
      slice, (event.odd & json_odd::any) != 0 ? cleaned_json(event.args.text) : std::string(event.args.text)});
}

SliceId KinetoRows::add(const TraceEvent& event, const Slice& slice) {
  const SliceId id = rows_.add(slice);
  add_args(event, id);
  return id;
}

void KinetoRows::take(const TraceEvent& event) {
  switch (event.phase) {
    case 'X': return complete(event);
    case 'B': return begin(event);
    case 'E': return end(event);
    case 'C': return counter(event);
    case 'i':
    case 'I':
    case 'R': return instant(event);
    case 'M': return;
    case 's':
    case 't':
    case 'f':
      // Launches are joined by correlation id, which says the same.
      if (event.category.text != "ac2g" && !event.category.text.starts_with("async"))
        ++not_read_[fmt::format("arrows of category {}", plain_text(event.category, event.odd, storage_))];
      return;
    case 0: return count(problem_kinds::bad_event, event);
    default: ++not_read_[fmt::format("events of phase {}", event.phase > ' ' ? event.phase : '?')];
  }
}

void KinetoRows::complete(const TraceEvent& event) {
  const std::optional<Time> time = probe_.time_of(event.time);
  const std::optional<WideTime> duration = microseconds(event.duration);
  if (!time || (event.duration && !duration)) return count(problem_kinds::no_time, event);
  Slice slice;
  slice.start = *time + shift_;
  // An unsigned difference that wrapped is 584,942 years long.
  const WideTime lasts = duration.value_or(0);
  if (lasts < 0 || lasts > most_apart) {
    count(problem_kinds::negative_duration, event);
    slice.flags |= slice_flags::clamped;
  } else {
    slice.duration = Picoseconds{static_cast<std::int64_t>(lasts)};
  }
  slice.name = name_of(event);
  const KinetoKind kind = kineto_kind(event.category.text);
  if (is_gpu_work(kind)) return gpu_work(event, kind, slice);
  slice.step = probe_.step_at(*time);
  switch (kind) {
    case KinetoKind::Call: return call(event, slice);
    case KinetoKind::Sync: return sync(event, slice);
    case KinetoKind::Range:
      slice.track = host_track(event, TrackKind::Range, " ranges");
      slice.family = Family::Mark;
      break;
    case KinetoKind::GpuRange:
      slice.track = stream_side_track(event, TrackKind::Range, "ranges");
      slice.family = Family::Mark;
      break;
    case KinetoKind::Host:
      slice.track = host_track(event, TrackKind::Host);
      slice.family = Family::Host;
      break;
    default:
      slice.track = host_track(event, TrackKind::Host);
      slice.family = Family::Other;
      break;
  }
  add(event, slice);
}

KinetoRows::StreamRows& KinetoRows::stream(const TraceEvent& event) {
  auto device = integer(event.argument("device"));
  if (!device) device = trailing_number(event.pid);
  auto number = integer(event.argument("stream"));
  if (!number) number = trailing_number(event.tid);
  const auto [at, added] = streams_.try_emplace({device.value_or(0), number.value_or(no_stream)});
  if (added)
    at->second.track = rows_.add(Track{.rank = rank_,
                                       .kind = TrackKind::Stream,
                                       .name = fmt::format("GPU {} stream {}", at->first.first, at->first.second),
                                       .device = at->first.first,
                                       .context = integer(event.argument("context")),
                                       .stream = at->first.second});
  return at->second;
}

void KinetoRows::gpu_work(const TraceEvent& event, KinetoKind kind, Slice slice) {
  const std::string_view name = plain_text(event.name, event.odd, storage_);
  const bool kernel = kind == KinetoKind::Kernel;
  slice.family = kernel ? kernel_family(name) : Family::Memory;
  if (slice.duration.count() == 0 && (slice.flags & slice_flags::clamped) == 0)
    count(problem_kinds::zero_duration, event);
  StreamRows& on = stream(event);
  slice.track = on.track;
  slice.lane = on.lanes.place(slice.start, slice.duration, kernel);

  const std::optional<std::int64_t> correlation = integer(event.argument("correlation"));
  LaunchCall* launch = correlation ? probe_.launch(*correlation) : nullptr;
  if (launch == nullptr) {
    slice.flags |= slice_flags::orphan;
    ++report_.orphans;
    count(problem_kinds::orphan, event);
  } else if (launch->start + shift_ > slice.start) {
    count(problem_kinds::before_launch, event);
  }
  slice.step = probe_.step_at(launch != nullptr ? launch->start : slice.start - shift_);
  const SliceId id = add(event, slice);
  if (launch != nullptr) {
    if (launch->slice)
      rows_.add(SliceFlow{launch->slice, id, FlowKind::Launch, Certainty::Recorded});
    else
      pending_.push_back({*correlation, id});
    if (probe_.sync_events > 0) issued_.push_back({slice.track, id, slice.start, slice.end(), launch->start});
  }
  if (!kernel) {
    ++report_.copies;
    CopyDetail copy{.slice = id, .memset = kind == KinetoKind::Memset, .correlation = correlation};
    copy.graph_node = integer(event.argument("graph node id"));
    copy.bytes = integer(event.argument("bytes"));
    if (!copy.memset) fill_copy_kinds(name, copy);
    rows_.add(copy);
    return;
  }
  ++report_.kernels;
  KernelDetail detail{.slice = id, .correlation = correlation};
  detail.graph = integer(event.argument("graph id"));
  detail.graph_node = integer(event.argument("graph node id"));
  detail.grid = dims(event.argument("grid"));
  detail.block = dims(event.argument("block"));
  detail.registers_per_thread = small(event.argument("registers per thread"));
  rows_.add(detail);
  if (slice.family == Family::Collective) collective(event, name, id, slice.start);
}

void KinetoRows::collective(const TraceEvent& event, std::string_view name, SliceId slice, Time start) {
  const std::optional<CollectiveArguments> said = collective_arguments(event, name);
  const WideTime own_start = WideTime{(start - shift_).count()} + probe_.start;
  const auto at = std::lower_bound(clock_.collectives.begin(), clock_.collectives.end(), own_start,
                                   [](const CollectiveSpan& span, WideTime start) { return span.start < start; });
  const CollectiveSpan* found = nullptr;
  for (auto span = at; span != clock_.collectives.end() && span->start == own_start; ++span)
    if (span->said == said.has_value() && (!said || span->communicator == said->communicator)) found = &*span;
  if (found == nullptr || (!said && !found->matched)) return;
  CollectiveDetail detail{.slice = slice};
  detail.communicator = rows_.name(said ? std::string_view(said->communicator) : "unnamed");
  detail.sequence = found->sequence;
  detail.op = rows_.name(found->op.empty() ? std::string_view("collective") : std::string_view(found->op));
  if (said) {
    if (!said->dtype.empty()) detail.dtype = rows_.name(said->dtype);
    detail.count = said->count;
    detail.bytes = said->bytes;
    detail.ranks = said->ranks;
  }
  detail.arrival_wait = found->arrival_wait;
  detail.transfer = found->transfer;
  detail.matched_by = found->matched_by;
  rows_.add(detail);
}

void KinetoRows::call(const TraceEvent& event, Slice slice) {
  slice.track = host_track(event, TrackKind::Host);
  slice.family = Family::HostApi;
  const SliceId id = add(event, slice);
  ++report_.calls;
  const std::optional<std::int64_t> correlation = integer(event.argument("correlation"));
  rows_.add(ApiDetail{.slice = id, .correlation = correlation});
  if (!correlation) return;
  LaunchCall* launch = probe_.launch(*correlation);
  if (launch != nullptr && launch->start + shift_ == slice.start) launch->slice = id;
}

// A wait is a record of its own beside the call; it must not count as work of
// the stream, so it gets a host's track.
void KinetoRows::sync(const TraceEvent& event, Slice slice) {
  slice.track = stream_side_track(event, TrackKind::Host, "waits");
  slice.family = Family::Stream;
  add(event, slice);
  if (probe_.sync_events == 0 || event.category.text != "cuda_sync") return;
  const auto number = [&](std::string_view key) { return integer(event.argument(key)).value_or(-1); };
  const std::int64_t device = integer(event.argument("device")).value_or(0);
  const std::string_view what = event.name.text;
  RawWait wait{
      .record = number("wait_on_cuda_event_record_corr_id"), .call = number("correlation"), .end = slice.end()};
  wait.recorded_on = {device, number("wait_on_stream")};
  wait.waiting = {device, number("stream")};
  wait.stream_waits = what == "Stream Wait Event";
  if (what == "Stream Sync") {
    wait.recorded_on = wait.waiting;
    wait.record = wait.call;
  } else if (what != "Stream Wait Event" && what != "Event Sync") {
    return;
  }
  if (wait.record > 0 && wait.recorded_on.second >= 0) waits_.push_back(wait);
}

TrackId KinetoRows::host_track(const TraceEvent& event, TrackKind kind, std::string_view suffix) {
  if (kind == TrackKind::Host && last_host_ && last_pid_ == event.pid.text && last_tid_ == event.tid.text)
    return last_host_;
  const std::string pid(event.pid.text), tid(event.tid.text);
  const auto [at, added] = tracks_.try_emplace({pid, tid, kind, std::string(suffix)});
  if (added) {
    const auto known = probe_.thread_names.find({pid, tid});
    const std::optional<std::int64_t> thread = integer(event.tid);
    std::string name = known != probe_.thread_names.end() && !known->second.empty() ? known->second
                       : thread                                                     ? fmt::format("thread {}", *thread)
                       : tid.empty() ? std::string("process ") + unescaped(pid)
                                     : unescaped(tid);
    at->second = rows_.add(Track{.rank = rank_, .kind = kind, .name = name.append(suffix), .thread = thread});
  }
  if (kind == TrackKind::Host) {
    last_pid_ = pid;
    last_tid_ = tid;
    last_host_ = at->second;
  }
  return at->second;
}

TrackId KinetoRows::stream_side_track(const TraceEvent& event, TrackKind kind, std::string_view suffix) {
  const std::string pid(event.pid.text), tid(event.tid.text);
  const auto [at, added] = tracks_.try_emplace({pid, tid, kind, std::string(suffix)});
  if (added) {
    auto device = integer(event.argument("device"));
    if (!device) device = trailing_number(event.pid);
    // Newer recorders put waits beside the stream, at 1,000,000 more.
    auto number = trailing_number(event.tid);
    if (const auto said = integer(event.argument("stream"))) number = said;
    const bool all = !number || *number < 0;
    at->second = rows_.add(Track{.rank = rank_,
                                 .kind = kind,
                                 .name = all ? fmt::format("GPU {} {}", device.value_or(0), suffix)
                                             : fmt::format("GPU {} stream {} {}", device.value_or(0), *number, suffix),
                                 .device = device,
                                 .stream = all ? std::nullopt : number});
  }
  return at->second;
}

TrackId KinetoRows::counter_track(const std::string& name, std::string_view unit, std::optional<std::int64_t> device) {
  const auto [at, added] = counters_.try_emplace(name);
  if (added)
    at->second = rows_.add(
        Track{.rank = rank_, .kind = TrackKind::Counter, .name = name, .device = device, .unit = std::string(unit)});
  return at->second;
}

void KinetoRows::instant(const TraceEvent& event) {
  const std::optional<Time> time = probe_.time_of(event.time);
  if (!time) return count(problem_kinds::no_time, event);
  if (event.name.text == "[memory]") {
    // Device types as in c10: 0 CPU, 1 CUDA, 20 HIP.
    const bool cpu = integer(event.argument("Device Type")).value_or(0) == 0;
    const std::int64_t device = integer(event.argument("Device Id")).value_or(0);
    const std::string on = cpu ? "CPU" : fmt::format("GPU {}", device);
    for (const auto& [key, what] : {std::pair{"Total Allocated", "allocated"}, {"Total Reserved", "reserved"}}) {
      const std::optional<double> value = real(event.argument(key));
      if (!value) continue;
      const TrackId track =
          counter_track(fmt::format("{} memory {}", on, what), "bytes", cpu ? std::nullopt : std::optional(device));
      const auto [last, first] = last_value_.try_emplace(track, *value);
      if (!first && last->second == *value) continue;
      last->second = *value;
      rows_.add(CounterSample{track, *time + shift_, *value});
    }
    return;
  }
  Slice slice{.start = *time + shift_, .name = name_of(event), .step = probe_.step_at(*time), .family = Family::Mark};
  slice.track = host_track(event, TrackKind::Range, " ranges");
  add(event, slice);
}

void KinetoRows::counter(const TraceEvent& event) {
  const std::optional<Time> time = probe_.time_of(event.time);
  if (!time) return count(problem_kinds::no_time, event);
  const std::string name(plain_text(event.name, event.odd, storage_));
  const auto process = probe_.process_names.find(std::string(event.pid.text));
  const std::string of = process == probe_.process_names.end() ? "" : process->second + " ";
  for (const JsonField& field : event.arguments) {
    const std::optional<double> value = real(field.value);
    if (!value) continue;
    const std::string key = unescaped(field.key);
    rows_.add(CounterSample{counter_track(of + name + (key.empty() || key == name ? "" : " " + key), "", {}),
                            *time + shift_, *value});
  }
}

void KinetoRows::begin(const TraceEvent& event) {
  const std::optional<Time> time = probe_.time_of(event.time);
  if (!time) return count(problem_kinds::no_time, event);
  std::vector<OpenRange>& open = open_[{std::string(event.pid.text), std::string(event.tid.text)}];
  if (open.size() > 4096) return count(problem_kinds::unbalanced, event);
  open.push_back({*time + shift_, name_of(event), options_.args ? cleaned_json(event.args.text) : "", event.byte});
}

void KinetoRows::end(const TraceEvent& event) {
  const std::optional<Time> time = probe_.time_of(event.time);
  const auto at = open_.find({std::string(event.pid.text), std::string(event.tid.text)});
  if (!time || at == open_.end() || at->second.empty()) return count(problem_kinds::unbalanced, event);
  const OpenRange range = std::move(at->second.back());
  at->second.pop_back();
  Slice slice{.start = range.start, .name = range.name, .family = Family::Mark};
  if (*time + shift_ < range.start) {
    count(problem_kinds::negative_duration, event);
    slice.flags |= slice_flags::clamped;
  } else {
    slice.duration = *time + shift_ - range.start;
  }
  slice.step = probe_.step_at(range.start - shift_);
  slice.track = host_track(event, TrackKind::Range, " ranges");
  const SliceId id = rows_.add(slice);
  if (range.args.size() > 2) rows_.add(ArgsDetail{id, range.args});
}

void KinetoRows::finish() {
  for (const Pending& pending : pending_) {
    const LaunchCall* launch = probe_.launch(pending.correlation);
    if (launch != nullptr && launch->slice)
      rows_.add(SliceFlow{launch->slice, pending.slice, FlowKind::Launch, Certainty::Recorded});
  }
  for (const auto& [thread, open] : open_)
    for (const OpenRange& range : open)
      problems_.count(problem_kinds::unbalanced, {.file = probe_.display, .byte = range.byte});
  std::vector<IssuedWait> waits;
  for (const RawWait& raw : waits_) {
    const auto on = streams_.find(raw.recorded_on);
    const LaunchCall* record = probe_.launch(raw.record);
    const LaunchCall* call = probe_.launch(raw.call);
    if (on == streams_.end() || record == nullptr || call == nullptr) continue;
    IssuedWait wait{.recorded_on = on->second.track,
                    .recorded = record->start,
                    .waited = call->start,
                    .call = call->slice,
                    .call_end = raw.end};
    if (raw.stream_waits) {
      const auto waiting = streams_.find(raw.waiting);
      if (waiting == streams_.end()) continue;
      wait.waiting = waiting->second.track;
    }
    waits.push_back(wait);
  }
  const EventFlows found = event_flows(issued_, waits);
  for (const SliceFlow& flow : found.flows) rows_.add(flow);
  report_.inferred_flows += static_cast<std::int64_t>(found.flows.size());
  if (found.contradicted > 0)
    problems_.count(problem_kinds::contradicted, {.file = probe_.display}, found.contradicted);
  for (const auto& [key, on] : streams_) {
    const StreamLanes::Overlaps overlaps = on.lanes.overlaps();
    report_.overlaps += overlaps.kernels;
    if (overlaps.kernels > 0) problems_.count(problem_kinds::overlap, {.file = probe_.display}, overlaps.kernels);
    if (overlaps.covers > 0) problems_.count(problem_kinds::covers, {.file = probe_.display}, overlaps.covers);
  }
  if (probe_.shared_correlations > 0)
    problems_.count(problem_kinds::shared_correlation, {.file = probe_.display}, probe_.shared_correlations);
  for (const auto& [what, n] : not_read_)
    problems_.say(problem_kinds::not_read, {.file = probe_.display}, fmt::format("{} {}", n, what), n);
  if (probe_.gpu_events == 0) problems_.count(problem_kinds::no_kernels, {.file = probe_.display});
  if (probe_.events == 1'000'000) problems_.count(problem_kinds::capped, {.file = probe_.display}, probe_.events);
}

}  // namespace stave
