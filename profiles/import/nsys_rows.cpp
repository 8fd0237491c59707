#include "profiles/import/nsys_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace stave {

NsysRows::NsysRows(NsysFile& file, std::span<const std::uint32_t> ranks, std::span<const RankClock> clocks,
                   std::span<const Time> shifts, const ImportOptions& options, RowBatches& rows,
                   ProblemCounts& problems, ImportReport& report, Progress* progress)
    : file_(file),
      ranks_(ranks),
      clocks_(clocks),
      shifts_(shifts),
      options_(options),
      rows_(rows),
      problems_(problems),
      report_(report),
      progress_(progress) {}

void NsysRows::count(const ProblemKind& kind, std::int64_t by) {
  problems_.count(kind, {.file = file_.path(), .row = fmt::format("{} row {}", table_, row_)}, by);
}

std::size_t NsysRows::position(const NsysProcess& process) const {
  return static_cast<std::size_t>(&process - file_.processes().data());
}

std::optional<std::pair<Time, Picoseconds>> NsysRows::span(const NsysRecord& row, std::size_t process,
                                                           std::uint8_t& flags) {
  const auto times = nsys_times(row);
  if (!times) {
    count(problem_kinds::bad_row);
    return std::nullopt;
  }
  const auto [start, end] = *times;
  if (start.count() < 0) count(problem_kinds::warmup);
  Picoseconds duration = end - start;
  if (duration.count() < 0) {
    count(problem_kinds::negative_duration);
    flags |= slice_flags::clamped;
    duration = {};
  }
  return std::pair{start + shifts_[process], duration};
}

StringId NsysRows::name_of(NsysText& text, std::string_view otherwise) {
  if (!text.name) text.name = rows_.name(text.text.empty() ? otherwise : std::string_view(text.text));
  return text.name;
}

TrackId NsysRows::thread_track(std::size_t process, std::int64_t global_tid, TrackKind kind) {
  const auto [at, added] = threads_.try_emplace({global_tid, kind});
  if (added) {
    const std::int64_t thread = global_tid & thread_mask;
    at->second = rows_.add(Track{.rank = ranks_[process],
                                 .kind = kind,
                                 .name = fmt::format("thread {}{}", thread, kind == TrackKind::Range ? " ranges" : ""),
                                 .thread = thread});
  }
  return at->second;
}

