// The JSON of `compare`: schema stave.compare/1 (docs/json/).
#pragma once

#include <string>

#include "analysis/compare.h"
#include "workbench/report_json.h"

namespace stave {

// `all`: `commands[]` holds every matched slice; otherwise it is null.
std::string compare_json(const Comparison& comparison, const RunLabel& a, const RunLabel& b, const Problems& problems,
                         bool all);

}  // namespace stave
