// Any bytes: the parser gives problems or a module, and a module that prints,
// reads back as itself, and prints the same again.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "core/text/parse.h"
#include "core/text/print.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stave;
  const Parsed parsed = parse_all("fuzz", {reinterpret_cast<const char*>(data), size});
  if (!parsed.problems.empty()) {
    for (const Problem& problem : parsed.problems)
      if (problem.message.size() > 1000) std::abort();
    return 0;
  }
  const std::string text = print(parsed.module);
  const Result<Module> again = parse("again", text);
  if (!again) {
    std::fputs(to_text(again.problems().front(), text).c_str(), stderr);
    std::abort();
  }
  if (!(*again == parsed.module) || print(*again) != text) std::abort();
  return 0;
}
