// A comparison as text for a person: aligned, at most 100 columns.
#pragma once

#include <string>

#include "analysis/compare.h"
#include "workbench/report_json.h"

namespace stave {

struct CompareTextOptions {
  std::size_t rows = 12;  // of the waterfall; what is left is one line, so that it adds up
};

std::string compare_text(const Comparison& comparison, const RunLabel& a, const RunLabel& b,
                         const CompareTextOptions& options = {});

}  // namespace stave
