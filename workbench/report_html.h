// A run's report as one page that needs nothing else: tables, charts, and a
// timeline to zoom. No network, no storage; the page's policy (CSP) forbids both.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/report.h"
#include "workbench/report_json.h"

namespace stave {

struct ReportHtmlOptions {
  std::size_t rows = 50;             // of each table; what is more is counted
  std::size_t most_slices = 200000;  // in the page; more are drawn together
};

std::string report_html(const TimelineIndex& index, const Report& report, const RunLabel& run, const Problems& problems,
                        const ReportHtmlOptions& options = {});

}  // namespace stave