// Before the device work, so that each of its rows finds its launch.
Result<void> NsysRows::calls() {
  std::vector<std::tuple<std::size_t, SliceId, Time, Time>> waiting;
  NsysText own;
  TRY_VOID(each("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"},
                [&](const NsysRecord& row) {
                  const std::int64_t thread = row.integer(2);
                  NsysProcess& process = file_.process(row.maybe_integer(2));
                  const std::size_t at = position(process);
                  Slice slice{.family = Family::HostApi};
                  const auto span = this->span(row, at, slice.flags);
                  if (!span) return;
                  slice.start = span->first;
                  slice.duration = span->second;
                  slice.track = thread_track(at, thread, TrackKind::Host);
                  NsysText& text = file_.text(row, 4, own);
                  const std::string_view name = text.text;
                  slice.name = name_of(text, "API call");
                  slice.step = process.step_at(slice.start - shifts_[at]);
                  slice.lane = depth(thread, slice.start, slice.end());
                  const HostWait wait = text.host_wait();
                  if (only_waits(wait)) slice.flags |= slice_flags::waits;
                  const SliceId id = rows_.add(slice);
                  ++report_.calls;
                  const std::optional<std::int64_t> correlation = row.maybe_integer(3);
                  rows_.add(ApiDetail{id, correlation, row.maybe_integer(5)});
                  if (only_waits(wait)) {
                    host_waits_[at].add(slice.start, slice.end(), wait);
                    waiting.emplace_back(at, id, slice.start, slice.end());
                  }
                  if (!correlation || *correlation == 0) return;
                  const Time own = slice.start - shifts_[at];
                  const bool record = name.starts_with("cudaEventRecord") || name.starts_with("cuEventRecord");
                  if (has_waits_ && record) by_thread_[thread].records.push_back({own, *correlation});
                  if (!process.needs(*correlation)) return;
                  process.launches.push_back({*correlation, own, id});
                  if (name.find("Memcpy") != std::string_view::npos) {
                    std::vector<SliceFlow> none;  // its copy comes later
                    copy_waits_[at].call(*correlation, id, slice.end(), wait == HostWait::Copy, none);
                  }
                  if (!has_waits_) return;
                  if (name.find("WaitEvent") != std::string_view::npos)
                    thread_of_call_[{at, *correlation}] = thread;
                  else if (!record && name.find("Synchronize") == std::string_view::npos)
                    by_thread_[thread].launches.push_back({own, *correlation});
                }));
  for (NsysProcess& process : file_.processes()) {
    // Mostly they come in this order.
    const auto earlier = [](const LaunchCall& a, const LaunchCall& b) {
      return a.correlation != b.correlation ? a.correlation < b.correlation : a.start < b.start;
    };
    if (!std::is_sorted(process.launches.begin(), process.launches.end(), earlier))
      std::stable_sort(process.launches.begin(), process.launches.end(), earlier);
    // Of calls with one id the last one counts.
    std::vector<LaunchCall> once;
    for (std::size_t i = 0; i < process.launches.size(); ++i) {
      if (i + 1 < process.launches.size() && process.launches[i + 1].correlation == process.launches[i].correlation)
        problems_.count(problem_kinds::shared_correlation, {.file = file_.path()});
      else
        once.push_back(process.launches[i]);
    }
    process.launches = std::move(once);
  }
  for (HostWaits& waits : host_waits_) waits.settle({}, has_waits_);
  for (const auto& [at, id, start, end] : waiting) host_waits_[at].set_slice(start, end, id);
  const auto by_start = [](const ThreadCall& a, const ThreadCall& b) { return a.start < b.start; };
  for (auto& [id, thread] : by_thread_) {
    std::stable_sort(thread.records.begin(), thread.records.end(), by_start);
    std::stable_sort(thread.launches.begin(), thread.launches.end(), by_start);
  }
  return {};
}

// eventType 59 push and pop, 60 start and end, 34 a mark; without the column, push and pop.
Result<void> NsysRows::ranges() {
  NsysText own;
  return each("NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId", "eventType"}, [&](const NsysRecord& row) {
    const std::int64_t type = row.is_null(5) ? 59 : row.integer(5);
    if (type != 59 && type != 60 && type != 34) return;
    if (type != 34 && row.is_null(1)) return count(problem_kinds::unbalanced);
    NsysProcess& process = file_.process(row.maybe_integer(2));
    const std::size_t at = position(process);
    Slice slice{.family = Family::Mark};
    if (type == 34 && row.is_null(1)) {
      const std::optional<Time> start = nsys_time(row.number(0));
      if (!start) return count(problem_kinds::bad_row);
      slice.start = *start + shifts_[at];
    } else {
      const auto span = this->span(row, at, slice.flags);
      if (!span) return;
      slice.start = span->first;
      slice.duration = span->second;
    }
    if (row.is_null(3))
      slice.name = name_of(file_.text(row, 4, own), "range");
    else
      slice.name = rows_.name(row.is_integer(3) || !row.text(3).empty() ? row.written(3) : "range");
    slice.track = thread_track(at, row.integer(2), TrackKind::Range);
    slice.step = process.step_at(slice.start - shifts_[at]);
    rows_.add(slice);
  });
}

Result<void> NsysRows::counters() {
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> names;
  TRY_VOID(each("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}, [&](const NsysRecord& row) {
    names.emplace(std::pair{row.integer(0), row.integer(1)}, row.written(2).substr(0, 256));
  }));
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> tracks;
  return each("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, [&](const NsysRecord& row) {
    const std::optional<Time> time = nsys_time(row.number(0));
    const double value = row.real(3);
    if (!time || value != value) return count(problem_kinds::bad_row);
    const std::pair key{row.integer(1), row.integer(2)};
    const auto [track, added] = tracks.try_emplace(key);
    if (added) {
      const auto name = names.find(key);
      // The low byte of a type is the GPU.
      const std::int64_t gpu = key.first & 0xff;
      track->second = rows_.add(Track{
          .rank = ranks_[0],
          .kind = TrackKind::Counter,
          .name =
              fmt::format("GPU {} {}", gpu, name == names.end() ? fmt::format("metric {}", key.second) : name->second),
          .device = gpu});
    }
    rows_.add(CounterSample{track->second, *time + shifts_[0], value});
  });
}

