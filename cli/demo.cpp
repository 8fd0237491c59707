#include "workbench/demo.h"

#include <cstdio>
#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"

namespace stave::cli {
namespace {

int exit_code_of(const Problem& problem) {
  if (problem.code == "STV0911") return exit_finding;          // a result that does not hold
  if (problem.code.starts_with("STV07")) return exit_machine;  // the run file cannot be written
  return exit_input;                                           // no machine file is found
}

}  // namespace

Run define_demo(CLI::App& app) {
  auto options = std::make_shared<DemoOptions>();
  app.add_option("-o,--output", options->output, "Where to store the predicted timeline")
      ->type_name("FILE")
      ->capture_default_str();
  return [options] {
    const Result<void> shown = demo(*options, [](std::string_view text) {
      print(text);
      std::fflush(stdout);
    });
    return shown ? exit_ok : fail(shown.problems(), {}, exit_code_of(shown.problems()[0]));
  };
}

}  // namespace stave::cli
