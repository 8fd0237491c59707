#include <algorithm>

#include "core/base/sha256.h"
#include "core/ir/interpret/number.h"
#include "core/ir/interpret/operand.h"
#include "workbench/execute.h"
#include "workbench/report_json.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

constexpr std::size_t shown_elements = 16;
constexpr std::size_t shown_ranks = 8;

std::string element_text(const Output& output, std::size_t i) {
  if (is_float(output.dtype)) return real_text(load_double(output.bytes, output.dtype, i), 6);
  return info_of(output.dtype).kind == DtypeKind::Signed
             ? fmt::format("{}", load_signed(output.bytes, output.dtype, i))
             : fmt::format("{}", load_unsigned(output.bytes, output.dtype, i));
}

std::string values_text(const Output& output) {
  const auto elements = static_cast<std::size_t>(elements_of(output.shape));
  std::string out;
  for (std::size_t i = 0; i < std::min(elements, shown_elements); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : " ", element_text(output, i));
  return out + (elements > shown_elements ? " ..." : "");
}

// Nearest rank: the smallest of the sorted times that so many per cent are not above.
Picoseconds at_percent(std::span<const Picoseconds> sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

std::vector<Picoseconds> sorted_of(std::span<const Picoseconds> times) {
  std::vector<Picoseconds> sorted(times.begin(), times.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// A device under load lowers its clock at its power limit: two H200s after some 30 ms of gemms, by a tenth
// (docs/benchmarks.md). Said where it cannot be noise: each of the last quarter took longer than any of the first, and
// their medians are a few per cent apart.
std::string drift_text(std::span<const Picoseconds> durations) {
  constexpr std::size_t fewest = 8;
  constexpr double noticed_pct = 3;
  if (durations.size() < fewest) return {};
  const std::vector<Picoseconds> first = sorted_of(durations.first(durations.size() / 4));
  const std::vector<Picoseconds> last = sorted_of(durations.last(durations.size() / 4));
  if (last.front() <= first.back()) return {};
  const std::optional<double> longer = percent(at_percent(last, 50) - at_percent(first, 50), at_percent(first, 50));
  if (!longer || *longer < noticed_pct) return {};
  return fmt::format(
      "the last quarter of the steps took {:.1f} % longer than the first: a GPU lowers its clock under load; "
      "--duration 1 shows more of what it keeps\n",
      *longer);
}

// "3 steps: median 12 us, least 11 us, p90 13 us"; empty without times.
std::string durations_text(const Executed& executed) {
  if (executed.durations.empty()) return {};
  const std::vector<Picoseconds> sorted = sorted_of(executed.durations);
  std::string text = fmt::format("{}: {} {}, median {}, min {}, p90 {}", executed.gpu, sorted.size(),
                                 sorted.size() == 1 ? "step" : "steps", duration_text(at_percent(sorted, 50)),
                                 duration_text(sorted.front()), duration_text(at_percent(sorted, 90)));
  if (!executed.issue.empty())
    text += fmt::format("; the host issues it in {}", duration_text(at_percent(sorted_of(executed.issue), 50)));
  return text + "\n" + drift_text(executed.durations);
}

std::string_view bytes_view(const Output& output) {
  return {reinterpret_cast<const char*>(output.bytes.data()), output.bytes.size()};
}

}  // namespace

RunInfo measured_run(const Schedule& schedule, const ExecuteOptions& options) {
  JsonWriter json;
  json.begin_object().field("backend", options.backend).field("warmup", options.warmup);
  json.field("repeat", options.repeat).field("ranks_per_device", options.ranks_per_device);
  json.field("profile", options.profile == Profile::Graph ? "graph" : "full")
      .field("flush_l2", options.flush_l2)
      .field("progress", options.name_hangs ? "command" : "boundary")
      .end_object();
  RunInfo info;
  info.label = "measured";
  info.kind = RunKind::Measured;
  info.mode = name_of(options.mode);
  info.tool = "stave";
  info.tool_version = STAVE_VERSION;
  info.options_json = std::move(json).finish();
  info.schedule_text = text_with_params(schedule, options.params);
  if (const Result<Expansion> expansion = expand_and_verify(schedule.module, {.params = options.params}))
    info.world_size = static_cast<std::uint32_t>(expansion->class_of_rank.size());
  return info;
}

std::string execute_text(const Executed& executed) {
  std::string out = executed.report.text + durations_text(executed);
  for (const Output& output : executed.outputs) {
    if (output.rank >= shown_ranks) continue;
    out += fmt::format("rank {}  {}: {}[{}] = {}\n", output.rank, output.parameter, name_of(output.dtype),
                       fmt::join(output.shape, ", "), values_text(output));
  }
  if (executed.ranks > shown_ranks) out += fmt::format("{} more ranks are not shown\n", executed.ranks - shown_ranks);
  for (const Expectation& e : executed.expectations)
    out += fmt::format("rank {}  {}: {}\n", e.rank, e.parameter, to_text(e.comparison));
  return out;
}

std::string execute_json(const Schedule& schedule, const ExecuteOptions& options, const Executed& executed) {
  JsonWriter json;
  Problems problems;
  if (executed.report.hang) problems.push_back(flattened(problem_of(*executed.report.hang)));
  begin_document(json, "stave.run/1", problems);
  json.field("file", schedule.file).field("schedule_sha256", schedule.sha256);
  json.field("backend", options.backend).field("mode", name_of(options.mode));
  json.field("ranks_count", executed.ranks).field("finished", executed.report.finished());
  json.key("params").begin_object();
  for (const auto& [name, value] : options.params) json.field(name, value);
  json.end_object();
  json.key("outputs").begin_array();
  for (const Output& output : executed.outputs) {
    json.begin_object().field("parameter", output.parameter).field("rank", output.rank);
    json.field("dtype", name_of(output.dtype)).key("shape").begin_array();
    for (const std::int64_t dim : output.shape) json.value(dim);
    json.end_array().field("sha256", sha256(bytes_view(output))).end_object();
  }
  json.end_array().key("durations_ps").begin_array();
  for (const Picoseconds d : executed.durations) json.value(d.count());
  json.end_array().key("issue_ps").begin_array();
  for (const Picoseconds d : executed.issue) json.value(d.count());
  json.end_array().key("expectations").begin_array();
  for (const Expectation& e : executed.expectations) {
    json.begin_object().field("parameter", e.parameter).field("rank", e.rank).field("equal", e.comparison.equal());
    json.field("mismatches_count", e.comparison.mismatches).field("max_abs", e.comparison.max_abs);
    json.field("max_rel", e.comparison.max_rel).field("tolerance", e.comparison.tolerance).end_object();
  }
  json.end_array().end_object();
  return std::move(json).finish();
}

}  // namespace stave
