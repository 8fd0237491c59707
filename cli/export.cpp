#include <fmt/format.h>

#include <memory>

#include "cli/common.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "workbench/export.h"

namespace stave::cli {
namespace {

struct ExportVerbOptions {
  ExportJob job;
  OutputOptions output;
};

int export_verb(const ExportVerbOptions& options) {
  const ExportJob& job = options.job;
  ProgressLine line(options.output);
  const Result<Exported> exported = export_run(job, &line.progress);
  line.end();
  if (!exported) {
    const Problem& first = exported.problems()[0];
    if (first.code == "STV0950") return interrupted("STV0950", "nothing is kept", options.output);
    return fail(exported.problems(), options.output, is_output_problem(first, job) ? exit_machine : exit_input);
  }
  if (options.output.json) {
    print(export_json(*exported, job));
  } else if (!options.output.quiet) {
    for (const Problem& problem : exported->problems) note(to_text(problem));
    print(export_text(*exported, job));
  }
  return exit_ok;
}

}  // namespace

Run define_export(CLI::App& app) {
  auto options = std::make_shared<ExportVerbOptions>();
  ExportJob& job = options->job;
  std::string formats;
  std::vector<std::string> names;
  for (const Exporter& exporter : exporters()) {
    formats += fmt::format("\n{} ({}): {}", exporter.name, exporter.extension, exporter.summary);
    names.emplace_back(exporter.name);
  }
  app.add_option("FILE", job.run_file, "A run file")->required();
  app.add_option("-o,--output", job.output, "The file to write; one that is there is replaced only with --yes")
      ->type_name("FILE")
      ->required();
  app.add_option("--format", job.format, "Without it, the end of the output's name says:" + formats)
      ->check(CLI::IsMember(names));
  app.add_option("--run", job.label, "The label of the run, where the file holds several")->type_name("NAME");
  app.add_option("--window", job.window, "Slices that meet step:3, range:NAME, or two times: 1.2ms..1.3ms");
  app.add_option("--rank", job.ranks, "Only this rank; may be given again")->type_name("N")->allow_extra_args(false);
  app.add_option("--width", job.width, "svg: the picture's width in pixels")
      ->check(CLI::Range(400, 20000))
      ->capture_default_str();
  app.add_flag("-y,--yes", job.replace, "Replace an output that is there");
  add_output_options(app, options->output);
  return [options] { return export_verb(*options); };
}

}  // namespace stave::cli
