#include "cli/completions.h"

#include <algorithm>
#include <memory>

#include "cli/common.h"
#include "cli/verbs.h"

namespace stave::cli {
namespace {

Takes takes_of(const std::string& type) {
  using enum Takes::Kind;
  if (type.starts_with("FILE")) return {File};
  if (type.starts_with("MACHINE")) return {Machine};
  if (type.starts_with("TEMPLATE")) return {Template};
  if (type.starts_with("VERB")) return {Verb};
  const std::size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos) return {Text};
  return {OneOf, CLI::detail::split(type.substr(open + 1, close - open - 1), ',')};
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words{{}, option.get_description(), {}};
  for (const std::string& name : option.get_snames()) words.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) words.names.push_back("--" + name);
  if (option.get_items_expected_max() > 0) words.takes = takes_of(option.get_type_name());
  return words;
}

struct Shell {
  std::string_view name;
  std::string (*script)(const std::vector<VerbWords>&);
};
constexpr Shell shells[] = {{"bash", bash_completions}, {"zsh", zsh_completions}, {"fish", fish_completions}};

}  // namespace

std::vector<VerbWords> words_of(const CLI::App& program) {
  std::vector<VerbWords> verbs;
  for (const CLI::App* verb : program.get_subcommands([](const CLI::App*) { return true; })) {
    VerbWords& words = verbs.emplace_back();
    words.name = verb->get_name();
    words.summary = verb->get_description();
    for (const CLI::Option* option : verb->get_options()) {
      if (option->nonpositional()) {
        words.options.push_back(words_of(*option));
        continue;
      }
      const Takes by_name = takes_of(option->get_name(true));
      words.arguments = by_name.kind == Takes::Kind::Text ? takes_of(option->get_type_name()) : by_name;
    }
  }
  return verbs;
}

Run define_completions(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const Shell& s : shells) names.emplace_back(s.name);
  app.add_option("SHELL", *shell, "Whose completions")->required()->check(CLI::IsMember(names));
  return [shell, program = app.get_parent()] {
    for (const Shell& s : shells)
      if (s.name == *shell) print(s.script(words_of(*program)));
    return exit_ok;
  };
}

}  // namespace stave::cli
