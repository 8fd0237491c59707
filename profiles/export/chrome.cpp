// Chrome JSON with Kineto's conventions, so that what reads PyTorch's profiles
// reads it: process and thread of a GPU row are a rank and a stream, times are
// microseconds with the nanoseconds as decimals, launches are arrows "ac2g".
#include <fmt/format.h>

#include <cmath>

#include "core/base/json.h"
#include "profiles/export/exporter.h"
#include "profiles/export/json_members.h"
#include "profiles/export/lanes.h"
#include "profiles/export/output_file.h"
#include "profiles/kineto_categories.h"

namespace stave {
namespace {

constexpr std::uint32_t first_host_pid = 100000;  // above the ranks, whose GPUs have their number

std::string chrome_time(std::int64_t ns) {
  const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

bool is_device(const Track& track) {
  return track.kind == TrackKind::Stream || track.kind == TrackKind::CopyEngine || track.kind == TrackKind::Link;
}

KinetoKind kineto_kind_of(const SliceRow& row, const Track& track) {
  if (is_device(track)) {
    if (row.slice.family != Family::Memory) return KinetoKind::Kernel;
    return row.copy && row.copy->memset ? KinetoKind::Memset : KinetoKind::Copy;
  }
  if (track.kind == TrackKind::Range) return track.device ? KinetoKind::GpuRange : KinetoKind::Range;
  if (row.slice.family == Family::Stream && track.device) return KinetoKind::Sync;
  const bool call = row.slice.family == Family::HostApi || row.slice.family == Family::Stream;
  return call ? KinetoKind::Call : KinetoKind::Host;
}

class ChromeWriter {
 public:
  ChromeWriter(RunCursor& run, OutputFile& out, RunFlows flows, bool correlations)
      : run_(run), out_(out), flows_(std::move(flows)), correlations_(correlations), steps_(run) {}

  Result<void> write(const ExportOptions& options, ExportReport& report, Progress* progress) {
    head(options);
    TRY_VOID(run_.slices(RunCursor::Order::Tracks, true, progress, [&](const SliceRow& row) -> Result<void> {
      ++report.slices;
      slice(row);
      return {};
    }));
    report.edges = static_cast<std::int64_t>(flows_.size());
    steps_.count(report);
    TRY_VOID(run_.counters([&](const CounterSample& sample) -> Result<void> {
      if (!std::isfinite(sample.value)) {
        ++report.left_out["samples that are no number"];
        return {};
      }
      ++report.samples;
      const Track& track = run_.head().track(sample.track);
      const std::string name = json_quoted(track.name);
      event(fmt::format(R"("ph": "C", "name": {}, "pid": {}, "ts": {}, "args": {{{}: {}}})", name, track.rank,
                        chrome_time(floor_ns(sample.time)), name, sample.value));
      return {};
    }));
    out_ << "\n]}\n";
    return {};
  }

 private:
  void event(const std::string& members) {
    out_ << (first_ ? "\n{" : ",\n{") << members << "}";
    first_ = false;
  }
  void metadata(std::string_view what, std::uint32_t pid, std::optional<std::uint32_t> tid, const std::string& args) {
    event(fmt::format(R"("ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{{}}})", what, pid, tid.value_or(0),
                      args));
  }

  void head(const ExportOptions& options) {
    std::map<std::uint32_t, std::string> ranks;
    for (const Track& track : run_.head().tracks())
      if (run_.filter().has_rank(track.rank)) ranks[track.rank];
    for (const RankInfo& rank : run_.head().ranks())
      if (const auto at = ranks.find(rank.rank); at != ranks.end() && !rank.gpu.empty())
        at->second = fmt::format(" ({})", rank.gpu);
    out_ << fmt::format("{{\"schemaVersion\": 1, \"displayTimeUnit\": \"ns\", \"traceName\": {},\n",
                        json_quoted(options.title));
    if (options.base_unix_ns) out_ << fmt::format("\"baseTimeNanoseconds\": {},\n", *options.base_unix_ns);
    if (ranks.size() == 1)
      out_ << fmt::format("\"distributedInfo\": {{\"rank\": {}, \"world_size\": {}}},\n", ranks.begin()->first,
                          options.world_size);
    out_ << "\"traceEvents\": [";
    for (const auto& [rank, gpu] : ranks) {
      metadata("process_name", rank, {}, "\"name\": " + json_quoted(fmt::format("rank {} GPU{}", rank, gpu)));
      metadata("process_sort_index", rank, {}, fmt::format("\"sort_index\": {}", 2 * std::uint64_t{rank} + 1));
      metadata("process_name", first_host_pid + rank, {},
               "\"name\": " + json_quoted(fmt::format("rank {} host", rank)));
      metadata("process_sort_index", first_host_pid + rank, {},
               fmt::format("\"sort_index\": {}", 2 * std::uint64_t{rank}));
    }
  }

  static std::uint32_t pid_of(const Track& track) {
    return is_device(track) || (track.kind == TrackKind::Range && track.device) ? track.rank
                                                                                : first_host_pid + track.rank;
  }

  // A lane is a thread of its own: overlaps on one are read wrongly by all that read this.
  std::uint32_t thread_of(TrackId id, std::uint32_t lane) {
    const auto tracks = static_cast<std::uint32_t>(run_.head().tracks().size());
    const std::uint32_t tid = 1 + id.value + lane * tracks;
    if (lane >= lanes_named_) {
      const Track& track = run_.head().track(id);
      lanes_named_ = lane + 1;
      const std::string name = lane == 0 ? track.name : fmt::format("{}, overlap {}", track.name, lane);
      metadata("thread_name", pid_of(track), tid, "\"name\": " + json_quoted(name));
      metadata("thread_sort_index", pid_of(track), tid,
               fmt::format("\"sort_index\": {}", std::uint64_t{id.value} * 64 + std::min(lane, 63u)));
    }
    return tid;
  }

