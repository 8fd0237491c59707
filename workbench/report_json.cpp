#include "workbench/report_json.h"

#include "analysis/path_sections.h"

namespace stave {
namespace {

void write_place(JsonWriter& json, const Place& place) {
  json.field("file", unless_empty(place.file));
  json.field("line", unless_zero(place.line)).field("column", unless_zero(place.column));
}

std::optional<std::int64_t> count_of(std::optional<Picoseconds> time) {
  return time ? std::optional(time->count()) : std::nullopt;
}

}  // namespace

std::optional<std::uint32_t> unless_zero(std::uint32_t value) {
  return value == 0 ? std::nullopt : std::optional<std::uint32_t>(value);
}

void write_problems(JsonWriter& json, const Problems& problems) {
  json.key("problems").begin_array();
  for (const Problem& problem : problems) {
    json.begin_object();
    json.field("code", unless_empty(problem.code)).field("severity", name_of(problem.severity)).field("count", 1);
    json.field("message", problem.message);
    write_place(json, problem.place);
    json.key("byte").null();
    json.end_object();
  }
  json.end_array();
}

Problem flattened(Problem problem) {
  for (const Note& note : problem.notes) problem.message += "\n  " + note.message;
  problem.notes.clear();
  return problem;
}

void begin_document(JsonWriter& json, std::string_view schema, const Problems& problems) {
  json.begin_object();
  json.field("schema", schema).field("stave_version", STAVE_VERSION);
  write_problems(json, problems);
}

std::string error_json(const Problems& problems) {
  JsonWriter json;
  begin_document(json, "stave.error/1", problems);
  json.end_object();
  return std::move(json).finish();
}

void write_run(JsonWriter& json, const RunLabel& run) {
  json.begin_object();
  json.field("label", unless_empty(run.label))
      .field("kind", unless_empty(run.kind))
      .field("mode", unless_empty(run.mode));
  json.field("file", unless_empty(run.file)).field("schedule", unless_empty(run.schedule));
  json.field("schedule_sha256", unless_empty(run.schedule_sha256));
  json.field("machine", unless_empty(run.machine)).field("machine_sha256", unless_empty(run.machine_sha256));
  json.field("ranks_count", run.ranks_count).field("steps_count", run.steps_count);
  json.field("world_ranks_count", run.world_ranks_count);
  json.end_object();
}

void write_ranks(JsonWriter& json, const Report& report) {
  json.key("ranks").begin_array();
  for (const RankUse& use : report.ranks) {
    json.begin_object();
    json.field("rank", use.rank).field("end_ps", use.end.count());
    json.field("compute_ps", use.compute.count()).field("communication_ps", use.communication.count());
    json.field("copy_ps", use.copy.count()).field("overlap_ps", use.overlap.count());
    json.field("overlap_pct", percent(use.overlap, use.communication));
    json.field("exposed_communication_ps", use.exposed_communication.count());
    json.field("arrival_wait_ps", count_of(report.arrival_wait(use)))
        .field("residence_wait_ps", use.residence_wait.count());
    json.field("transfer_ps", use.transfer.count()).field("busy_ps", use.busy.count());
    json.field("busy_pct", percent(use.busy, report.makespan));
    json.field("idle_host_ps", use.idle_host.count()).field("idle_event_ps", use.idle_event.count());
    json.field("idle_arrival_ps", use.idle_arrival.count()).field("idle_other_ps", use.idle_other.count());
    json.field("peak_device_bytes", use.peak_device_bytes);
    json.key("streams").begin_array();
    for (const StreamUse& stream : use.streams) {
      json.begin_object();
      json.field("stream", stream.stream).field("busy_ps", stream.busy.count());
      json.field("commands_count", stream.commands);
      json.end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void write_path(JsonWriter& json, const Timeline& timeline, const Report& report) {
  // An eager program's path has a part for each operator of its threads: 80,000 in half a second.
  constexpr std::size_t most_sections = 1000;
  json.key("critical_path").begin_array();
  for (const PathSection& section : path_sections(timeline, report.critical_path, most_sections)) {
    const PathPart& part = section.part;
    const Slice& slice = timeline.slice(part.slice);
    const Track& track = timeline.track(slice.track);
    json.begin_object();
    json.key("command");
    if (slice.command) {
      json.value(timeline.command(slice.command).key);
    } else {
      json.value(timeline.text(slice.name));
    }
    json.field("rank", track.rank).field("stream", track.name).field("kind", name_of(part.kind));
    json.field("start_ps", part.start.count()).field("duration_ps", part.duration.count());
    json.field("certainty", name_of(part.certainty));
    json.field("parts_count", section.parts).field("gap_ps", section.gap.count());
    json.end_object();
  }
  json.end_array();
}

std::string report_json(const Timeline& timeline, const Report& report, const RunLabel& run, const Problems& problems) {
  JsonWriter json;
  begin_document(json, "stave.report/1", problems);
  json.key("run");
  write_run(json, run);
  json.key("window").begin_object();
  json.field("kind", report.window.kind).field("label", unless_empty(report.window.label));
  json.field("start_ps", report.window.span.begin.count()).field("end_ps", report.window.span.end.count()).end_object();
  json.field("makespan_ps", report.makespan.count());
  json.key("steps").begin_array();
  for (const StepTime& step : report.steps) {
    json.begin_object().field("step", step.step).field("phase", name_of(step.phase));
    json.field("duration_ps", step.duration.count());
    json.field("exposed_communication_ps", step.exposed_communication.count()).end_object();
  }
  json.end_array();
  json.field("step_median_ps", count_of(report.step_median)).field("step_p90_ps", count_of(report.step_p90));
  json.field("worst_rank", report.worst_rank);
  const RankUse* worst = report.worst();
  json.field("overlap_pct", worst ? percent(worst->overlap, worst->communication) : std::nullopt);
  json.field("exposed_communication_ps",
             worst ? std::optional<std::int64_t>(worst->exposed_communication.count()) : std::nullopt);
  write_ranks(json, report);
  json.key("kernels").begin_array();
  for (const KernelReport& kernel : report.kernels) {
    json.begin_object().field("name", kernel.name).field("family", name_of(kernel.family));
    json.field("calls_count", kernel.calls).field("total_ps", kernel.total.count());
    json.field("median_ps", kernel.median.count()).field("p90_ps", kernel.p90.count());
    json.field("share_pct", kernel.share_pct).end_object();
  }
  json.end_array().key("ranges").begin_array();
  for (const RangeReport& range : report.ranges) {
    json.begin_object().field("name", range.name).field("calls_count", range.calls).field("gpu_ps", range.gpu.count());
    json.field("exposed_communication_ps", range.exposed_communication.count()).end_object();
  }
  json.end_array().key("collectives").begin_array();
  for (const CollectiveReport& at : report.collectives) {
    json.begin_object().field("communicator", at.communicator).field("sequence", at.sequence).field("op", at.op);
    json.field("bytes", at.bytes).field("ranks_count", at.ranks).field("first_arrival_ps", at.first_arrival.count());
    json.field("last_rank", at.last_rank).field("arrival_wait_ps", count_of(at.arrival_wait));
    json.field("transfer_ps", count_of(at.transfer)).field("duration_ps", at.duration.count());
    json.field("algorithm_bytes_per_s", at.algorithm_bytes_per_s);
    json.field("bus_bytes_per_s", at.bus_bytes_per_s).field("matched_by", name_of(at.matched_by)).end_object();
  }
  json.end_array().key("graphs").begin_array();
  for (const GraphReport& graph : report.graphs) {
    json.begin_object().field("graph", graph.graph).field("launches_count", graph.launches);
    json.field("nodes_count", graph.nodes).field("median_ps", graph.median.count()).end_object();
  }
  json.end_array();
  write_path(json, timeline, report);
  json.key("edges").begin_object();
  for (const Certainty certainty :
       {Certainty::Recorded, Certainty::Inferred, Certainty::Possible, Certainty::Declared, Certainty::Predicted})
    json.field(std::string(name_of(certainty)) + "_count", report.edges[static_cast<std::size_t>(certainty)]);
  json.field("dropped_count", 0).end_object();
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stave
