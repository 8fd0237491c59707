// What is right, but slower than it needs to be: warnings, never errors.
#pragma once

#include "analysis/check/clocks.h"
#include "analysis/check/finding.h"

namespace stave::check {

// What the text alone shows. STV1042 an async_done directly after its start, STV1044 async bodies under
// captured_serial, STV1046 a while that blocks the host.
void lint_text(const RankClass& rank_class, Mode mode, Findings& findings);

// What the order of work shows; of a class without control flow. STV1041 a collective that holds up work which does not
// need it, STV1043 a wait that is implied already, STV1045 a copy beside work that is bound by memory, too.
void lint_line(const RankClass& rank_class, const Line& line, const Clocks& clocks, Findings& findings);

}  // namespace stave::check
