#include "profiles/import/kineto_probe.h"

#include <algorithm>
#include <unordered_map>

#include "profiles/import/kineto_kinds.h"

namespace stave {
namespace {

struct RawStep {
  std::uint32_t step;
  WideTime start;
  WideTime end;
};

class Prober {
 public:
  explicit Prober(KinetoProbe& out) : out_(out) {}

  void take(const TraceEvent& event) {
    ++out_.events;
    if (event.phase == 'M') return metadata(event);
    const std::optional<WideTime> start = microseconds(event.time);
    if (start) age_.add(*start);
    if (event.phase != 'X' || !start) return;
    switch (const KinetoKind kind = kineto_kind(event.category.text)) {
      case KinetoKind::Kernel:
      case KinetoKind::Copy:
      case KinetoKind::Memset:
        ++out_.gpu_events;
        if (!out_.device) out_.device = device_of(event);
        need(integer(event.argument("correlation")));
        if (kind == KinetoKind::Kernel) collective(event, *start);
        break;
      case KinetoKind::Call:
        if (const auto correlation = integer(event.argument("correlation")); correlation && *correlation != 0)
          add_call(*correlation, *start);
        add_wait(event, *start);
        break;
      case KinetoKind::Sync: {
        need(integer(event.argument("correlation")));
        const auto record = integer(event.argument("wait_on_cuda_event_record_corr_id"));
        if (record && *record > 0) need(record);
        const auto stream = integer(event.argument("stream"));
        out_.sync_events += (record && *record > 0) || (stream && *stream >= 0);
        break;
      }
      case KinetoKind::Range:
        if (const auto step = step_number(event.name.text))
          steps_.push_back({*step, *start, *start + std::max<WideTime>(microseconds(event.duration).value_or(0), 0)});
        break;
      default: break;
    }
  }

  void finish(const JsonEvents& events) {
    if (const auto base = integer({JsonValue::Kind::Number, false, events.root("baseTimeNanoseconds")}))
      out_.base = *base * ps_per_ns;
    out_.start = age_.least() + out_.base;
    const std::string_view about = events.root("distributedInfo");
    const auto number = [](const JsonValue& value) -> std::optional<std::uint32_t> {
      const std::optional<std::int64_t> n = integer(value);
      if (!n || *n < 0 || *n >= (1 << 24)) return std::nullopt;
      return static_cast<std::uint32_t>(*n);
    };
    out_.said_rank = number(member(about, "rank"));
    out_.world_size = number(member(about, "world_size"));
    out_.schema_version = unescaped(events.root("schemaVersion"));
    find_gpu(events.root("deviceProperties"));
    out_.launches = launches_.finish(own(first_call_), out_.shared_correlations);
    out_.host_waits.settle(own(first_wait_), out_.sync_events > 0);
    finish_steps();
    for (std::size_t i = 0; i < out_.collectives.spans.size(); ++i) {
      CollectiveSpan& span = out_.collectives.spans[i];
      const Time start{static_cast<std::int64_t>(std::clamp<WideTime>(span.start - age_.least(), 0, most_apart))};
      span.start += out_.base;
      span.end += out_.base;
      span.step = step_of_launch(start, i).value;
    }
  }

 private:
  static std::optional<std::int64_t> device_of(const TraceEvent& event) {
    if (const auto device = integer(event.argument("device"))) return device;
    return integer(event.pid);
  }

  void add_wait(const TraceEvent& event, WideTime start) {
    const HostWait wait = host_wait(event.name.text);
    const std::optional<Picoseconds> lasts = lasting(microseconds(event.duration).value_or(-1));
    if (!only_waits(wait) || !lasts) return;
    if (!any_wait_) first_wait_ = start;
    any_wait_ = true;
    const Time from{static_cast<std::int64_t>(std::clamp<WideTime>(start - first_wait_, -most_apart, most_apart))};
    out_.host_waits.add(from, from + *lasts, wait);
  }

  void add_call(std::int64_t correlation, WideTime start) {
    if (!any_call_) first_call_ = start;
    any_call_ = true;
    launches_.call(correlation,
                   static_cast<std::int64_t>(std::clamp<WideTime>(start - first_call_, -most_apart, most_apart)));
  }

  void need(std::optional<std::int64_t> correlation) { launches_.need(correlation.value_or(0)); }

  void metadata(const TraceEvent& event) {
    std::string storage;
    const std::string value = unescaped(event.argument("name").text);
    if (event.name.text == "process_name") out_.process_names[std::string(event.pid.text)] = value;
    if (event.name.text == "thread_name")
      out_.thread_names[{std::string(event.pid.text), std::string(event.tid.text)}] = value;
  }

  void collective(const TraceEvent& event, WideTime start) {
    if (!names_collective(event.name.text)) return;
    CollectiveSpan span;
    span.start = start;
    span.end = start + std::max<WideTime>(microseconds(event.duration).value_or(0), 0);
    correlations_.push_back(integer(event.argument("correlation")).value_or(0));
    out_.collectives.add(collective_arguments(event, event.name.text), event.name.text, span);
  }

  // The device's name, from the object with its id.
  void find_gpu(std::string_view properties) {
    if (!out_.device) return;
    while (true) {
      const std::size_t open = properties.find('{');
      if (open == std::string_view::npos) return;
      properties.remove_prefix(open);
      const JsonValue id = member(properties, "id");
      if (integer(id) == out_.device) {
        out_.gpu = unescaped(member(properties, "name").text);
        return;
      }
      properties.remove_prefix(1);
    }
  }

  Time own(WideTime time) const {
    return Time{static_cast<std::int64_t>(std::clamp<WideTime>(time - age_.least(), -most_apart, most_apart))};
  }

  void finish_steps() {
    for (const RawStep& raw : steps_) out_.steps.push_back({raw.step, own(raw.start), own(raw.end)});
    merge_steps(out_.steps);
  }

  StepNumber step_of_launch(Time start, std::size_t i) {
    const auto launch = out_.launches.find(correlations_[i]);
    return out_.step_at(launch ? launch->start : start);
  }

  KinetoProbe& out_;
  TimeAge age_;
  LaunchGatherer launches_;
  bool any_call_ = false, any_wait_ = false;
  WideTime first_call_ = 0, first_wait_ = 0;
  std::vector<std::int64_t> correlations_;  // beside collectives
  std::vector<RawStep> steps_;
};

}  // namespace

std::optional<Time> KinetoProbe::time_of(const JsonValue& text) const {
  const std::optional<WideTime> time = microseconds(text);
  if (!time) return std::nullopt;
  return since(start, *time + base);
}

StepNumber KinetoProbe::step_at(Time time) const { return stave::step_at(steps, time); }

Result<void> show_progress(Progress* progress, const std::atomic<std::int64_t>* bytes_read) {
  if (progress == nullptr) return {};
  if (bytes_read != nullptr)
    progress->done.store(bytes_read->load(std::memory_order_relaxed), std::memory_order_relaxed);
  return still_wanted(progress);
}

Result<void> probe_kineto(ByteSource& text, std::string_view display, KinetoProbe& probe, Progress* progress,
                          const std::atomic<std::int64_t>* bytes_read) {
  probe.display = display;
  Prober prober(probe);
  JsonEvents events(text, display, nullptr);
  TraceEvent event;
  const auto all = [&]() -> Result<void> {
    while (true) {
      TRY(const bool more, events.next(event));
      if (!more) return {};
      prober.take(event);
      if (probe.events % 8192 == 0) TRY_VOID(show_progress(progress, bytes_read));
    }
  };
  Result<void> done = all();
  prober.finish(events);
  return done;
}

}  // namespace stave
