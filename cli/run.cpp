#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/common.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "core/base/utf8.h"
#include "executor/world.h"
#include "profiles/store_writer.h"
#include "workbench/check.h"
#include "workbench/execute.h"
#include "workbench/outputs.h"

namespace stave::cli {
namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> params;
  std::string mode = "eager";
  std::optional<std::string> output_file;
  std::string profile = "full";
  std::string progress = "boundary";
  double timeout_s = 60, duration_s = 0;
  ExecuteOptions execute;
  OutputOptions output;
  bool unchecked = false;
  bool elsewhere = false;  // another process of the run stores and prints
};

// CLI11's own says the range of a double.
CLI::Validator above_zero() {
  return {[](const std::string& text) {
            double value = 0;
            return CLI::detail::lexical_cast(text, value) && value > 0 ? std::string()
                                                                       : text + " is not a number above 0";
          },
          "above 0"};
}

// A full disk, a missing device or a driver that gives up is not the input's fault.
int exit_code_of(const Problems& problems) {
  static constexpr std::string_view codes[] = {"STV0002", "STV0701", "STV0820", "STV0821", "STV0823", "STV0824",
                                               "STV0825", "STV0826", "STV0827", "STV0828", "STV0829", "STV0831",
                                               "STV0940", "STV0941", "STV0942", "STV0943", "STV0944"};
  for (const Problem& problem : problems)
    if (std::ranges::find(codes, problem.code) != std::end(codes)) return exit_machine;
  return exit_input;
}

// Runs with a run file that grows while the recorder sends.
Result<Executed> execute_and_store(const Schedule& schedule, RunOptions& options) {
  if (!options.output_file || options.profile == "off") return execute(schedule, options.execute);
  if (options.elsewhere) {
    options.execute.record = true;
    return execute(schedule, options.execute);
  }
  TRY_VOID(check_output({"-o", *options.output_file, OutputKind::Run}, options.execute.replace));
  TRY(StoreWriter writer, StoreWriter::create(*options.output_file, measured_run(schedule, options.execute)));
  options.execute.timeline = &writer;
  Result<Executed> executed = execute(schedule, options.execute);
  if (executed && executed->report.finished()) {
    TRY_VOID(writer.close());
  } else if (!executed && executed.problems()[0].code == "STV0940") {
    writer.discard();
  }
  return executed;
}

// Of the checker, whose codes begin at 1000; what breaks a rule of the IR is told when it is executed. GPUs notice
// neither a race nor that ranks ask NCCL for different things: some such runs end, with other numbers.
Result<Findings> errors_of(const Schedule& schedule, const RunOptions& options) {
  TRY(CheckReport report,
      check_schedule(schedule, options.execute.params, options.execute.mode, options.execute.progress));
  std::erase_if(report.findings, [](const Finding& f) {
    return f.problem.severity != Severity::Error || !f.problem.code.starts_with("STV1") || !f.silenced.empty();
  });
  return std::move(report.findings);
}

int refuse(const Findings& errors, const Schedule& schedule, const RunOptions& options) {
  if (options.elsewhere) return exit_finding;
  if (options.output.json) {
    Problems problems;
    for (const Finding& finding : errors) problems.push_back(finding.problem);
    return fail(problems, options.output, exit_finding, schedule);
  }
  for (const Finding& finding : errors) note(to_text(finding, schedule.text));
  note("nothing was run, because `stave check` finds errors; --no-check runs it anyway\n");
  return exit_finding;
}

