// What a RUN line can ask for. Each is a file of its name beside this one.
#pragma once

#include <string>

#include "tests/file_test.h"

namespace stave {

inline std::string text_of(const Problems& problems) {
  std::string text;
  for (const Problem& p : problems) text += to_text(p);
  return text;
}

std::string run_print(const FileTest& test);
std::string run_verify(const FileTest& test);
std::string run_expand(const FileTest& test);
std::string run_lower(const FileTest& test);
std::string run_run(const FileTest& test);
std::string run_check(const FileTest& test);
std::string run_simulate(const FileTest& test);

}  // namespace stave
