// A report as text for a person: aligned, at most 100 columns.
#pragma once

#include <string>

#include "analysis/path_sections.h"
#include "analysis/report.h"

namespace stave {

struct ReportTextOptions {
  std::size_t rows = 10;  // of each long table; more are counted
};

std::string report_text(const Timeline& timeline, const Report& report, const ReportTextOptions& options = {});

// The lines about communication that `sim` and `report` share: a rank a line.
std::string ranks_text(const Report& report);

// "(gap before) gemm", "(17 parts) gemm".
std::string path_words(const PathSection& section, std::string_view name);

}  // namespace stave
