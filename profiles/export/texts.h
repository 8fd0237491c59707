// Text of any bytes, for formats that take Unicode alone.
#pragma once

#include <string>
#include <string_view>

namespace stave {

// What is not UTF-8 becomes U+FFFD.
std::string utf8_text(std::string_view text);

// For XML and HTML, between tags and in attributes of double quotes: also the
// characters that XML 1.0 has no place for become U+FFFD.
std::string xml_text(std::string_view text);

}  // namespace stave
