#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stave {

// Length of the well-formed UTF-8 character that `text` begins with; 0 if there is none.
std::size_t utf8_length(std::string_view text);

// A text from outside for one line of a terminal: what would move the cursor, change colours, break the line or turn
// the direction of writing stands as "\n", "\x1b" or "\u202e", and so do bytes that are no UTF-8.
std::string printable(std::string_view text);
// As much, but its line breaks stay.
std::string printable_lines(std::string_view text);

}  // namespace stave
