#include <fmt/format.h>

#include <algorithm>

#include "cli/completions.h"

namespace stave::cli {
namespace {

using TakesKind = Takes::Kind;

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

std::vector<std::string> names_of(const std::vector<VerbWords>& verbs) {
  std::vector<std::string> names;
  for (const VerbWords& verb : verbs) names.push_back(verb.name);
  return names;
}

// For single quotes of all three shells; `also` are characters that its own syntax takes.
std::string escaped(std::string_view text, std::string_view quote, std::string_view also = {}) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
      continue;
    }
    if (also.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Sets `words`, or `files` where the shell has to look.
std::string bash_action(const Takes& takes, const std::vector<VerbWords>& verbs) {
  switch (takes.kind) {
    case TakesKind::File: return "files=1";
    case TakesKind::Machine: return R"(words=$("$1" machines 2>/dev/null | cut -d ' ' -f 1) files=1)";
    case TakesKind::Template: return R"(words=$("$1" new 2>/dev/null | cut -d ' ' -f 1))";
    case TakesKind::Verb: return fmt::format("words='{}'", joined(names_of(verbs)));
    case TakesKind::OneOf: return fmt::format("words='{}'", joined(takes.values));
    case TakesKind::Nothing:
    case TakesKind::Text: return ":";
  }
  return ":";
}

std::string zsh_action(const Takes& takes, const std::vector<VerbWords>& verbs) {
  switch (takes.kind) {
    case TakesKind::File: return "_files";
    case TakesKind::Machine: return "_stave_machines";
    case TakesKind::Template: return "_stave_templates";
    case TakesKind::Verb: return fmt::format("({})", joined(names_of(verbs)));
    case TakesKind::OneOf: return fmt::format("({})", joined(takes.values));
    case TakesKind::Nothing:
    case TakesKind::Text: return " ";
  }
  return " ";
}

std::string fish_action(const Takes& takes, const std::vector<VerbWords>& verbs) {
  switch (takes.kind) {
    case TakesKind::File: return "-F";
    case TakesKind::Machine: return "-F -a '(stave machines 2>/dev/null | string split -m 1 -f 1 \" \")'";
    case TakesKind::Template: return "-a '(stave new 2>/dev/null | string split -m 1 -f 1 \" \")'";
    case TakesKind::Verb: return fmt::format("-a '{}'", joined(names_of(verbs)));
    case TakesKind::OneOf: return fmt::format("-a '{}'", joined(takes.values));
    case TakesKind::Nothing:
    case TakesKind::Text: return "";
  }
  return "";
}

}  // namespace

std::string bash_completions(const std::vector<VerbWords>& verbs) {
  std::string out =
      R"sh(# Completes stave in bash; made by `stave completions bash`.
_stave() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= words= files= i IFS=$'\n'
  COMPREPLY=()
  # `--mode=eager` comes as three words.
  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} != -* ]]; then verb=${COMP_WORDS[i]}; break; fi
  done
  case $verb:$before in
)sh";
  for (const VerbWords& verb : verbs)
    for (const OptionWords& option : verb.options) {
      if (option.takes.kind == TakesKind::Nothing) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names) patterns.push_back(verb.name + ":" + name);
      out += fmt::format("    {}) {} ;;\n", joined(patterns, " | "), bash_action(option.takes, verbs));
    }
  out += "    *) case $verb:$word in\n";
  out += fmt::format("      :*) words='{} --help --version' ;;\n", joined(names_of(verbs)));
  for (const VerbWords& verb : verbs) {
    std::vector<std::string> options;
    for (const OptionWords& option : verb.options)
      options.insert(options.end(), option.names.begin(), option.names.end());
    out += fmt::format("      {}:-*) words='{}' ;;\n      {}:*) {} ;;\n", verb.name, joined(options), verb.name,
                       bash_action(verb.arguments, verbs));
  }
  return out + R"sh(    esac ;;
  esac
  COMPREPLY=($(compgen -W "${words// /$'\n'}" -- "$word"))
  if [[ $files ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY+=($(compgen -f -- "$word"))
  fi
}
complete -F _stave stave
)sh";
}

std::string zsh_completions(const std::vector<VerbWords>& verbs) {
  constexpr std::string_view quote = R"('\'')";
  std::string out = R"sh(#compdef stave
# Completes stave in zsh; made by `stave completions zsh`.
_stave_machines() {
  local -a names=(${(f)"$(stave machines 2>/dev/null | cut -d ' ' -f 1)"})
  _describe machine names
  _files
}
_stave_templates() {
  local -a names=(${(f)"$(stave new 2>/dev/null | cut -d ' ' -f 1)"})
  _describe template names
}
_stave() {
  local state line
  _arguments -C '(- *)--help[Print this help]' '(- *)--version[Print the version]' '1: :->verb' '*:: :->argument'
  case $state in
    verb)
      local -a verbs=(
)sh";
  for (const VerbWords& verb : verbs)
    out += fmt::format("        '{}:{}'\n", verb.name, escaped(verb.summary, quote, ":"));
  out += "      )\n      _describe verb verbs ;;\n    argument)\n      case $words[1] in\n";
  for (const VerbWords& verb : verbs) {
    out += fmt::format("        {})\n          _arguments", verb.name);
    for (const OptionWords& option : verb.options)
      for (const std::string& name : option.names) {
        const bool long_with_value = name.starts_with("--") && option.takes.kind != TakesKind::Nothing;
        out += fmt::format(" \\\n            '*{}{}[{}]", name, long_with_value ? "=" : "",
                           escaped(option.description, quote, "[]:"));
        if (option.takes.kind != TakesKind::Nothing) out += fmt::format(":value:{}", zsh_action(option.takes, verbs));
        out += "'";
      }
    if (verb.arguments.kind != TakesKind::Nothing)
      out += fmt::format(" \\\n            '*:argument:{}'", zsh_action(verb.arguments, verbs));
    out += " ;;\n";
  }
  return out + "      esac ;;\n  esac\n}\n_stave \"$@\"\n";
}

std::string fish_completions(const std::vector<VerbWords>& verbs) {
  constexpr std::string_view quote = R"(\')";
  std::string out =
      "# Completes stave in fish; made by `stave completions fish`.\n"
      "complete -c stave -f\n"
      "complete -c stave -n __fish_use_subcommand -l help -d 'Print this help'\n"
      "complete -c stave -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const VerbWords& verb : verbs)
    out += fmt::format("complete -c stave -n __fish_use_subcommand -a {} -d '{}'\n", verb.name,
                       escaped(verb.summary, quote, "\\"));
  for (const VerbWords& verb : verbs) {
    const std::string of_verb = fmt::format("complete -c stave -n '__fish_seen_subcommand_from {}'", verb.name);
    for (const OptionWords& option : verb.options) {
      out += of_verb;
      for (const std::string& name : option.names)
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (option.takes.kind != TakesKind::Nothing) out += " -r";
      if (const std::string action = fish_action(option.takes, verbs); !action.empty()) out += " " + action;
      out += fmt::format(" -d '{}'\n", escaped(option.description, quote, "\\"));
    }
    if (const std::string action = fish_action(verb.arguments, verbs); !action.empty())
      out += fmt::format("{} {}\n", of_verb, action);
  }
  return out;
}

}  // namespace stave::cli
