#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"
#include "workbench/check.h"

namespace stave::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::vector<std::string> params;
  std::string mode = "eager";
  bool strict = false;
  OutputOptions output;
};

int check_one(const std::string& file, const ParamValues& params, const Options& options) {
  const Result<Schedule> schedule = open_checked(file, options.output);
  if (!schedule) return exit_input;
  const CheckReport report = check_schedule(*schedule, params, *mode_named(options.mode));
  if (options.output.json) {
    print(check_json(*schedule, report));
  } else if (!options.output.quiet || report.errors > 0) {
    for (const Problem& problem : report.findings) note(to_text(problem, schedule->text));
    if (!options.output.quiet)
      print(fmt::format("{}: {}, errors: {}, warnings: {}\n", schedule->file, report.verdict(), report.errors,
                        report.warnings));
  }
  return report.errors > 0 || (options.strict && report.warnings > 0) ? exit_finding : exit_ok;
}

int check(const Options& options) {
  const Result<ParamValues> params = params_of(options.params);
  if (!params) return fail(params.problems(), options.output, exit_input);
  if (options.output.json && options.files.size() > 1)
    return usage_error("--json prints one document: give one file", options.output);
  int worst = exit_ok;
  for (const std::string& file : options.files) worst = std::max(worst, check_one(file, *params, options));
  return worst;
}

}  // namespace

Run define_check(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("FILE", options->files, "Schedules; - is standard input")->required();
  add_params(app, options->params);
  add_mode(app, options->mode);
  app.add_flag("--strict", options->strict, "Exit 1 on warnings too");
  add_output_options(app, options->output);
  return [options] { return check(*options); };
}

}  // namespace stave::cli
