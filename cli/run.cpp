#include <fmt/format.h>

#include <memory>

#include "cli/common.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "workbench/execute.h"

namespace stave::cli {
namespace {

struct RunOptions {
  std::string file;
  std::vector<std::string> params;
  std::string mode = "eager";
  ExecuteOptions execute;
  OutputOptions output;
};

// A full disk or a driver that gives up is not the input's fault.
int exit_code_of(const Problems& problems) {
  for (const Problem& problem : problems)
    if (problem.code == "STV0002") return exit_machine;
  return exit_input;
}

int run(RunOptions& options) {
  Result<ParamValues> params = params_of(options.params);
  if (!params) return fail(params.problems(), options.output, exit_input);
  options.execute.params = *std::move(params);
  options.execute.mode = *mode_named(options.mode);
  const Result<Schedule> schedule = open_checked(options.file, options.output);
  if (!schedule) return exit_input;
  ProgressLine line(options.output);
  options.execute.progress = &line.progress;
  if (!options.output.quiet) options.execute.note = [&](const Problem& problem) { line.say(to_text(problem)); };
  const Result<Executed> executed = execute(*schedule, options.execute);
  line.end();
  if (!executed && executed.problems()[0].code == "STV0950")
    return interrupted("STV0950", "nothing is kept: outputs are there only when all commands ran", options.output);
  if (!executed) return fail(executed.problems(), options.output, exit_code_of(executed.problems()), *schedule);
  if (options.output.json) {
    print(execute_json(*schedule, options.execute, *executed));
  } else if (executed->report.hang) {
    note(to_text(problem_of(*executed->report.hang), schedule->text));
  } else if (!options.output.quiet || !executed->as_expected()) {
    print(execute_text(*executed));
  }
  return executed->report.finished() && executed->as_expected() ? exit_ok : exit_finding;
}

}  // namespace

Run define_run(CLI::App& app) {
  auto options = std::make_shared<RunOptions>();
  app.add_option("FILE", options->file, "A schedule; - is standard input")->required();
  add_params(app, options->params);
  add_mode(app, options->mode);
  app.add_option("--backend", options->execute.backend, "What runs it: reference, or print for its golden text")
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
  add_output_options(app, options->output);
  return [options] { return run(*options); };
}

}  // namespace stave::cli