  // What joins a launch and its work: the run's own ids, or without any the call's slice.
  std::optional<std::int64_t> correlation_of(const SliceRow& row) const {
    if (correlations_) return row.correlation();
    if (const SliceId launch = flows_.launch_of(row.id)) return launch.value;
    return flows_.launches(row.id) ? std::optional<std::int64_t>(row.id.value) : std::nullopt;
  }

  std::string args_of(const SliceRow& row, const Track& track) {
    args_.clear();
    const auto put = [&](std::string_view key, const std::string& value) {
      args_ += fmt::format("{}\"{}\": {}", args_.empty() ? "" : ", ", key, value);
    };
    const auto number = [&](std::string_view key, const auto& maybe) {
      if (maybe) put(key, fmt::format("{}", *maybe));
    };
    const auto dims = [&](std::string_view key, const std::optional<LaunchDims>& maybe) {
      if (maybe) put(key, fmt::format("[{}, {}, {}]", (*maybe)[0], (*maybe)[1], (*maybe)[2]));
    };
    if (is_device(track)) {
      // A prediction's streams have numbers of their own rank; its devices are the ranks.
      put("device", fmt::format("{}", track.device.value_or(track.rank)));
      number("context", track.context);
      put("stream", fmt::format("{}", track.stream.value_or(row.slice.track.value)));
    }
    number("correlation", correlation_of(row));
    if (row.kernel) {
      number("graph id", row.kernel->graph);
      number("graph node id", row.kernel->graph_node);
      dims("grid", row.kernel->grid);
      dims("block", row.kernel->block);
      number("registers per thread", row.kernel->registers_per_thread);
    }
    if (row.copy) {
      number("graph node id", row.copy->graph_node);
      number("bytes", row.copy->bytes);
    }
    if (row.slice.command) put("command", json_quoted(run_.head().command(row.slice.command).key));
    if (row.slice.step) put("step", fmt::format("{}", row.slice.step.value));
    if (!row.args.empty()) {
      const std::string own = args_;
      each_json_member(row.args, [&](std::string_view key, std::string_view member) {
        if (own.find(std::string(key) + ": ") != std::string::npos) return;
        args_ += args_.empty() ? "" : ", ";
        args_ += member;
      });
    }
    const bool described = row.args.find("\"Collective name\"") != std::string_view::npos ||
                           row.args.find("\"Process Group Name\"") != std::string_view::npos;
    if (row.collective && !described) {
      const CollectiveDetail& detail = *row.collective;
      put("Collective name", json_quoted(run_.head().text(detail.op)));
      put("Process Group Name", json_quoted(run_.head().text(detail.communicator)));
      if (detail.ranks > 0) put("Group size", fmt::format("{}", detail.ranks));
      put("Seq", fmt::format("{}", detail.sequence));
      if (detail.dtype) put("dtype", json_quoted(run_.head().text(detail.dtype)));
      number("In msg nelems", detail.count);
    }
    return args_;
  }

  void slice(const SliceRow& row) {
    const Track& track = run_.track(row.slice);
    steps_.see(row, track);
    if (row.slice.track != current_) {
      current_ = row.slice.track;
      lanes_named_ = 0;
      places_ = Lanes(!is_device(track));
    }
    const std::int64_t start = floor_ns(row.slice.start), end = floor_ns(row.slice.end());
    const std::uint32_t pid = pid_of(track), tid = thread_of(row.slice.track, places_.place(start, end).lane);
    event(
        fmt::format(R"("ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {{{}}})",
                    kineto_category(kineto_kind_of(row, track)), json_quoted(row.name), pid, tid, chrome_time(start),
                    chrome_time(end - start), args_of(row, track)));
    const auto arrow = [&](std::string_view phase, const SliceFlow& flow) {
      const bool launch = flow.kind == FlowKind::Launch;
      event(fmt::format(R"("ph": "{}", "cat": "{}", "name": "{}", "id": {}, "pid": {}, "tid": {}, "ts": {}{})", phase,
                        launch ? "ac2g" : "async_wait", launch ? "ac2g" : name_of(flow.kind),
                        flows_.number(flow) + std::uint64_t{1}, pid, tid, chrome_time(start),
                        phase == "f" ? R"(, "bp": "e")" : ""));
    };
    for (const SliceFlow& flow : flows_.from(row.id)) arrow("s", flow);
    for (const std::uint32_t flow : flows_.to(row.id)) arrow("f", flows_.flow(flow));
  }

  RunCursor& run_;
  OutputFile& out_;
  RunFlows flows_;
  bool correlations_;
  StepRanges steps_;
  bool first_ = true;
  std::string args_;
  TrackId current_{};
  std::uint32_t lanes_named_ = 0;
  Lanes places_{false};
};

}  // namespace

Result<ExportReport> export_chrome(RunCursor& run, const ExportOptions& options, const std::string& path,
                                   Progress* progress) {
  ExportReport report;
  TRY(RunFlows flows, run.flows());
  TRY(const bool correlations, run.has_correlations());
  TRY(OutputFile out, OutputFile::create(path));
  ChromeWriter writer(run, out, std::move(flows), correlations);
  TRY_VOID(writer.write(options, report, progress));
  TRY_VOID(out.close());
  return report;
}

}  // namespace stave
