// A timeline as text: two lines a stream, the bar and below it the names.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/timeline_index.h"

namespace stave {

struct GanttOptions {
  std::size_t columns = 100;  // of a line
  std::size_t max_ranks = 8;  // more are counted, not drawn
};

// `#` gemm, `*` other compute, `=` communication that moves data, `-` that waits,
// `+` copy, `.` idle. A column shows what fills most of it; a slice that is
// shorter than a column still shows where nothing else does.
std::string gantt(const TimelineIndex& index, Interval window, const GanttOptions& options = {});

}  // namespace stave
