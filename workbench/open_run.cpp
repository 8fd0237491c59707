#include "workbench/open_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "profiles/import/importer.h"

namespace stave {
namespace {

std::string first_line_name(std::string_view machine_text) {
  // The machine file's own `name = "..."`.
  const std::size_t key = machine_text.find("\nname = \"");
  if (key == std::string_view::npos) return "";
  const std::size_t begin = key + 9;
  return std::string(machine_text.substr(begin, machine_text.find('"', begin) - begin));
}

// Another tool's trace can be read, by another verb.
Problems with_import_hint(Problems problems, const std::string& path) {
  const std::string& code = problems[0].code;
  if (code == "STV0704")
    problems[0].message += fmt::format("; an export of Nsight Systems: stave import {} -o run.sqlite", path);
  if (code != "STV0703") return problems;
  if (const Result<const Importer*> importer = find_importer({&path, 1}); importer && *importer != nullptr)
    problems[0].message += fmt::format("; a trace is read by: stave import {} -o run.sqlite", path);
  return problems;
}

}  // namespace

RunLabel label_of(const StoredRun& run, const Timeline& timeline, const std::string& path) {
  std::set<std::uint32_t> steps;
  for (const StepSpan& step : timeline.steps()) steps.insert(step.step);
  std::set<std::uint32_t> ranks;
  for (const Track& track : timeline.tracks()) ranks.insert(track.rank);
  const RunInfo& info = run.info;
  return {.label = info.label,
          .kind = std::string(name_of(info.kind)),
          .mode = info.mode,
          .file = path,
          .schedule = "",
          .schedule_sha256 = run.schedule_sha256,
          .machine = first_line_name(info.machine_text),
          .machine_sha256 = run.machine_sha256,
          .ranks_count = ranks.size(),
          .world_ranks_count = std::max<std::size_t>(info.world_size, ranks.size()),
          .steps_count = steps.size()};
}

Result<OpenedRun> open_run(const std::string& path, const std::optional<std::string>& label) {
  Result<StoreReader> opened_store = open_store(path);
  if (!opened_store) return Failure(with_import_hint(opened_store.problems(), path));
  StoreReader reader = *std::move(opened_store);
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
