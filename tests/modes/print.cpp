// RUN: print [form=mlir] [rank=N] [param=NAME=VALUE ...]
// Parses, and prints the canonical text, or with form=mlir the commands of one rank.
#include <charconv>
#include <memory>

#include "core/ir/expanded.h"
#include "core/text/mlir.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/file_test.h"

namespace stave {

namespace {

Result<std::string> printed(const FileTest& test) {
  TRY(Module module, parse(test.name, test.input));
  if (test.option("form") != "mlir") return print(module);
  ExpandOptions options;
  for (const std::string_view arg : test.args) {
    if (arg.substr(0, 6) != "param=") continue;
    const std::size_t equals = arg.find('=', 6);
    options.params.emplace_back(arg.substr(6, equals - 6), arg.substr(equals + 1));
  }
  TRY(Expansion expansion, expand(std::make_shared<const Module>(std::move(module)), options));
  const std::string_view text = test.option("rank", "0");
  Rank rank = 0;
  std::from_chars(text.data(), text.data() + text.size(), rank);
  return print_mlir(expansion.classes[expansion.class_of_rank[rank]], rank);
}

}  // namespace

std::string run_print(const FileTest& test) {
  const Result<std::string> text = printed(test);
  if (text) return *text;
  std::string out;
  for (const Problem& problem : text.problems()) out += to_text(problem, test.input);
  return out;
}

}  // namespace stave
