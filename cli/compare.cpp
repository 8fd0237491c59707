#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/common.h"
#include "cli/verbs.h"
#include "core/base/files.h"
#include "core/base/utf8.h"
#include "workbench/compare_html.h"
#include "workbench/compare_json.h"
#include "workbench/compare_text.h"
#include "workbench/fail_above.h"
#include "workbench/open_run.h"
#include "workbench/outputs.h"

namespace stave::cli {
namespace {

struct CompareOptions {
  std::string a, b;
  std::optional<std::string> run_a, run_b;
  std::string window;
  std::vector<std::string> fail_above;
  std::size_t rows = 12;
  bool all = false;
  std::string html;
  bool yes = false;
  OutputOptions output;
};

int compare_runs(const CompareOptions& options) {
  if (!options.html.empty()) {
    const std::string inputs[] = {options.a, options.b};
    const Result<void> free = check_output({"--html", options.html, OutputKind::Page}, options.yes, inputs);
    if (!free) return fail(free.problems(), options.output, exit_input);
  }
  const Result<OpenedRun> a = open_run(options.a, options.run_a);
  if (!a) return fail(a.problems(), options.output, exit_input);
  const Result<OpenedRun> b = open_run(options.b, options.run_b);
  if (!b) return fail(b.problems(), options.output, exit_input);
  const TimelineIndex index_a(a->timeline), index_b(b->timeline);
  const Result<Comparison> made =
      compare({.index = &index_a, .kind = a->run.info.kind, .file = options.a},
              {.index = &index_b, .kind = b->run.info.kind, .file = options.b}, options.window);
  if (!made) return fail(made.problems(), options.output, exit_input);
  Problems exceeded;
  for (const std::string& text : options.fail_above) {
    Result<std::pair<std::string, std::string>> limit = split_assignment("--fail-above", text);
    if (!limit) return fail(limit.problems(), options.output, exit_input);
    Result<std::optional<Problem>> judged = above_limit(*made, limit->first, limit->second);
    if (!judged) return fail(judged.problems(), options.output, exit_input);
    if (*judged) exceeded.push_back(**judged);
  }
  Problems problems = a->problems;
  for (const Problems& more : {b->problems, made->problems, exceeded})
    problems.insert(problems.end(), more.begin(), more.end());
  if (!options.html.empty()) {
    const Result<void> written = write_file(options.html, compare_html(*made, a->label, b->label, problems));
    if (!written) return fail(written.problems(), options.output, exit_machine);
  }
  if (options.output.json) {
    print(compare_json(*made, a->label, b->label, problems, options.all));
  } else {
    print_problems(problems, options.output);
    if (!options.output.quiet) {
      print(compare_text(*made, a->label, b->label, {.rows = options.rows}));
      if (!options.html.empty()) print(fmt::format("\nwritten to {}\n", printable(options.html)));
    }
  }
  return exceeded.empty() ? exit_ok : exit_finding;
}

}  // namespace

Run define_compare(CLI::App& app) {
  auto options = std::make_shared<CompareOptions>();
  app.add_option("A", options->a, "A run file: what was")->required();
  app.add_option("B", options->b, "A run file: what is held against it; differences are B - A")->required();
  app.add_option("--run-a", options->run_a, "The label of a run, where A holds several")->type_name("NAME");
  app.add_option("--run-b", options->run_b, "The label of a run, where B holds several")->type_name("NAME");
  app.add_option("--window", options->window,
                 "step:3, range:NAME, or two times: 1.2ms..1.3ms; without it the step of median duration in each run, "
                 "or all of both");
  app.add_option("--rows", options->rows, "Rows of the waterfall")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_flag("--all", options->all, "With --json: every matched slice, in commands[]");
  app.add_option("--html", options->html, "Also write the comparison as one page with charts and both timelines")
      ->type_name("FILE.html");
  app.add_flag("-y,--yes", options->yes, "With --html: replace a file of any kind");
  app.add_option("--fail-above", options->fail_above,
                 "METRIC=LIMIT: exit 1 if delta_ps (as 20us, or picoseconds), delta_pct, abs_delta_pct, slower_pct (0 "
                 "unless B is slower by more "
                 "than the noise), only_a_count or only_b_count is above it")
      ->allow_extra_args(false);
  add_output_options(app, options->output);
  return [options] { return compare_runs(*options); };
}

}  // namespace stave::cli
