#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/common.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"
#include "core/base/utf8.h"
#include "workbench/predict.h"

namespace stave::cli {
namespace {

struct SimOptions {
  std::string file;
  std::vector<std::string> params;
  std::string mode = "eager";
  std::string network_model = "max-min";
  std::string observer;
  std::string clock = "full";
  std::optional<std::string> output_file;
  bool yes = false;
  PredictOptions predict;
  OutputOptions output;
};

std::string kept_text(const std::optional<std::string>& output_file) {
  if (!output_file) return "nothing is kept; with -o FILE, what is complete is";
  return fmt::format("what is complete is kept in {}.partial; `stave report` reads it", *output_file);
}

int sim(SimOptions& options) {
  Result<ParamValues> params = params_of(options.params);
  if (!params) return fail(params.problems(), options.output, exit_input);
  options.predict.params = *std::move(params);
  options.predict.mode = *mode_named(options.mode);
  options.predict.simulate.network_model = options.network_model;
  options.predict.simulate.observer_cupti = options.observer == "cupti";
  options.predict.sustained = options.clock == "sustained";
  const Result<Schedule> schedule = open_checked(options.file, options.output);
  if (!schedule) return exit_input;
  ProgressLine line(options.output);
  options.predict.simulate.progress = &line.progress;
  const Result<Predicted> predicted = predict(*schedule, options.predict);
  bool whole = predicted && !predicted->cancelled;
  if (predicted && options.output_file) {
    const Result<bool> saved = save(*schedule, *predicted, *options.output_file, {options.yes, &line.progress});
    if (!saved) {
      line.end();
      const std::string& code = saved.problems()[0].code;
      return fail(saved.problems(), options.output, code == "STV0913" || code == "STV0975" ? exit_input : exit_machine);
    }
    whole = *saved;
  }
  line.end();
  if (!predicted) return fail(predicted.problems(), options.output, exit_input, *schedule);
  if (!whole) return interrupted("STV0853", kept_text(options.output_file), options.output);
  const std::optional<Problem> deadlock = deadlock_of(*predicted, *schedule);
  if (deadlock && !options.output.json) note(to_text(*deadlock, schedule->text));
  if (options.output.json) {
    print(predict_json(*schedule, *predicted, options.output_file));
  } else if (!options.output.quiet) {
    if (!deadlock) print(predict_text(*schedule, *predicted));
    if (options.output_file)
      print(fmt::format("stored in {0}; try: stave report {0}\n", printable(*options.output_file)));
  }
  return deadlock ? exit_finding : exit_ok;
}

}  // namespace

Run define_sim(CLI::App& app) {
  auto options = std::make_shared<SimOptions>();
  app.add_option("FILE", options->file, "A schedule; - is standard input")->required();
  app.add_option("--machine", options->predict.machine, "A name (`stave machines` lists them) or a machine file")
      ->type_name("MACHINE")
      ->capture_default_str();
  add_mode(app, options->mode);
  add_params(app, options->params);
  std::vector<std::string> models;
  for (const NetworkModelName& model : network_model_names()) models.emplace_back(model.name);
  app.add_option("--network-model", options->network_model, "How concurrent transfers share links and memory")
      ->check(CLI::IsMember(models))
      ->capture_default_str();
  app.add_option("--observer", options->observer, "cupti: predict the profiled run, whose launches cost more")
      ->check(CLI::IsMember({"cupti"}));
  app.add_option(
         "--clock", options->clock,
         "full: as after a pause; sustained: what a device at its power limit keeps when this is repeated for long")
      ->check(CLI::IsMember({"full", "sustained"}))
      ->capture_default_str();
  app.add_option("--jitter", options->predict.jitter,
                 "Predict again this many times with host calls up to a tenth slower: range, and fragile or not")
      ->capture_default_str();
  app.add_option("-o,--output", options->output_file,
                 "Store the predicted timeline in this run file; a run file that is there is replaced")
      ->type_name("FILE");
  app.add_option("--label", options->predict.label, "The run's name in the file, and in reports of it")
      ->type_name("NAME")
      ->capture_default_str();
  app.add_flag("--counters", options->predict.simulate.counters,
               "Store counters of each device: SMs held, memory and link bandwidth in use");
  app.add_flag("-y,--yes", options->yes, "With -o: replace a file of any kind");
  add_output_options(app, options->output);
  return [options] { return sim(*options); };
}

}  // namespace stave::cli
