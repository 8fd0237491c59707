// A report as text for a person: aligned, at most 100 columns.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/path_sections.h"
#include "analysis/report.h"

namespace stave {

struct ReportTextOptions {
  std::size_t rows = 10;  // of each long table; more are counted
};

std::string report_text(const Timeline& timeline, const Report& report, const ReportTextOptions& options = {});

// The lines about communication that `sim` and `report` share: a rank a line.
std::string ranks_text(const Report& report);

// False of a trace of hosts alone.
bool has_device_work(const Report& report);
// A step ends when its host has seen the end, so that it can be longer than the makespan.
bool has_longer_step(const Report& report);

// "(gap before) gemm", "gemm and 16 others": the longest part of a section, cut so that all is in `width`.
std::string path_words(const PathSection& section, std::string_view name, std::size_t width = std::string_view::npos);

// What the times of a critical path add up to.
struct PathSums {
  Picoseconds device{}, host{}, gaps{};

  std::string text() const;
};
PathSums path_sums(const Timeline& timeline, std::span<const PathPart> path);

}  // namespace stave
