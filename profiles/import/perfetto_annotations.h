// Arguments of events as JSON.
#pragma once

#include <string>
#include <string_view>

#include "profiles/import/args_text.h"
#include "profiles/import/perfetto_sequence.h"

namespace stave {

// A DebugAnnotation, with all that lies in it, to a depth of 16. Throws protozero::exception.
void add_annotation(std::string_view bytes, const PerfettoPacket& packet, ArgsText& args);
// An argument of a kernel launch. Throws protozero::exception.
void add_compute_arg(std::string_view bytes, const PerfettoPacket& packet, ArgsText& args);

}  // namespace stave
