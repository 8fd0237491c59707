#include <memory>

#include "cli/common.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "workbench/scrub.h"

namespace stave::cli {
namespace {

struct ScrubOptions {
  ScrubJob job;
  OutputOptions output;
};

int scrub_verb(const ScrubOptions& options) {
  ProgressLine line(options.output);
  const Result<Scrubbed> scrubbed = scrub(options.job, &line.progress);
  line.end();
  if (!scrubbed) {
    const Problem& first = scrubbed.problems()[0];
    if (first.code == "STV0950") return interrupted("STV0950", "nothing is kept", options.output);
    return fail(scrubbed.problems(), options.output, is_output_problem(first, options.job) ? exit_machine : exit_input);
  }
  if (options.output.json) {
    print(scrub_json(*scrubbed, options.job));
  } else if (!options.output.quiet) {
    for (const Problem& problem : scrubbed->problems) note(to_text(problem));
    print(scrub_text(*scrubbed, options.job));
  }
  return exit_ok;
}

}  // namespace

Run define_scrub(CLI::App& app) {
  auto options = std::make_shared<ScrubOptions>();
  app.add_option("FILE", options->job.input, "A run file, or an SQLite export of Nsight Systems")->required();
  app.add_option("-o,--output", options->job.output, "The file to write; one that is there is replaced only with --yes")
      ->type_name("FILE")
      ->required();
  app.add_flag("-y,--yes", options->job.replace, "Replace an output that is there");
  add_output_options(app, options->output);
  return [options] { return scrub_verb(*options); };
}

}  // namespace stave::cli
