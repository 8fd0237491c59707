#include <fmt/format.h>

#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"

namespace stave::cli {

Run define_help(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  app.add_option("VERB", *name, "Whose help; without it, the list of verbs");
  return [name, program = static_cast<const CLI::App*>(app.get_parent())] {
    if (name->empty()) {
      print(program->get_formatter()->make_help(program, program->get_name(), CLI::AppFormatMode::Normal));
      return exit_ok;
    }
    const auto found = program->get_subcommands([&](const CLI::App* verb) { return verb->get_name() == *name; });
    if (found.empty()) return unknown_verb(*name, {});
    const CLI::App* verb = found.front();
    print(verb->get_formatter()->make_help(verb, program->get_name() + " " + verb->get_name(),
                                           CLI::AppFormatMode::Normal));
    return exit_ok;
  };
}

}  // namespace stave::cli
