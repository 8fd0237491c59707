// What leaves the session: a schedule, a machine or a prediction as files; a run on the CPU or on GPUs.
#include <algorithm>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "gui/session.h"
#include "profiles/store_writer.h"
#include "workbench/execute.h"
#include "workbench/predict.h"

namespace stave::gui {

// As a file would say it: with chosen params and moved commands.
Schedule Session::schedule_of(const Outcome& outcome) const {
  Schedule schedule{schedule_file_, outcome.draft.text, sha256(outcome.draft.text), outcome.module};
  if (!outcome.situation) return schedule;
  if (outcome.situation->module != outcome.module) {
    schedule.module = outcome.situation->module;
    schedule.text = print(*schedule.module);
  }
  schedule.text = text_with_params(schedule, outcome.situation->params);
  schedule.sha256 = sha256(schedule.text);
  return schedule;
}

Result<void> Session::save_schedule(const std::string& file) {
  Draft now = draft();
  std::string text = now.text;
  const bool edited =
      std::ranges::any_of(now.edits, [](const Edit& edit) { return !std::holds_alternative<MachineEdit>(edit); });
  if (edited) {
    TRY(Module module, parse(schedule_file_, now.text));
    Edits edits = now.edits;
    std::erase_if(edits, [](const Edit& edit) { return std::holds_alternative<MachineEdit>(edit); });
    TRY(const Situation situation,
        apply_edits({std::make_shared<const Module>(std::move(module)), Machine{}, {}}, edits));
    const Schedule schedule{schedule_file_, print(*situation.module), "", situation.module};
    text = text_with_params(schedule, situation.params);
  }
  TRY_VOID(write_file(file, text));
  schedule_file_ = file;
  saved_text_ = text;
  // What the file says now is no edit any more.
  std::erase_if(now.edits, [](const Edit& edit) { return !std::holds_alternative<MachineEdit>(edit); });
  now.text = text;
  change(std::move(now));
  emit draft_changed();
  emit saved(QString::fromStdString(file));
  return {};
}

Result<void> Session::save_machine(const std::string& file) {
  if (!outcome_.situation) return error_at({.file = file}, "", "there is no machine yet: open a schedule first");
  TRY_VOID(write_file(file, outcome_.situation->machine.text));
  // The tables stand beside the machine file, wherever that is.
  const Machine& machine = outcome_.situation->machine;
  const auto folder_of = [](const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? std::string(".") : path.substr(0, slash);
  };
  if (folder_of(machine.file) != folder_of(file))
    for (const Table& table : machine.tables) {
      TRY(const std::string csv, read_file(folder_of(machine.file) + "/" + table.csv));
      TRY_VOID(write_file(folder_of(file) + "/" + table.csv, csv));
    }
  emit saved(QString::fromStdString(file));
  if (machine.links != machine.links_in_file && !machine.tables.empty())
    tell({{Severity::Warning,
           "",
           "the file has the edited links, but its tables of collectives were measured with the old ones and win over "
           "them: what is predicted with this file differs from what is shown here",
           {.file = file},
           {}}});
  return {};
}

void Session::save_run(const std::string& file) {
  if (!outcome_.run || !outcome_.situation) return;
  jobs_.start<bool>(
      "save",
      [outcome = outcome_, schedule = schedule_of(outcome_), file](Progress& progress) -> Result<bool> {
        PredictOptions options;
        options.machine = outcome.situation->machine.name;
        options.mode = outcome.draft.mode;
        options.sustained = outcome.draft.sustained;
        options.simulate.clock = outcome.clock;
        const Predicted predicted{.machine = outcome.situation->machine,
                                  .prediction = {*outcome.run->timeline, outcome.summary},
                                  .report = outcome.run->report,
                                  .options = options,
                                  .peak_device_bytes = outcome.device_bytes,
                                  .ranks = outcome.run->info.world_size};
        return save(schedule, predicted, file, {.replace = false, .progress = &progress});
      },
      [this, file](const Result<bool>& done) {
        if (!done) return tell(done.problems());
        emit saved(QString::fromStdString(file));
      });
}

void Session::execute() {
  if (!has_schedule_) return;
  output_ = "Running on the CPU reference...\n";
  emit output_changed();
  jobs_.start<std::string>(
      "execute",
      [draft = draft(), file = schedule_file_](Progress& progress) -> Result<std::string> {
        TRY(Module module, parse(file, draft.text));
        const Schedule schedule{file, draft.text, "", std::make_shared<const Module>(std::move(module))};
        ExecuteOptions options;
        options.params = params_of(draft);
        options.mode = draft.mode;
        options.progress = &progress;
        std::string notes;
        options.note = [&](const Problem& note) { notes += to_text(note); };
        TRY(const Executed executed, stave::execute(schedule, options));
        return notes + execute_text(executed);
      },
      [this](Result<std::string> text) {
        output_ = text ? QString::fromStdString(*text) : "It could not be run: see the problems.\n";
        emit output_changed();
        if (!text) tell(text.problems());
      });
}

void Session::execute_on_gpus() {
  if (!has_schedule_) return;
  output_ = "Running on GPUs...\n";
  emit output_changed();
  const std::string stored = scratch_.path().toStdString() + fmt::format("/measured{}.sqlite", ++measured_);
  jobs_.start<std::pair<RunPtr, std::string>>(
      "execute",
      [draft = draft(), file = schedule_file_, stored](Progress& progress) -> Result<std::pair<RunPtr, std::string>> {
        TRY(Module module, parse(file, draft.text));
        const Schedule schedule{file, draft.text, sha256(draft.text),
                                std::make_shared<const Module>(std::move(module))};
        ExecuteOptions options;
        options.backend = "cuda";
        options.params = params_of(draft);
        options.mode = draft.mode;
        options.warmup = 2;
        options.repeat = 5;
        options.progress = &progress;
        TRY(StoreWriter writer, StoreWriter::create(stored, measured_run(schedule, options)));
        options.timeline = &writer;
        const Result<Executed> executed = stave::execute(schedule, options);
        if (!executed) {
          writer.discard();
          return Failure(executed.problems());
        }
        if (executed->report.hang) return Failure(problem_of(*executed->report.hang));
        TRY_VOID(writer.close());
        TRY(RunPtr run, load_run({stored}, "", &progress));
        return std::pair{std::move(run), execute_text(*executed)};
      },
      [this](Result<std::pair<RunPtr, std::string>> done) {
        output_ = done ? QString::fromStdString(done->second) : "It could not be run: see the problems.\n";
        emit output_changed();
        if (!done) return tell(done.problems());
        add_run(done->first);
      });
}

}  // namespace stave::gui
