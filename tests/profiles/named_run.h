#pragma once

#include <string>
#include <utility>

#include "core/timeline/run_info.h"

namespace stave {

inline RunInfo named(std::string label, RunKind kind = RunKind::Predicted) {
  return {.label = std::move(label), .kind = kind, .tool = "test", .tool_version = "1"};
}

}  // namespace stave
