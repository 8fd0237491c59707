#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/common.h"
#include "cli/verbs.h"
#include "core/base/files.h"
#include "workbench/fail_above.h"
#include "workbench/html_parts.h"
#include "workbench/open_run.h"
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
  OutputOptions output;
};

int report(const ReportOptions& options) {
  Result<OpenedRun> opened = open_run(options.file, options.run);
  if (!opened) return fail(opened.problems(), options.output, exit_input);
  Result<Window> window = window_of(opened->timeline, options.window);
  if (!window) return fail(window.problems(), options.output, exit_input);
  const TimelineIndex index(opened->timeline);
  const Report made = make_report(index, *std::move(window));
  Problems exceeded;
  for (const std::string& text : options.fail_above) {
    Result<std::pair<std::string, std::string>> limit = split_assignment("--fail-above", text);
    if (!limit) return fail(limit.problems(), options.output, exit_input);
    Result<std::optional<Problem>> judged = above_limit(made, limit->first, limit->second);
    if (!judged) return fail(judged.problems(), options.output, exit_input);
    if (*judged) exceeded.push_back(**judged);
  }
  Problems problems = opened->problems;
  problems.insert(problems.end(), exceeded.begin(), exceeded.end());
  if (!options.html.empty()) {
    if (Result<void> free = check_page_output(options.html); !free)
      return fail(free.problems(), options.output, exit_input);
    const Result<void> written = write_file(options.html, report_html(index, made, opened->label, problems));
    if (!written) return fail(written.problems(), options.output, exit_machine);
  }
  if (options.output.json) {
    print(report_json(opened->timeline, made, opened->label, problems));
  } else {
    for (const Problem& problem : problems) note(to_text(problem));
    if (!options.output.quiet) {
      print(fmt::format("run       {} ({}{}{})\n", opened->label.label, opened->label.kind,
                        opened->label.mode.empty() ? "" : ", ", opened->label.mode));
      print(report_text(opened->timeline, made, {.rows = options.rows}));
      if (!options.html.empty()) print(fmt::format("\nwritten to {}\n", options.html));
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
  app.add_option("--rows", options->rows, "Rows of each table")->capture_default_str();
  app.add_option("--html", options->html, "Also write the report as one page with charts and a timeline to zoom")
      ->type_name("FILE");
  app.add_option("--fail-above", options->fail_above,
                 "METRIC=LIMIT: exit 1 if makespan_ps, exposed_communication_ps or arrival_wait_ps is above it")
      ->allow_extra_args(false);
  add_output_options(app, options->output);
  return [options] { return report(*options); };
}

}  // namespace stave::cli
