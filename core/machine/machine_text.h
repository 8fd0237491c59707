#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace stave {

inline constexpr std::size_t max_machine_bytes = std::size_t{1} << 20;

// What toml++ 3.3 does not survive is refused before: zero bytes, endless lines,
// and non-ASCII outside strings and comments, where it runs into a branch that it
// tells the compiler is never taken. Strings of many lines are refused with
// them, so that where a string ends can be told line by line.
// STV0609 at the place.
Result<void> check_machine_text(const std::string& file, std::string_view text);

}  // namespace stave
