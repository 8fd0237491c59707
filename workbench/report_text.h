// A report as text for a person: aligned, at most 100 columns.
#pragma once

#include <string>

#include "analysis/report.h"

namespace stave {

struct ReportTextOptions {
  std::size_t rows = 10;  // of each long table; more are counted
};

std::string report_text(const Timeline& timeline, const Report& report, const ReportTextOptions& options = {});

// The lines about communication that `sim` and `report` share: a rank a line.
std::string ranks_text(const Report& report);

}  // namespace stave
