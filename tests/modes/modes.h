// What a RUN line can ask for. Each is a file of its name beside this one.
#pragma once

#include <string>

#include "tests/file_test.h"

namespace stave {

std::string run_print(const FileTest& test);
std::string run_verify(const FileTest& test);
std::string run_expand(const FileTest& test);
std::string run_lower(const FileTest& test);
std::string run_run(const FileTest& test);
std::string run_simulate(const FileTest& test);

}  // namespace stave
