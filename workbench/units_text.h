// Quantities as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace stave {

// "1.234 ms", at most four digits after the point of the largest unit that fits.
std::string duration_text(Picoseconds duration);
// "4.0 MiB"
std::string bytes_text(std::int64_t bytes);
// "12.3 %", or "+12.3 %" with its sign; "-" for none.
std::string percent_text(std::optional<double> value, bool sign = false);
// "dp [0, 1, 2, 3, 6]" as "dp [0-3, 6]": numbers in brackets that follow each other.
std::string with_number_ranges(std::string_view text);
// A text from outside as a cell of a table on a terminal: printable(), at most `width` characters, of which the last
// are "..." if it was longer.
std::string cut(std::string_view text, std::size_t width);
// As much of its end: "...ast/gemm#2".
std::string cut_front(std::string_view text, std::size_t width);
// "1 step", "2 steps"
std::string count_text(std::size_t n, std::string_view one);

}  // namespace stave
