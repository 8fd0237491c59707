#include "core/base/utf8.h"

#include <fmt/format.h>

namespace stave {

std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0) == 0x80; };
  const unsigned first = byte(0);
  if (first < 0x80) return text.empty() ? 0 : 1;
  if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if (first == 0xe0 && byte(1) < 0xa0) return 0;  // overlong
    if (first == 0xed && byte(1) > 0x9f) return 0;  // surrogate
    return continues(1) && continues(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if (first == 0xf0 && byte(1) < 0x90) return 0;  // overlong
    if (first == 0xf4 && byte(1) > 0x8f) return 0;  // above U+10FFFF
    return continues(1) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

namespace {

// The code point of a character of 2 or 3 bytes; 0 for others, none of which is unprintable.
unsigned short_code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(character[i])); };
  if (character.size() == 2) return (byte(0) & 0x1f) << 6 | (byte(1) & 0x3f);
  if (character.size() == 3) return (byte(0) & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
  return 0;
}

// C1 controls, line and paragraph separators, marks that turn the direction of writing.
bool is_control(unsigned code_point) {
  return (code_point >= 0x80 && code_point <= 0x9f) || code_point == 0x061c || code_point == 0x200e ||
         code_point == 0x200f || (code_point >= 0x2028 && code_point <= 0x202e) ||
         (code_point >= 0x2066 && code_point <= 0x2069) || code_point == 0xfeff;
}

std::string printable_but(std::string_view text, char kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, length == 0 ? 1 : length);
    text.remove_prefix(character.size());
    const auto first = static_cast<unsigned char>(character[0]);
    if (length == 1 && ((first >= 0x20 && first != 0x7f) || character[0] == kept))
      out += character;
    else if (character == "\n")
      out += "\\n";
    else if (character == "\t")
      out += "\\t";
    else if (length < 2)
      out += fmt::format("\\x{:02x}", first);
    else if (const unsigned code_point = short_code_point(character); is_control(code_point))
      out += fmt::format("\\u{:04x}", code_point);
    else
      out += character;
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) { return printable_but(text, ' '); }
std::string printable_lines(std::string_view text) { return printable_but(text, '\n'); }

}  // namespace stave
