// Prints a schedule that was built in C++: `build_rings` or `build_rings bidirectional`.
#include <cstdio>
#include <string_view>

#include "core/text/print.h"
#include "examples/cpp/rings.h"

int main(int argc, char** argv) {
  const bool bidirectional = argc > 1 && std::string_view(argv[1]) == "bidirectional";
  const stave::Result<stave::Module> module =
      bidirectional ? stave::examples::bidirectional_ring_matmul() : stave::examples::ring_matmul();
  if (!module) {
    for (const stave::Problem& problem : module.problems()) std::fputs(stave::to_text(problem).c_str(), stderr);
    return 1;
  }
  std::fputs(stave::print(*module).c_str(), stdout);
  return 0;
}
