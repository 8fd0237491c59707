#include "profiles/import/kineto_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/in_number.h"

namespace stave {
namespace {

// Operators and Python functions are lane 0 of a thread, and nest there; the
// calls within them follow each other.
constexpr std::uint16_t api_lane = 1;

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
        ++not_read_[fmt::format("[arrow|arrows] of category {}", plain_text(event.category, event.odd, storage_))];
      return;
    case 0: return count(problem_kinds::bad_event, event);
    default: ++not_read_[fmt::format("[event|events] of phase {}", event.phase > ' ' ? event.phase : '?')];
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

void KinetoRows::call(const TraceEvent& event, Slice slice) {
  slice.track = host_track(event, TrackKind::Host);
  slice.family = Family::HostApi;
  slice.lane = api_lane;
  const HostWait wait = host_wait(event.name.text);
  if (only_waits(wait)) slice.flags |= slice_flags::waits;
  const SliceId id = add(event, slice);
  ++report_.calls;
  if (only_waits(wait)) probe_.host_waits.set_slice(slice.start - shift_, slice.end() - shift_, id);
  const std::optional<std::int64_t> correlation = integer(event.argument("correlation"));
  rows_.add(ApiDetail{.slice = id, .correlation = correlation});
  if (!correlation) return;
  const std::optional<LaunchTable::Launch> launch = probe_.launches.find(*correlation);
  if (!launch || launch->start + shift_ != slice.start) return;
  probe_.launches.set_slice(*launch, id);
  if (event.name.text.find("Memcpy") == std::string_view::npos) return;
  std::vector<SliceFlow> found;
  copy_waits_.call(*correlation, id, slice.end(), wait == HostWait::Copy, found);
  inferred(found);
}

void KinetoRows::inferred(const std::vector<SliceFlow>& flows) {
  for (const SliceFlow& flow : flows) rows_.add(flow);
  report_.inferred_flows += static_cast<std::int64_t>(flows.size());
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
  join_pending();
  for (const auto& [thread, open] : open_)
    for (const OpenRange& range : open)
      problems_.count(problem_kinds::unbalanced, {.file = probe_.display, .byte = range.byte});
  edges();
  streams_.finish(probe_.display, problems_, report_);
  if (probe_.shared_correlations > 0)
    problems_.count(problem_kinds::shared_correlation, {.file = probe_.display}, probe_.shared_correlations);
  for (const auto& [what, n] : not_read_) {
    // The rest is the trace's own.
    const std::size_t ours = what.find(' ');
    problems_.say(problem_kinds::not_read, {.file = probe_.display},
                  fmt::format("{} {}{}", n, in_number(what.substr(0, ours), n), what.substr(ours)), n);
  }
  if (probe_.gpu_events == 0) problems_.count(problem_kinds::no_kernels, {.file = probe_.display});
  if (probe_.events == 1'000'000) problems_.count(problem_kinds::capped, {.file = probe_.display}, probe_.events);
}

}  // namespace stave