Result<void> NsysRows::diagnostics() {
  int said = 0;
  return each("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const NsysRecord& row) {
    const std::int64_t severity = row.integer(0);
    if ((severity != 2 && severity != 3) || said >= 20) return;
    ++said;
    problems_.say(problem_kinds::recorder_says, {.file = file_.path()}, row.written(1).substr(0, 500));
  });
}

void NsysRows::finish() {
  for (auto& [key, on] : streams_) {
    const StreamLanes::Overlaps overlaps = on.lanes.overlaps();
    report_.overlaps += overlaps.kernels;
    if (overlaps.kernels > 0) problems_.count(problem_kinds::overlap, {.file = file_.path()}, overlaps.kernels);
    if (overlaps.covers > 0) problems_.count(problem_kinds::covers, {.file = file_.path()}, overlaps.covers);
  }
  const ProblemCounts::At file{.file = file_.path()};
  if (report_.kernels == 0 && graph_launches_ > 0)
    problems_.count(problem_kinds::graph_level, file, graph_launches_);
  else if (report_.kernels == 0)
    problems_.count(problem_kinds::no_kernels, file);
  if (!file_.damage().empty()) problems_.say(problem_kinds::damaged, file, file_.damage());
  std::string missing;
  for (const std::string_view table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "StringIds"})
    if (file_.tables().table(table).empty()) missing += (missing.empty() ? "table " : ", table ") + std::string(table);
  if (file_.tables().has("CUPTI_ACTIVITY_KIND_KERNEL", "start"))
    for (const std::string_view column : {"end", "deviceId", "streamId", "correlationId", "globalPid", "shortName"})
      if (!file_.tables().has("CUPTI_ACTIVITY_KIND_KERNEL", column))
        missing += (missing.empty() ? "column " : ", column ") + std::string(column) + " of the kernels";
  if (!missing.empty()) problems_.say(problem_kinds::missing_table, file, missing);
  const std::string& version = file_.tables().schema_version();
  if (version.empty())
    problems_.say(problem_kinds::schema_version, file, "the export does not say the version of its schema");
  else if (!version.starts_with("3."))
    problems_.say(problem_kinds::schema_version, file,
                  fmt::format("schema version {} is not one that Stave was tried with (3.24 to 3.28)", version));
}

std::uint16_t NsysRows::depth(std::int64_t thread, Time start, Time end) {
  std::vector<std::pair<Time, Time>>& open = open_calls_[thread];
  while (!open.empty() && open.back().second <= start) open.pop_back();
  // A row that is not in the order of time lies in none of these.
  if (!open.empty() && (start < open.back().first || open.back().second < end)) return 0;
  const std::size_t lane = std::min<std::size_t>(open.size(), StreamLanes::most_lanes - 1);
  open.emplace_back(start, end);
  return static_cast<std::uint16_t>(lane);
}

void NsysRows::inferred(const std::vector<SliceFlow>& flows) {
  for (const SliceFlow& flow : flows) rows_.add(flow);
  report_.inferred_flows += static_cast<std::int64_t>(flows.size());
}

Result<void> NsysRows::read() {
  host_waits_.resize(file_.processes().size());
  copy_waits_.resize(file_.processes().size());
  has_waits_ = !file_.tables().table("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION").empty();
  TRY_VOID(calls());
  TRY_VOID(kernels());
  TRY_VOID(copies(false));
  TRY_VOID(copies(true));
  TRY_VOID(graph_launches());
  TRY_VOID(waits());
  edges();
  TRY_VOID(ranges());
  TRY_VOID(counters());
  TRY_VOID(diagnostics());
  finish();
  return {};
}

}  // namespace stave
