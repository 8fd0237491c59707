#include "profiles/import/kineto_probe.h"

#include <algorithm>
#include <unordered_map>

#include "profiles/import/kineto_kinds.h"

namespace stave {
namespace {

// Times within most_apart of the first one; a few may be of another age, as
// the zeros that a recorder writes for what it could not time.
class Age {
 public:
  void add(WideTime time) {
    for (Cluster& cluster : clusters_) {
      if (cluster.count > 0 && (time - cluster.first > most_apart / 2 || cluster.first - time > most_apart / 2))
        continue;
      if (cluster.count++ == 0) cluster.first = cluster.least = time;
      cluster.least = std::min(cluster.least, time);
      return;
    }
  }
  WideTime least() const { return clusters_[0].count >= clusters_[1].count ? clusters_[0].least : clusters_[1].least; }

 private:
  struct Cluster {
    std::int64_t count = 0;
    WideTime first = 0;
    WideTime least = 0;
  };
  Cluster clusters_[2];
};

struct RawCall {
  std::int64_t correlation;
  Time start;  // from the first call: there may be millions, and half the bytes do
};

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
    finish_launches();
    finish_steps();
    for (CollectiveSpan& span : out_.collectives) {
      const Time start{static_cast<std::int64_t>(std::clamp<WideTime>(span.start - age_.least(), 0, most_apart))};
      span.start += out_.base;
      span.end += out_.base;
      span.step = step_of_launch(start, span).value;
    }
  }

 private:
  static std::optional<std::int64_t> device_of(const TraceEvent& event) {
    if (const auto device = integer(event.argument("device"))) return device;
    return integer(event.pid);
  }

  void add_call(std::int64_t correlation, WideTime start) {
    if (calls_.empty()) first_call_ = start;
    calls_.push_back({correlation, Time{static_cast<std::int64_t>(
                                       std::clamp<WideTime>(start - first_call_, -most_apart, most_apart))}});
  }

  void need(std::optional<std::int64_t> correlation) {
    if (correlation && *correlation != 0) needed_.push_back(*correlation);
  }

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
    if (const auto said = collective_arguments(event, event.name.text)) {
      span.communicator = said->communicator;
      span.op = said->op;
      span.said = true;
      span.said_sequence = said->sequence;
    } else {
      span.op = collective_op(event.name.text);
    }
    span.start = start;
    span.end = start + std::max<WideTime>(microseconds(event.duration).value_or(0), 0);
    correlations_.push_back(integer(event.argument("correlation")).value_or(0));
    out_.collectives.push_back(std::move(span));
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

  // Of calls with one id the last one counts.
  void finish_launches() {
    std::sort(needed_.begin(), needed_.end());
    needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
    std::stable_sort(calls_.begin(), calls_.end(),
                     [](const RawCall& a, const RawCall& b) { return a.correlation < b.correlation; });
    out_.launches.reserve(std::min(needed_.size(), calls_.size()));
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if (!std::binary_search(needed_.begin(), needed_.end(), calls_[i].correlation)) continue;
      if (i + 1 < calls_.size() && calls_[i + 1].correlation == calls_[i].correlation) {
        ++out_.shared_correlations;
        continue;
      }
      out_.launches.push_back({calls_[i].correlation, own(first_call_ + calls_[i].start.count()), {}});
    }
  }

  // One span a number: a step that several threads annotate lasts from the first to the last.
  void finish_steps() {
    std::map<std::uint32_t, ProbedStep> steps;
    for (const RawStep& raw : steps_) {
      const auto [at, added] = steps.try_emplace(raw.step, ProbedStep{raw.step, own(raw.start), own(raw.end)});
      if (added) continue;
      at->second.start = std::min(at->second.start, own(raw.start));
      at->second.end = std::max(at->second.end, own(raw.end));
    }
    for (const auto& [number, step] : steps) out_.steps.push_back(step);
    std::stable_sort(out_.steps.begin(), out_.steps.end(),
                     [](const ProbedStep& a, const ProbedStep& b) { return a.start < b.start; });
  }

  StepNumber step_of_launch(Time start, const CollectiveSpan& span) {
    const auto i = static_cast<std::size_t>(&span - out_.collectives.data());
    const LaunchCall* launch = out_.launch(correlations_[i]);
    return out_.step_at(launch != nullptr ? launch->start : start);
  }

  KinetoProbe& out_;
  Age age_;
  std::vector<RawCall> calls_;
  WideTime first_call_ = 0;
  std::vector<std::int64_t> needed_;
  std::vector<std::int64_t> correlations_;  // beside collectives
  std::vector<RawStep> steps_;
};

}  // namespace

std::optional<Time> KinetoProbe::time_of(const JsonValue& text) const {
  const std::optional<WideTime> time = microseconds(text);
  if (!time) return std::nullopt;
  const WideTime since = *time + base - start;
  if (since > most_apart || since < -most_apart) return std::nullopt;
  return Time{static_cast<std::int64_t>(since)};
}

LaunchCall* KinetoProbe::launch(std::int64_t correlation) {
  const auto at = std::lower_bound(launches.begin(), launches.end(), correlation,
                                   [](const LaunchCall& call, std::int64_t id) { return call.correlation < id; });
  return at != launches.end() && at->correlation == correlation ? &*at : nullptr;
}

StepNumber KinetoProbe::step_at(Time time) const {
  auto at =
      std::upper_bound(steps.begin(), steps.end(), time, [](Time t, const ProbedStep& step) { return t < step.start; });
  if (at == steps.begin() || time >= (--at)->end) return {};
  return StepNumber{at->step};
}

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
