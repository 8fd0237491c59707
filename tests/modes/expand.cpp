// The expanded form of all entries, a line for each command. `NAME=VALUE`
// arguments set params.
#include "core/ir/expand_text.h"
#include "core/text/parse.h"
#include "tests/modes/modes.h"

namespace stave {

std::string run_expand(const FileTest& test) {
  Result<Module> module = parse(test.name, test.input);
  if (!module) return text_of(module.problems());
  ExpandOptions options;
  for (const std::string& arg : test.args)
    options.params.emplace_back(arg.substr(0, arg.find('=')), arg.substr(arg.find('=') + 1));
  const auto expansion = expand(std::make_shared<const Module>(*std::move(module)), options);
  return expansion ? expansion_text(*expansion) : text_of(expansion.problems());
}

}  // namespace stave
