#include "profiles/import/nsys_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/json.h"
#include "profiles/import/kineto_kinds.h"

namespace stave {
namespace {

constexpr std::int64_t all_streams = 4294967295;

// What each table of device work begins with.
constexpr std::string_view device_columns[] = {"start",     "end",      "globalPid",     "deviceId",
                                               "contextId", "streamId", "correlationId", "graphNodeId"};
constexpr int first_own = 8;

std::vector<std::string_view> with_device(std::initializer_list<std::string_view> own) {
  std::vector<std::string_view> columns(std::begin(device_columns), std::end(device_columns));
  columns.insert(columns.end(), own.begin(), own.end());
  return columns;
}

std::optional<std::uint32_t> small(const sqlite::Statement& row, int column) {
  const auto n = row.maybe_integer(column);
  if (!n || *n < 0 || *n > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*n);
}

std::optional<LaunchDims> dims(const sqlite::Statement& row, int column) {
  const auto x = small(row, column), y = small(row, column + 1), z = small(row, column + 2);
  return x && y && z ? std::optional(LaunchDims{*x, *y, *z}) : std::nullopt;
}

// Nsight's words for a copy's direction.
std::string_view copy_name(std::optional<std::uint32_t> kind) {
  static constexpr std::string_view names[] = {"Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA",
                                               "Memcpy AtoH", "Memcpy AtoA", "Memcpy AtoD", "Memcpy DtoA",
                                               "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP"};
  return kind && *kind < std::size(names) ? names[*kind] : names[0];
}

}  // namespace

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

template <class Take>
Result<void> NsysRows::each(std::string_view table, const Columns& columns, Take take) {
  const std::string sql = file_.tables().select(table, columns);
  if (sql.empty()) return {};
  table_ = file_.tables().table(table);
  row_ = 0;
  const auto read = [&]() -> Result<void> {
    TRY(sqlite::Statement row, file_.database().prepare(sql));
    while (true) {
      TRY(const bool more, row.step());
      if (!more) return {};
      ++row_;
      take(row);
      TRY_VOID(rows_.flush_if_full());
      if (++all_rows_ % 8192 != 0) continue;
      if (progress_ != nullptr) progress_->done += 8192;
      TRY_VOID(still_wanted(progress_));
    }
  };
  Result<void> done = read();
  if (done || done.problems()[0].place.file != file_.path()) return done;
  problems_.say(problem_kinds::damaged, {.file = file_.path()},
                fmt::format("{} row {}: {}", table_, row_ + 1, done.problems()[0].message));
  return {};
}

void NsysRows::count(const ProblemKind& kind, std::int64_t by) {
  problems_.count(kind, {.file = file_.path(), .row = fmt::format("{} row {}", table_, row_)}, by);
}

std::size_t NsysRows::position(const NsysProcess& process) const {
  return static_cast<std::size_t>(&process - file_.processes().data());
}

std::optional<std::pair<Time, Picoseconds>> NsysRows::span(const sqlite::Statement& row, std::size_t process,
                                                           std::uint8_t& flags) {
  const std::optional<Time> start = nsys_time(row.integer(0)), end = nsys_time(row.integer(1));
  if (!start || !end || row.is_null(0)) {
    count(problem_kinds::bad_row);
    return std::nullopt;
  }
  if (start->count() < 0) count(problem_kinds::warmup);
  Picoseconds duration = *end - *start;
  if (duration.count() < 0) {
    count(problem_kinds::negative_duration);
    flags |= slice_flags::clamped;
    duration = {};
  }
  return std::pair{*start + shifts_[process], duration};
}

NsysRows::Stream& NsysRows::stream(const StreamKey& key) {
  const auto [at, added] = streams_.try_emplace(key);
  if (added) {
    const auto& [process, device, context, number] = key;
    at->second.track = rows_.add(Track{.rank = ranks_[process],
                                       .kind = TrackKind::Stream,
                                       .name = fmt::format("GPU {} stream {}", device, number),
                                       .device = device,
                                       .context = context,
                                       .stream = number});
  }
  return at->second;
}

const std::pair<const NsysRows::StreamKey, NsysRows::Stream>* NsysRows::working_stream(const StreamKey& key) const {
  const auto same = [&](const auto& at) {
    return std::get<0>(at.first) == std::get<0>(key) && std::get<2>(at.first) == std::get<2>(key) &&
           std::get<3>(at.first) == std::get<3>(key);
  };
  const auto at = std::find_if(streams_.begin(), streams_.end(), same);
  return at == streams_.end() ? nullptr : &*at;
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

std::string NsysRows::extras(const sqlite::Statement& row, const Columns& columns, std::size_t from) const {
  std::string json;
  for (std::size_t i = from; i < columns.size(); ++i) {
    const auto column = static_cast<int>(i);
    const std::string_view text = row.text(column);
    if (text.empty()) continue;
    const bool number = integer({JsonValue::Kind::Number, false, text}).has_value();
    json += fmt::format("{}\"{}\": {}", json.empty() ? "{" : ", ", columns[i],
                        number ? std::string(text) : json_quoted(text.substr(0, most_text)));
  }
  return json.empty() ? json : json + "}";
}

std::optional<NsysRows::Placed> NsysRows::place(const sqlite::Statement& row, bool kernel) {
  NsysProcess& process = file_.process(row.maybe_integer(2));
  Placed placed{.process = position(process), .on = {}};
  const auto span = this->span(row, placed.process, placed.slice.flags);
  if (!span) return std::nullopt;
  placed.slice.start = span->first;
  placed.slice.duration = span->second;
  if (span->second.count() == 0 && placed.slice.flags == 0) count(problem_kinds::zero_duration);
  placed.on = {placed.process, row.integer(3), row.integer(4), row.integer(5)};
  Stream& on = stream(placed.on);
  placed.slice.track = on.track;
  placed.slice.lane = on.lanes.place(placed.slice.start, placed.slice.duration, kernel);
  placed.correlation = row.maybe_integer(6);
  placed.launch = placed.correlation ? process.launch(*placed.correlation) : nullptr;
  if (placed.launch == nullptr) {
    placed.slice.flags |= slice_flags::orphan;
    ++report_.orphans;
    count(problem_kinds::orphan);
  } else if (placed.launch->start > placed.slice.start - shifts_[placed.process]) {
    count(problem_kinds::before_launch);
  }
  placed.slice.step =
      process.step_at(placed.launch != nullptr ? placed.launch->start : placed.slice.start - shifts_[placed.process]);
  return placed;
}

SliceId NsysRows::add(const Placed& placed) {
  const SliceId id = rows_.add(placed.slice);
  if (placed.launch == nullptr) return id;
  rows_.add(SliceFlow{placed.launch->slice, id, FlowKind::Launch, Certainty::Recorded});
  if (has_waits_) {
    issued_.push_back({placed.slice.track, id, placed.slice.start, placed.slice.end(),
                       placed.launch->start + shifts_[placed.process]});
    stream_of_launch_.try_emplace({placed.process, placed.launch->correlation}, placed.on);
  }
  return id;
}

// Before the device work, so that each of its rows finds its launch.
Result<void> NsysRows::calls() {
  TRY_VOID(each("CUPTI_ACTIVITY_KIND_RUNTIME", {"start", "end", "globalTid", "correlationId", "nameId", "returnValue"},
                [&](const sqlite::Statement& row) {
                  const std::int64_t thread = row.integer(2);
                  NsysProcess& process = file_.process(row.maybe_integer(2));
                  const std::size_t at = position(process);
                  Slice slice{.family = Family::HostApi};
                  const auto span = this->span(row, at, slice.flags);
                  if (!span) return;
                  slice.start = span->first;
                  slice.duration = span->second;
                  slice.track = thread_track(at, thread, TrackKind::Host);
                  const std::string_view name = file_.text(row.text(4));
                  slice.name = rows_.name(name.empty() ? "API call" : name);
                  slice.step = process.step_at(slice.start - shifts_[at]);
                  const SliceId id = rows_.add(slice);
                  ++report_.calls;
                  const std::optional<std::int64_t> correlation = row.maybe_integer(3);
                  rows_.add(ApiDetail{id, correlation, row.maybe_integer(5)});
                  if (!correlation || *correlation == 0) return;
                  const Time own = slice.start - shifts_[at];
                  const bool record = name.starts_with("cudaEventRecord") || name.starts_with("cuEventRecord");
                  if (has_waits_ && record) by_thread_[thread].records.push_back({own, *correlation});
                  if (!process.needs(*correlation)) return;
                  process.launches.push_back({*correlation, own, id});
                  if (!has_waits_) return;
                  if (name.find("WaitEvent") != std::string_view::npos)
                    thread_of_call_[{at, *correlation}] = thread;
                  else if (!record && name.find("Synchronize") == std::string_view::npos)
                    by_thread_[thread].launches.push_back({own, *correlation});
                }));
  for (NsysProcess& process : file_.processes()) {
    std::stable_sort(process.launches.begin(), process.launches.end(), [](const LaunchCall& a, const LaunchCall& b) {
      return a.correlation != b.correlation ? a.correlation < b.correlation : a.start < b.start;
    });
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
  const auto by_start = [](const ThreadCall& a, const ThreadCall& b) { return a.start < b.start; };
  for (auto& [id, thread] : by_thread_) {
    std::stable_sort(thread.records.begin(), thread.records.end(), by_start);
    std::stable_sort(thread.launches.begin(), thread.launches.end(), by_start);
  }
  return {};
}

Result<void> NsysRows::kernels() {
  Columns columns = with_device({"shortName", "demangledName", "mangledName", "graphId", "gridX", "gridY", "gridZ",
                                 "blockX", "blockY", "blockZ", "clusterX", "clusterY", "clusterZ", "registersPerThread",
                                 "staticSharedMemory", "dynamicSharedMemory"});
  const std::size_t own = columns.size();
  for (const std::string_view more :
       {"greenContextId", "launchType", "cacheConfig", "localMemoryPerThread", "localMemoryTotal", "gridId",
        "sharedMemoryExecuted", "sharedMemoryLimitConfig", "clusterSchedulingPolicy", "maxPotentialClusterSize",
        "maxActiveClusters", "sharedMemoryRequestedPercentage", "priority"})
    if (file_.tables().has("CUPTI_ACTIVITY_KIND_KERNEL", more)) columns.push_back(more);
  return each("CUPTI_ACTIVITY_KIND_KERNEL", columns, [&](const sqlite::Statement& row) {
    std::optional<Placed> placed = place(row, true);
    if (!placed) return;
    std::string_view names[3];
    for (int i = 0; i < 3; ++i) names[i] = row.is_null(first_own + i) ? "" : file_.text(row.text(first_own + i));
    std::string_view name = !names[0].empty() ? names[0] : !names[1].empty() ? names[1] : names[2];
    if (name.empty()) name = "kernel";
    placed->slice.name = rows_.name(name);
    placed->slice.family = kernel_family(names[1].empty() ? name : names[1]);
    const SliceId id = add(*placed);
    ++report_.kernels;
    KernelDetail detail{.slice = id, .correlation = placed->correlation};
    detail.graph = row.maybe_integer(first_own + 3);
    detail.graph_node = row.maybe_integer(7);
    detail.grid = dims(row, first_own + 4);
    detail.block = dims(row, first_own + 7);
    detail.cluster = dims(row, first_own + 10);
    detail.registers_per_thread = small(row, first_own + 13);
    detail.static_shared_bytes = small(row, first_own + 14);
    detail.dynamic_shared_bytes = small(row, first_own + 15);
    if (!names[1].empty()) detail.demangled_name = rows_.name(names[1]);
    rows_.add(detail);
    if (options_.args)
      if (std::string json = extras(row, columns, own); !json.empty()) rows_.add(ArgsDetail{id, std::move(json)});
    if (placed->slice.family != Family::Collective) return;
    const WideTime start = row.integer(0) * ps_per_ns;
    for (const CollectiveSpan& span : clocks_[placed->process].collectives) {
      if (span.start < start) continue;
      if (span.start > start) break;
      if (!span.matched || span.op != collective_op(name)) continue;
      CollectiveDetail found{.slice = id};
      found.communicator = rows_.name("unnamed");
      found.sequence = span.sequence;
      found.op = rows_.name(span.op.empty() ? "collective" : span.op);
      found.arrival_wait = span.arrival_wait;
      found.transfer = span.transfer;
      found.matched_by = span.matched_by;
      rows_.add(found);
      break;
    }
  });
}

Result<void> NsysRows::copies(bool memset) {
  const Columns columns = memset
                              ? with_device({"bytes", "value", "memKind"})
                              : with_device({"bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"});
  return each(memset ? "CUPTI_ACTIVITY_KIND_MEMSET" : "CUPTI_ACTIVITY_KIND_MEMCPY", columns,
              [&](const sqlite::Statement& row) {
                std::optional<Placed> placed = place(row, false);
                if (!placed) return;
                CopyDetail copy{.memset = memset, .correlation = placed->correlation};
                copy.graph_node = row.maybe_integer(7);
                copy.bytes = row.maybe_integer(first_own);
                if (memset) {
                  copy.memset_value = small(row, first_own + 1);
                  copy.destination_kind = small(row, first_own + 2);
                } else {
                  copy.copy_kind = small(row, first_own + 1);
                  copy.source_kind = small(row, first_own + 2);
                  copy.destination_kind = small(row, first_own + 3);
                  copy.source_device = small(row, first_own + 4);
                  copy.destination_device = small(row, first_own + 5);
                }
                placed->slice.name = rows_.name(memset ? "Memset" : copy_name(copy.copy_kind));
                placed->slice.family = Family::Memory;
                copy.slice = add(*placed);
                ++report_.copies;
                rows_.add(copy);
              });
}

Result<void> NsysRows::graph_launches() {
  return each(
      "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", with_device({"graphId", "graphExecId"}), [&](const sqlite::Statement& row) {
        std::optional<Placed> placed = place(row, false);
        if (!placed) return;
        placed->slice.name = rows_.name(fmt::format("CUDA graph {}", row.integer(first_own)));
        placed->slice.family = Family::Compute;
        const SliceId id = add(*placed);
        ++graph_launches_;
        rows_.add(KernelDetail{.slice = id, .correlation = placed->correlation, .graph = row.maybe_integer(first_own)});
      });
}

// syncType 1 event, 2 a stream waits for an event, 3 stream, 4 context.
Result<void> NsysRows::waits() {
  TRY_VOID(each("CUPTI_ACTIVITY_KIND_CUDA_EVENT", {"deviceId", "contextId", "streamId", "correlationId", "globalPid"},
                [&](const sqlite::Statement& row) {
                  const std::size_t at = position(file_.process(row.maybe_integer(4)));
                  recorded_on_[{at, row.integer(3)}] = {at, row.integer(0), row.integer(1), row.integer(2)};
                }));
  static constexpr std::string_view names[] = {"Synchronization", "Event Sync", "Stream Wait Event", "Stream Sync",
                                               "Context Sync"};
  return each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", with_device({"syncType", "eventId", "eventSyncId"}),
              [&](const sqlite::Statement& row) {
                NsysProcess& process = file_.process(row.maybe_integer(2));
                const std::size_t at = position(process);
                Slice slice{.family = Family::Stream};
                const auto span = this->span(row, at, slice.flags);
                if (!span) return;
                slice.start = span->first;
                slice.duration = span->second;
                const std::int64_t type = row.integer(first_own), number = row.integer(5);
                slice.name = rows_.name(type > 0 && type < 5 ? names[type] : names[0]);
                slice.step = process.step_at(slice.start - shifts_[at]);
                StreamKey key{at, row.integer(3), row.integer(4), number};
                if (const auto* working = working_stream(key)) key = working->first;
                const std::int64_t device = std::get<1>(key);
                // The host waits, or the stream does nothing: no work of the stream.
                const auto [track, added] = wait_tracks_.try_emplace(key);
                const bool all = number < 0 || number == all_streams;
                if (added)
                  track->second = rows_.add(Track{.rank = ranks_[at],
                                                  .kind = TrackKind::Host,
                                                  .name = all ? fmt::format("GPU {} waits", device)
                                                              : fmt::format("GPU {} stream {} waits", device, number),
                                                  .device = device,
                                                  .stream = all ? std::nullopt : std::optional(number)});
                slice.track = track->second;
                rows_.add(slice);
                if (type == 2 || type == 3) waits_.push_back({at, key, row.integer(6), type == 2, slice.end()});
              });
}

// eventType 59 push and pop, 60 start and end, 34 a mark; without the column, push and pop.
Result<void> NsysRows::ranges() {
  return each(
      "NVTX_EVENTS", {"start", "end", "globalTid", "text", "textId", "eventType"}, [&](const sqlite::Statement& row) {
        const std::int64_t type = row.is_null(5) ? 59 : row.integer(5);
        if (type != 59 && type != 60 && type != 34) return;
        if (type != 34 && row.is_null(1)) return count(problem_kinds::unbalanced);
        NsysProcess& process = file_.process(row.maybe_integer(2));
        const std::size_t at = position(process);
        Slice slice{.family = Family::Mark};
        if (type == 34 && row.is_null(1)) {
          const std::optional<Time> start = nsys_time(row.integer(0));
          if (!start) return count(problem_kinds::bad_row);
          slice.start = *start + shifts_[at];
        } else {
          const auto span = this->span(row, at, slice.flags);
          if (!span) return;
          slice.start = span->first;
          slice.duration = span->second;
        }
        const std::string_view name = row.is_null(3) ? file_.text(row.text(4)) : row.text(3).substr(0, most_text);
        slice.name = rows_.name(name.empty() ? "range" : name);
        slice.track = thread_track(at, row.integer(2), TrackKind::Range);
        slice.step = process.step_at(slice.start - shifts_[at]);
        rows_.add(slice);
      });
}

Result<void> NsysRows::counters() {
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> names;
  TRY_VOID(each("TARGET_INFO_GPU_METRICS", {"typeId", "metricId", "metricName"}, [&](const sqlite::Statement& row) {
    names.emplace(std::pair{row.integer(0), row.integer(1)}, row.text(2).substr(0, 256));
  }));
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> tracks;
  return each("GPU_METRICS", {"timestamp", "typeId", "metricId", "value"}, [&](const sqlite::Statement& row) {
    const std::optional<Time> time = nsys_time(row.integer(0));
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
  return each("DIAGNOSTIC_EVENT", {"severity", "text"}, [&](const sqlite::Statement& row) {
    const std::int64_t severity = row.integer(0);
    if ((severity != 2 && severity != 3) || said >= 20) return;
    ++said;
    problems_.say(problem_kinds::recorder_says, {.file = file_.path()}, row.text(1).substr(0, 500));
  });
}

void NsysRows::finish() {
  for (const auto& [key, on] : streams_) {
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

Result<void> NsysRows::read() {
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
