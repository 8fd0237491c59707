// What a shell can complete, read from the table of verbs and their options,
// and the scripts that tell it so.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace stave::cli {

// What an option or an argument takes.
struct Takes {
  enum class Kind : unsigned char { Nothing, Text, File, Machine, Template, Verb, OneOf };
  Kind kind = Kind::Nothing;
  std::vector<std::string> values{};  // OneOf
};

struct OptionWords {
  std::vector<std::string> names;  // "-o", "--output"
  std::string description;
  Takes takes;
};

struct VerbWords {
  std::string name;
  std::string summary;
  std::vector<OptionWords> options;
  Takes arguments;
};

// Options name what they take by their type: FILE and MACHINE, as arguments do by
// their name, besides TEMPLATE and VERB; {a,b} is one of these; all else is text.
std::vector<VerbWords> words_of(const CLI::App& program);

std::string bash_completions(const std::vector<VerbWords>& verbs);
std::string zsh_completions(const std::vector<VerbWords>& verbs);
std::string fish_completions(const std::vector<VerbWords>& verbs);

}  // namespace stave::cli
