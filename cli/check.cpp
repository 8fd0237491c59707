#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"
#include "workbench/check.h"

namespace stave::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> params;
  std::string mode = "eager";
  bool strict = false;
  OutputOptions output;
};

int exit_code_of(const CheckReport& report, const CheckOptions& options) {
  return report.errors > 0 || (options.strict && report.warnings > 0) ? exit_finding : exit_ok;
}

int check_one(const std::string& file, const ParamValues& params, const CheckOptions& options) {
  const Result<Schedule> schedule = open_checked(file, options.output);
  if (!schedule) return exit_input;
  const CheckReport report = check_schedule(*schedule, params, *mode_named(options.mode));
  if (!options.output.quiet || report.errors > 0) {
    for (const Problem& problem : report.findings) note(to_text(problem, schedule->text));
    if (!options.output.quiet)
      print(fmt::format("{}: {}, errors: {}, warnings: {}\n", schedule->file, report.verdict(), report.errors,
                        report.warnings));
  }
  return exit_code_of(report, options);
}

// One document: of one file, of several, or of all problems if one cannot be read.
int check_to_json(const ParamValues& params, const CheckOptions& options) {
  std::vector<CheckedFile> files;
  Problems unreadable;
  int worst = exit_ok;
  for (const std::string& file : options.files) {
    Result<Schedule> schedule = open_schedule(file);
    if (!schedule) {
      unreadable.insert(unreadable.end(), schedule.problems().begin(), schedule.problems().end());
      continue;
    }
    CheckReport report = check_schedule(*schedule, params, *mode_named(options.mode));
    worst = std::max(worst, exit_code_of(report, options));
    files.push_back({*std::move(schedule), std::move(report)});
  }
  if (!unreadable.empty()) return fail(unreadable, options.output, exit_input);
  print(options.files.size() == 1 ? check_json(files[0]) : checks_json(files));
  return worst;
}

int check(const CheckOptions& options) {
  const Result<ParamValues> params = params_of(options.params);
  if (!params) return fail(params.problems(), options.output, exit_input);
  if (options.output.json) return check_to_json(*params, options);
  int worst = exit_ok;
  for (const std::string& file : options.files) worst = std::max(worst, check_one(file, *params, options));
  return worst;
}

}  // namespace

Run define_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->files, "Schedules; - is standard input")->required();
  add_params(app, options->params);
  add_mode(app, options->mode);
  app.add_flag("--strict", options->strict, "Exit 1 on warnings too");
  add_output_options(app, options->output);
  return [options] { return check(*options); };
}

}  // namespace stave::cli
