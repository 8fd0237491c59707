// Findings that a schedule silences: `// allow STV1022: reason`, behind the statement or on lines of its own before it.
#pragma once

#include <string_view>

#include "analysis/check/finding.h"

namespace stave {

// Gives each finding that the text allows its reason, and adds what is wrong with the allowances
// themselves: STV1090 (a note: silences nothing), STV1091 (no reason). Errors of the language (below STV1000) cannot be
// silenced.
void silence(std::string_view file, std::string_view text, Findings& findings);

}  // namespace stave
