// A timeline as text: two lines a stream, the bar and below it the names.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/intervals.h"
#include "core/timeline/timeline.h"

namespace stave {

struct GanttOptions {
  std::size_t columns = 100;  // of a line
  std::size_t max_ranks = 8;  // more are counted, not drawn
};

// `#` gemm, `*` other compute, `=` communication that moves data, `-` that waits,
// `+` copy, `.` idle. A column shows what fills most of it; a slice that is
// shorter than a column still shows where nothing else does.
std::string gantt(const Timeline& timeline, Interval window, const GanttOptions& options = {});

// "1.234 ms", at most four digits after the point of the largest unit that fits.
std::string duration_text(Picoseconds duration);
// "4.0 MiB"
std::string bytes_text(std::int64_t bytes);

}  // namespace stave
