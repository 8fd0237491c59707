// "ok: N commands, M buffers" over all entries, or the problems. `NAME=VALUE`
// arguments set params; `max_commands=N` the limit.
#include <fmt/format.h>

#include "core/ir/expanded.h"
#include "core/text/parse.h"
#include "tests/modes/modes.h"

namespace stave {

std::string run_verify(const FileTest& test) {
  Result<Module> module = parse(test.name, test.input);
  if (!module) return text_of(module.problems());
  ExpandOptions options;
  for (const std::string& arg : test.args) {
    const std::size_t equals = arg.find('=');
    const std::string name = arg.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : arg.substr(equals + 1);
    if (name == "max_commands")
      options.max_commands = std::stoll(value);
    else
      options.params.emplace_back(name, value);
  }
  const auto expansion = expand_and_verify(std::make_shared<const Module>(*std::move(module)), options);
  if (!expansion) return text_of(expansion.problems());
  std::size_t commands = 0, buffers = 0;
  for (const Expanded& e : expansion->classes) {
    commands += e.commands.size();
    buffers += e.buffers.size();
  }
  return fmt::format("ok: {} commands, {} buffers\n", commands, buffers);
}

}  // namespace stave
