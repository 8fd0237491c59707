#include <fmt/format.h>

#include <memory>

#include "cli/common.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "workbench/import.h"

namespace stave::cli {
namespace {

struct ImportVerbOptions {
  ImportJob job;
  bool strict = false;
  bool no_args = false;
  OutputOptions output;
};

int import(ImportVerbOptions& options) {
  ImportJob& job = options.job;
  job.options.args = !options.no_args;
  ProgressLine line(options.output);
  const Result<Imported> imported = import_traces(job, &line.progress);
  line.end();
  if (!imported) {
    const Problem& first = imported.problems()[0];
    if (first.code == "STV0950")
      return interrupted("STV0950",
                         fmt::format("what was read is kept in {}.partial; `stave report` reads it", job.output),
                         options.output);
    return fail(imported.problems(), options.output, is_output_problem(first, job) ? exit_machine : exit_input);
  }
  if (options.output.json) {
    print(import_json(*imported, job));
  } else if (!options.output.quiet) {
    for (const TimelineProblem& problem : imported->report.problems)
      note(to_text({problem.severity, problem.code, problem.message, {.file = problem.file}, {}}));
    print(import_text(*imported, job));
  }
  return options.strict && imported->report.data_lost ? exit_finding : exit_ok;
}

}  // namespace

Run define_import(CLI::App& app) {
  auto options = std::make_shared<ImportVerbOptions>();
  std::string formats;
  for (const Importer& importer : importers()) formats += fmt::format("\n{}: {}", importer.name, importer.summary);
  app.add_option("FILE", options->job.files, "Traces; several files are several ranks." + formats)->required();
  app.add_option("-o,--output", options->job.output, "The run file to write; a run file that is there is replaced")
      ->type_name("FILE")
      ->required();
  app.add_option("--label", options->job.options.label, "The run's name in the file")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--strict", options->strict, "Exit 1 if something of the traces was lost");
  app.add_flag("--with-nsys", options->job.with_nsys, "Run `nsys export` for .nsys-rep files");
  app.add_flag("--no-args", options->no_args, "Leave out the events' own arguments: a smaller file");
  app.add_flag("-y,--yes", options->job.replace, "Replace an output of any kind");
  add_output_options(app, options->output);
  return [options] { return import(*options); };
}

}  // namespace stave::cli
