#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "cli/common.h"
#include "cli/verbs.h"
#include "core/text/nearest.h"

namespace {

bool asks_for_json(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--json") return true;
  return false;
}

// The first option that nobody knows, else the first word; words may be values of such options.
std::string unknown_words(const CLI::App& program) {
  const std::vector<std::string> left = program.remaining(true);
  const auto option = std::find_if(left.begin(), left.end(),
                                   [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  if (option == left.end()) return fmt::format("'{}' is one argument too many", left.empty() ? "" : left.front());
  const std::string name = option->substr(0, option->find('='));
  const std::vector<CLI::App*> verbs = program.get_subcommands();
  std::vector<std::string> known;
  for (const CLI::Option* each : (verbs.empty() ? program : *verbs.front()).get_options())
    for (const std::string& long_name : each->get_lnames()) known.push_back("--" + long_name);
  return fmt::format("unknown option {}{}", name, stave::did_you_mean(name, known));
}

}  // namespace

int main(int argc, char** argv) {
  using namespace stave;
  using namespace stave::cli;

  std::set_new_handler([] {
    note("error: out of memory: choose smaller params or fewer iterations [");
    note("STV0906");
    note("]\n");
    std::_Exit(exit_machine);
  });
  if (argc > 1 && argv[1][0] != '-') {
    const std::string_view name = argv[1];
    if (std::none_of(verbs().begin(), verbs().end(), [&](const Verb& verb) { return verb.name == name; }))
      return unknown_verb(name, {.json = asks_for_json(argc, argv)});
  }
  CLI::App app{"Simulates, checks, runs and compares GPU command schedules.", "stave"};
  app.set_version_flag("-V,--version", STAVE_VERSION);
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(1);
  app.footer("`stave demo` shows the main job; `stave VERB --help` ends with an example.");

  std::vector<std::pair<CLI::App*, Run>> runs;
  for (const Verb& verb : verbs()) {
    CLI::App* sub = app.add_subcommand(std::string(verb.name), std::string(verb.summary));
    sub->footer("Example:\n  " + std::string(verb.example));
    runs.emplace_back(sub, verb.define(*sub));
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    // What seems to be missing may be there under a wrong name.
    const bool extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr ||
                       (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr && !app.remaining(true).empty());
    const int code = usage_error(extra ? unknown_words(app) : error.what(), {.json = asks_for_json(argc, argv)});
    // What does not begin with - is a verb that there is.
    const std::string verb = argc > 1 && argv[1][0] != '-' ? fmt::format("{} ", argv[1]) : "";
    if (!asks_for_json(argc, argv)) note(fmt::format("Run `stave {}--help`.\n", verb));
    return code;
  }
  for (const auto& [sub, run] : runs) {
    if (!sub->parsed()) continue;
    const int code = run();
    // A full disk or a closed pipe behind stdout is an error too.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      note("error: cannot write to standard output [STV0002]\n");
      return exit_machine;
    }
    return code;
  }
  return exit_input;
}
