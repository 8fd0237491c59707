#include "gui/draft.h"

#include <fmt/format.h>

#include "core/text/parse.h"
#include "workbench/units_text.h"

namespace stave::gui {
namespace {

std::optional<Problem> deadlock_problem(const PredictionSummary& summary, const Timeline& timeline,
                                        const std::string& file) {
  if (!summary.deadlock) return std::nullopt;
  Problem problem{Severity::Error,
                  "STV0890",
                  fmt::format("deadlock: nothing can go on after {}", duration_text(summary.deadlock->time)),
                  {.file = file},
                  {}};
  for (const Deadlock::WaitFor& w : summary.deadlock->cycle) {
    Place place{.file = file};
    for (const TimelineCommand& row : timeline.commands())
      if (row.key == w.command) place = {.file = file, .line = row.line, .column = row.column};
    if (problem.place.line == 0) problem.place = place;
    problem.notes.push_back(
        {fmt::format("rank {}{}{}: {}", w.rank, w.command.empty() ? "" : " at ", w.command, w.waits_for), place});
  }
  return problem;
}

RunInfo info_of(const Draft& draft, const Situation& situation, std::uint32_t ranks) {
  RunInfo info;
  info.label = "predicted";
  info.mode = name_of(draft.mode);
  info.world_size = ranks;
  info.tool = "stave";
  info.tool_version = STAVE_VERSION;
  info.schedule_text = draft.text;
  info.machine_text = situation.machine.text;
  info.edit = to_text(draft.edits);
  return info;
}

// The smallest machine with a device for each rank, of the same make if there is one.
std::string machine_for(std::size_t ranks, const std::string& instead_of) {
  const auto make_of = [](const std::string& name) { return name.substr(0, name.find('-')); };
  std::string best;
  int best_devices = 0;
  for (const MachineListing& listing : list_machines()) {
    const Result<Machine> machine = load_machine(listing.path);
    if (!machine || static_cast<std::size_t>(machine->devices()) < ranks) continue;
    const bool same = make_of(listing.name) == make_of(instead_of), best_same = make_of(best) == make_of(instead_of);
    if (!best.empty() && (best_same && !same)) continue;
    if (!best.empty() && same == best_same && machine->devices() >= best_devices) continue;
    best = listing.name;
    best_devices = machine->devices();
  }
  return best;
}

}  // namespace

Result<Outcome> predict_draft(Draft draft, const std::string& file, Known known, Progress& progress) {
  Outcome out;
  out.draft = std::move(draft);
  progress.begin("reading the schedule");
  if (!known.module) {
    Parsed parsed = parse_all(file, out.draft.text);
    if (!parsed.problems.empty()) {
      out.problems = std::move(parsed.problems);
      return out;
    }
    known.module = std::make_shared<const Module>(std::move(parsed.module));
  }
  out.module = known.module;
  if (!known.machine) {
    Result<Machine> machine = find_machine(out.draft.machine);
    if (!machine) {
      out.problems = machine.problems();
      return out;
    }
    known.machine = std::make_shared<const Machine>(*std::move(machine));
  }
  out.base_machine = known.machine;
  Result<Situation> situation = apply_edits({known.module, *known.machine, {}}, out.draft.edits);
  if (!situation) {
    out.problems = situation.problems();
    return out;
  }
  out.situation = *std::move(situation);
  SimulateOptions options;
  options.progress = &progress;
  options.counters = true;
  Result<SituationPrediction> predicted =
      predict(*out.situation, out.draft.mode, options, out.draft.sustained && out.situation->machine.energy);
  if (!predicted) {
    out.problems = predicted.problems();
    if (out.problems[0].code == "STV0854")
      if (const Result<Expansion> expansion = expand(known.module, {.params = out.situation->params}))
        out.larger_machine = machine_for(expansion->class_of_rank.size(), out.draft.machine);
    return out;
  }
  TRY_VOID(still_wanted(&progress));
  out.summary = std::move(predicted->prediction.summary);
  out.clock = predicted->clock;
  out.device_bytes = predicted->device_bytes;
  out.problems = out.summary.notes;
  if (std::optional<Problem> deadlock = deadlock_problem(out.summary, predicted->prediction.timeline, file))
    out.problems.insert(out.problems.begin(), *std::move(deadlock));
  Run run;
  run.title = file_name(file) + (out.draft.edits.empty() ? "" : " (what if)");
  run.file = file;
  run.origin = Origin::Predicted;
  run.info = info_of(out.draft, *out.situation, predicted->ranks);
  run.label = {.label = "predicted",
               .kind = "predicted",
               .mode = run.info.mode,
               .file = file,
               .schedule = file,
               .schedule_sha256 = "",
               .machine = out.situation->machine.name,
               .machine_sha256 = "",
               .ranks_count = predicted->ranks,
               .steps_count = 1};
  out.run = make_run(std::move(run), std::move(predicted->prediction.timeline));
  return out;
}

ParamValues params_of(const Draft& draft) {
  ParamValues params;
  for (const Edit& edit : draft.edits)
    if (const auto* param = std::get_if<ParamEdit>(&edit)) params.emplace_back(param->name, param->value);
  return params;
}

}  // namespace stave::gui
