#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/common.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "core/base/files.h"
#include "workbench/check.h"
#include "workbench/check_sarif.h"
#include "workbench/explain.h"
#include "workbench/outputs.h"
#include "workbench/scene_svg.h"
#include "workbench/units_text.h"

namespace stave::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> files;
  std::vector<std::string> params;
  std::string mode = "eager";
  bool strict = false;
  std::string sarif, explain;  // files to write; empty: none
  bool yes = false;
  OutputOptions output;
};

int exit_code_of(const CheckReport& report, const CheckOptions& options) {
  return report.errors > 0 || (options.strict && report.warnings > 0) ? exit_finding : exit_ok;
}

std::string summary(const std::string& file, const CheckReport& report) {
  std::string text =
      fmt::format("{}: {}, errors: {}, warnings: {}", file, report.verdict(), report.errors, report.warnings);
  if (report.silenced > 0) text += fmt::format(", silenced: {}", report.silenced);
  text += '\n';
  if (report.peak_device_bytes_shared && report.peak_device_bytes_shared < report.peak_device_bytes)
    text += fmt::format("{}: device memory {}, {} if scratch buffers that are never used together shared it\n", file,
                        bytes_text(*report.peak_device_bytes), bytes_text(*report.peak_device_bytes_shared));
  return text;
}

int cancelled(const Result<CheckReport>& report, const CheckOptions& options) {
  return interrupted(report.problems()[0].code, "the check was not finished", options.output);
}

// Known before the work begins.
Result<void> check_names(const CheckOptions& options) {
  if (!options.sarif.empty())
    TRY_VOID(check_output({"--sarif", options.sarif, OutputKind::Sarif}, options.yes, options.files));
  if (options.explain.empty()) return {};
  const OutputKind kind = is_page(options.explain) ? OutputKind::Page : OutputKind::Picture;
  return check_output({"--explain", options.explain, kind}, options.yes, options.files);
}

Result<void> write_outputs(const std::vector<CheckedFile>& files, const CheckOptions& options) {
  if (!options.sarif.empty()) TRY_VOID(write_file(options.sarif, check_sarif(files, STAVE_DOCS_URI)));
  if (options.explain.empty()) return {};
  const Explained found = to_explain(files);
  if (found.finding == nullptr) {
    if (!options.output.quiet && !options.output.json)
      note(fmt::format("nothing to draw, so {} is not written\n", options.explain));
    return {};
  }
  const std::string& source = found.file->schedule.text;
  return write_file(options.explain, is_page(options.explain) ? explain_html(*found.finding, source)
                                                              : scene_svg(*found.finding, source));
}

// Text, of one file. What was checked, or could not be opened, goes to `files`.
int check_one(const std::string& file, const ParamValues& params, const CheckOptions& options,
              std::vector<CheckedFile>& files) {
  Result<Schedule> schedule = open_checked(file, options.output);
  if (!schedule) {
    files.push_back(unopened(file, schedule.problems()));
    return exit_input;
  }
  ProgressLine line(options.output);
  Result<CheckReport> report = check_schedule(*schedule, params, *mode_named(options.mode), &line.progress);
  line.end();
  if (!report) return cancelled(report, options);
  if (!options.output.quiet || report->errors > 0) {
    for (const Finding& finding : report->findings)
      if (finding.silenced.empty()) note(to_text(finding, schedule->text));
    if (!options.output.quiet) print(summary(schedule->file, *report));
  }
  const int exit = exit_code_of(*report, options);
  files.push_back({*std::move(schedule), *std::move(report)});
  return exit;
}

// One document: of one file, or its problems if it cannot be read; or of several.
int check_to_json(const ParamValues& params, const CheckOptions& options) {
  std::vector<CheckedFile> files;
  Problems unreadable;
  int worst = exit_ok;
  for (const std::string& file : options.files) {
    Result<Schedule> schedule = open_schedule(file);
    if (!schedule) {
      unreadable.insert(unreadable.end(), schedule.problems().begin(), schedule.problems().end());
      files.push_back(unopened(file, schedule.problems()));
      continue;
    }
    ProgressLine line(options.output);
    Result<CheckReport> report = check_schedule(*schedule, params, *mode_named(options.mode), &line.progress);
    line.end();
    if (!report) return cancelled(report, options);
    worst = std::max(worst, exit_code_of(*report, options));
    files.push_back({*std::move(schedule), *std::move(report)});
  }
  if (const Result<void> written = write_outputs(files, options); !written)
    return fail(written.problems(), options.output, exit_machine);
  if (!unreadable.empty() && files.size() == 1) return fail(unreadable, options.output, exit_input);
  print(files.size() == 1 ? check_json(files[0]) : checks_json(files));
  return unreadable.empty() ? worst : std::max<int>(worst, exit_input);
}

int check_to_text(const ParamValues& params, const CheckOptions& options) {
  std::vector<CheckedFile> files;
  int worst = exit_ok;
  for (const std::string& file : options.files) {
    worst = std::max(worst, check_one(file, params, options, files));
    if (worst == exit_interrupted) return worst;
  }
  const Result<void> written = write_outputs(files, options);
  return written ? worst : fail(written.problems(), options.output, exit_machine);
}

int check(const CheckOptions& options) {
  const Result<ParamValues> params = params_of(options.params);
  if (!params) return fail(params.problems(), options.output, exit_input);
  if (const Result<void> names = check_names(options); !names)
    return fail(names.problems(), options.output, exit_input);
  return options.output.json ? check_to_json(*params, options) : check_to_text(*params, options);
}

}  // namespace

Run define_check(CLI::App& app) {
  auto options = std::make_shared<CheckOptions>();
  app.add_option("FILE", options->files, "Schedules; - is standard input")->required();
  add_params(app, options->params);
  add_mode(app, options->mode);
  app.add_flag("--strict", options->strict, "Exit 1 on warnings too");
  app.add_option("--sarif", options->sarif, "Write the findings as SARIF 2.1.0, for code scanning and editors")
      ->type_name("FILE.sarif");
  app.add_option("--explain", options->explain, "Draw the first deadlock or race: a picture (.svg) or a page (.html)")
      ->type_name("FILE.svg|.html");
  app.add_flag("-y,--yes", options->yes, "With --sarif and --explain: replace files of any kind");
  add_output_options(app, options->output);
  return [options] { return check(*options); };
}

}  // namespace stave::cli
