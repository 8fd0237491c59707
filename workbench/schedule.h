// A schedule file, opened.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/ir/module.h"

namespace stave {

// Values for params by name, as the command line gives them.
using ParamValues = std::vector<std::pair<std::string, std::string>>;

struct Schedule {
  std::string file;
  std::string text;
  std::string sha256;  // of `text`
  std::shared_ptr<const Module> module;
};

// Reads and parses. Failing means that it cannot be read or parsed.
Result<Schedule> open_schedule(const std::string& path);

// The schedule as it is stored with a run: the chosen values stand in its param
// lines. `params` are known to be valid for the module.
std::string text_with_params(const Schedule& schedule, const ParamValues& params);

}  // namespace stave
