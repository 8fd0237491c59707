#include "workbench/open_run.h"

#include <set>

namespace stave {
namespace {

std::string first_line_name(std::string_view machine_text) {
  // The machine file's own `name = "..."`.
  const std::size_t key = machine_text.find("\nname = \"");
  if (key == std::string_view::npos) return "";
  const std::size_t begin = key + 9;
  return std::string(machine_text.substr(begin, machine_text.find('"', begin) - begin));
}

}  // namespace

RunLabel label_of(const StoredRun& run, const Timeline& timeline, const std::string& path) {
  std::set<std::uint32_t> steps;
  for (const StepSpan& step : timeline.steps()) steps.insert(step.step);
  const RunInfo& info = run.info;
  return {.label = info.label,
          .kind = std::string(name_of(info.kind)),
          .mode = info.mode,
          .file = path,
          .schedule = "",
          .schedule_sha256 = run.schedule_sha256,
          .machine = first_line_name(info.machine_text),
          .machine_sha256 = run.machine_sha256,
          .ranks_count = info.world_size,
          .steps_count = steps.size()};
}

Result<OpenedRun> open_run(const std::string& path, const std::optional<std::string>& label) {
  TRY(StoreReader reader, open_store(path));
  if (reader.runs().empty()) return error_at({.file = path}, "STV0709", "it holds no run");
  OpenedRun opened;
  opened.run = reader.runs().front();
  if (label) {
    TRY(opened.run, reader.run_labelled(*label));
  }
  TRY(opened.timeline, reader.load(opened.run.id));
  opened.problems = reader.problems();
  for (const TimelineProblem& problem : opened.timeline.problems())
    opened.problems.push_back(
        {problem.severity, problem.code, problem.message, {problem.file, problem.line, problem.column, 0, 0}, {}});
  opened.label = label_of(opened.run, opened.timeline, path);
  return opened;
}

}  // namespace stave
