#pragma once

#include <cstddef>
#include <string_view>

namespace stave {

// Length of the well-formed UTF-8 character that `text` begins with; 0 if there is none.
std::size_t utf8_length(std::string_view text);

}  // namespace stave
