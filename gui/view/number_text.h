// A counter's value as people read it.
#pragma once

#include <string>
#include <string_view>

namespace stave::gui {

// "12.5 GB/s" of 1.25e10 and "bytes/s"; powers of 1000, three digits.
std::string number_text(double value, std::string_view unit);

}  // namespace stave::gui
