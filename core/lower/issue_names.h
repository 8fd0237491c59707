// Names and spellings of the issue form.
#pragma once

#include <string>
#include <vector>

#include "core/lower/plan.h"

namespace stave {

// "main", "computation 0", "communication 2".
std::string to_text(StreamRef stream);

// A name for each buffer, unique in the class: its own, with ".2", ".3", ... for
// the later allocations of one name (a function that is called several times).
std::vector<std::string> buffer_names(const Expanded& expanded);

// "4096", or "axis_index(x) * 512 + 64".
std::string to_text(const Expanded& expanded, CoordInt value);

// A view in the issue form: buffers there are byte arrays, so that brackets
// count bytes: `%a`, or `%a[1024:+512] as f32[128]`.
std::string view_text(const Expanded& expanded, const std::vector<std::string>& names, ViewId view);

}  // namespace stave
