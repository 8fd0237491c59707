#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/common.h"
#include "cli/verbs.h"
#include "core/base/files.h"
#include "core/base/utf8.h"
#include "workbench/compare_rows.h"
#include "workbench/fail_above.h"
#include "workbench/open_run.h"
#include "workbench/outputs.h"
#include "workbench/report_html.h"
#include "workbench/report_text.h"

namespace stave::cli {
namespace {

struct ReportOptions {
  std::string file;
  std::optional<std::string> run;
  std::string window;
  std::vector<std::string> fail_above;
  std::size_t rows = 10;
  std::string html;
  bool yes = false;
  OutputOptions output;
};

int report(const ReportOptions& options) {
  if (!options.html.empty()) {
    const Result<void> free = check_output({"--html", options.html, OutputKind::Page}, options.yes, {&options.file, 1});
    if (!free) return fail(free.problems(), options.output, exit_input);
  }
  Result<OpenedRun> opened = open_run(options.file, options.run);
  if (!opened) return fail(opened.problems(), options.output, exit_input);
  Result<Window> window = window_of(opened->timeline, options.window);
  if (!window) return fail(window.problems(), options.output, exit_input);
  const TimelineIndex index(opened->timeline);
  const Report made = make_report(index, *std::move(window), opened->run.info.kind);
  Problems exceeded;
  for (const std::string& text : options.fail_above) {
    Result<std::pair<std::string, std::string>> limit = split_assignment("--fail-above", text);
    if (!limit) return fail(limit.problems(), options.output, exit_input);
    Result<std::optional<Problem>> judged = above_limit(made, limit->first, limit->second);
    if (!judged) return fail(judged.problems(), options.output, exit_input);
    if (*judged) exceeded.push_back(**judged);
  }
  Problems problems = opened->problems;
  const Problems others = other_steps(index, made.window, options.file);
  problems.insert(problems.end(), others.begin(), others.end());
  problems.insert(problems.end(), exceeded.begin(), exceeded.end());
  if (!options.html.empty()) {
    const Result<void> written = write_file(options.html, report_html(index, made, opened->label, problems));
    if (!written) return fail(written.problems(), options.output, exit_machine);
  }
  if (options.output.json) {
    print(report_json(opened->timeline, made, opened->label, problems));
  } else {
    print_problems(problems, options.output);
    if (!options.output.quiet) {
      print(fmt::format("run       {} ({})\n", printable(opened->label.label),
                        printable(run_words(opened->label, made.ranks))));
      print(report_text(opened->timeline, made, {.rows = options.rows}));
      if (!options.html.empty()) print(fmt::format("\nwritten to {}\n", printable(options.html)));
    }
  }
  return exceeded.empty() ? exit_ok : exit_finding;
}

}  // namespace

Run define_report(CLI::App& app) {
  auto options = std::make_shared<ReportOptions>();
  app.add_option("FILE", options->file, "A run file")->required();
  app.add_option("--run", options->run, "The label of a run, where the file holds several");
  app.add_option("--window", options->window, "step:3, range:NAME, or two times: 1.2ms..1.3ms");
  app.add_option("--rows", options->rows, "Rows of each table")->check(CLI::Range(0, 1000000))->capture_default_str();
  app.add_option("--html", options->html, "Also write the report as one page with charts and a timeline to zoom")
      ->type_name("FILE.html");
  app.add_flag("-y,--yes", options->yes, "With --html: replace a file of any kind");
  app.add_option("--fail-above", options->fail_above,
                 "METRIC=LIMIT: exit 1 if makespan_ps, step_median_ps, exposed_communication_ps or arrival_wait_ps is "
                 "above it; LIMIT is a time, as 1.5ms, or picoseconds")
      ->allow_extra_args(false);
  add_output_options(app, options->output);
  return [options] { return report(*options); };
}

}  // namespace stave::cli
