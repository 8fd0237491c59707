// Words about expanded schedules, for messages and for people.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/ir/expanded.h"

namespace stave {

// "bf16[4, 8]"
std::string type_text(Dtype dtype, std::span<const std::int64_t> shape);
// "%a+64 bf16[4, 8]": buffer, offset in bytes, type.
std::string view_text(const Expanded& expanded, const View& view);

// Where something was expanded: "with s = 3", "in the call of @f", towards the entry.
std::vector<Note> context_notes(const Expanded& expanded, FrameId frame, IterationId iteration);

// All entries: their buffers, then a line for each command with its path,
// nested regions indented.
std::string expansion_text(const Expansion& expansion);

}  // namespace stave