int run(RunOptions& options) {
  Result<ParamValues> params = params_of(options.params);
  if (!params) return fail(params.problems(), options.output, exit_input);
  options.execute.params = *std::move(params);
  options.execute.mode = *mode_named(options.mode);
  options.execute.duration = std::chrono::milliseconds(static_cast<std::int64_t>(options.duration_s * 1000));
  options.execute.profile = options.profile == "graph" ? Profile::Graph : Profile::Full;
  options.execute.name_hangs = options.progress == "command";
  options.execute.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000));
  if (options.profile == "graph" && options.mode == "eager")
    return usage_error("--profile graph records launches of a graph: it needs --mode captured or captured_serial",
                       options.output);
  if (options.output_file && options.execute.backend != "cuda")
    return usage_error(
        "-o stores what a GPU's recorder saw: it needs --backend cuda; `stave sim -o` stores a prediction",
        options.output);
  if (options.execute.backend == "cuda") {
    const Result<std::optional<WorldPlace>> place = world_place(::getenv);
    if (!place) return fail(place.problems(), options.output, exit_machine);
    options.elsewhere = *place && (*place)->process != 0;
    if (options.elsewhere) {
      options.execute.saves.clear();
      options.output.json = false;  // one document a run
    }
  }
  const Result<Schedule> schedule = open_checked(options.file, options.output);
  if (!schedule) return exit_input;
  ProgressLine line(options.output);
  options.execute.progress = &line.progress;
  if (options.execute.backend == "cuda" && !options.unchecked) {
    const Result<Findings> errors = errors_of(*schedule, options);
    if (!errors || !errors->empty()) line.end();
    if (!errors) return interrupted("STV0950", "nothing was run", options.output);
    if (!errors->empty()) return refuse(*errors, *schedule, options);
  }
  if (!options.output.quiet) options.execute.note = [&](const Problem& problem) { line.say(to_text(problem)); };
  const Result<Executed> executed = execute_and_store(*schedule, options);
  line.end();
  if (!executed && executed.problems()[0].code == "STV0950")
    return interrupted("STV0950", "nothing is kept: outputs are there only when all commands ran", options.output);
  if (!executed) return fail(executed.problems(), options.output, exit_code_of(executed.problems()), *schedule);
  if (options.elsewhere) {
    // The first process prints what all have.
  } else if (options.output.json) {
    print(execute_json(*schedule, options.execute, *executed));
  } else if (executed->report.hang) {
    note(to_text(problem_of(*executed->report.hang), schedule->text));
    if (options.output_file && options.profile != "off")
      note(fmt::format("what was recorded is in {}.partial\n", printable(*options.output_file)));
  } else if (!options.output.quiet || !executed->as_expected()) {
    print(execute_text(*executed));
  }
  // On a GPU a hang is what the watchdog saw, not a property of the schedule that was proven.
  if (executed->report.hang && options.execute.backend == "cuda") return exit_machine;
  return executed->report.finished() && executed->as_expected() ? exit_ok : exit_finding;
}

}  // namespace

Run define_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("FILE", options->file, "A schedule; - is standard input")->required();
  add_params(app, options->params);
  add_mode(app, options->mode);
  app.add_option("--backend", options->execute.backend, "What runs it: reference, cuda, or print for its golden text")
      ->capture_default_str();
  app.add_option(
         "--input", options->execute.inputs,
         "PARAMETER=random:SEED, iota, zeros, a number, true, false or FILE.npy; may be given again. Default: random:0")
      ->allow_extra_args(false);
  app.add_option("--save", options->execute.saves, "PARAMETER=FILE.npy: store an output, all ranks")
      ->allow_extra_args(false);
  app.add_option("--expect", options->execute.expects, "PARAMETER=FILE.npy: compare an output; exit 1 if it differs")
      ->allow_extra_args(false);
  app.add_option("--seed", options->execute.seed, "Another order among commands that may run now; 0: round robin")
      ->capture_default_str();
  app.add_option("-o,--output", options->output_file,
                 "Backend cuda: store what ran in this run file; a run file that is there is replaced")
      ->type_name("FILE");
  app.add_flag("-y,--yes", options->execute.replace, "With -o and --save: replace files of any kind");
  app.add_option("--profile", options->profile,
                 "Backend cuda, with -o: what is recorded through CUPTI: full, graph (one record for each launch of a "
                 "captured schedule, which disturbs it least), or off")
      ->check(CLI::IsMember({"full", "graph", "off"}))
      ->capture_default_str();
  app.add_flag_callback(
      "--no-profile", [options] { options->profile = "off"; }, "The same as --profile off");
  app.add_option("--warmup", options->execute.warmup, "Backend cuda: steps before those that count")
      ->capture_default_str();
  app.add_option("--repeat", options->execute.repeat, "Backend cuda: steps that count")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--duration", options->duration_s,
                 "Backend cuda: repeat for so many seconds, and at least --repeat times")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  app.add_flag(
      "--flush-l2", options->execute.flush_l2,
      "Backend cuda: before each step write a buffer of twice the L2 cache, so that no step finds its data there");
  app.add_flag("--no-check", options->unchecked,
               "Backend cuda: also run what `stave check` finds an error in: a race, a hang, ranks that disagree");
  app.add_option(
         "--progress", options->progress,
         "Backend cuda, captured: command adds marks around NCCL's commands, so that a hang names them and every "
         "step takes longer; eager runs name them anyway")
      ->check(CLI::IsMember({"boundary", "command"}))
      ->capture_default_str();
  app.add_option("--timeout", options->timeout_s,
                 "Backend cuda: seconds until a step that stands still is called a hang")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--ranks-per-device", options->execute.ranks_per_device,
                 "Backend cuda: ranks that share a GPU; 0: as few as the GPUs allow")
      ->capture_default_str();
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace stave::cli
