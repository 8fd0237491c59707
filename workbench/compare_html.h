// A comparison as one page that needs nothing else: the waterfall, tables, and
// the timelines of both windows under each other on one axis.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/compare.h"
#include "workbench/report_json.h"

namespace stave {

struct CompareHtmlOptions {
  std::size_t bars = 12;             // of the waterfall, then one for each kind and family that is left: they add up
  std::size_t rows = 50;             // of each table; what is more is counted
  std::size_t most_slices = 200000;  // in the page; more are drawn together
};

std::string compare_html(const Comparison& comparison, const RunLabel& a, const RunLabel& b, const Problems& problems,
                         const CompareHtmlOptions& options = {});

}  // namespace stave
