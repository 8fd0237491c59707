#include "core/machine/machine_text.h"

#include <cstdint>

namespace stave {
namespace {

// Dotted keys nest without the parser's own limit; a line of this length cannot nest deep enough to matter.
constexpr std::size_t max_line_bytes = 2048;

}  // namespace

Result<void> check_machine_text(const std::string& file, std::string_view text) {
  if (text.size() > max_machine_bytes)
    return error_at({.file = file}, "STV0609", "a machine file has at most {} bytes, got {}", max_machine_bytes,
                    text.size());
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  std::uint32_t line = 1;
  std::size_t line_begin = 0;
  char inside = 0;  // a quote: in that string; '#': in a comment
  for (std::size_t i = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; i < text.size(); ++i) {
    const char c = text[i];
    const Place here{.file = file, .line = line, .column = static_cast<std::uint32_t>(i - line_begin + 1)};
    if (c == '\0') return error_at(here, "STV0609", "a machine file is text; this one holds a zero byte");
    if (i - line_begin >= max_line_bytes)
      return error_at(here, "STV0609", "a line of a machine file has at most {} bytes", max_line_bytes);
    if (c == '\n') {
      ++line;
      line_begin = i + 1;
      inside = 0;
    } else if (inside == 0) {
      if (static_cast<unsigned char>(c) >= 0x80)
        return error_at(here, "STV0609", "a machine file is ASCII outside strings and comments");
      if (c == '#' || c == '"' || c == '\'') inside = c;
      if (inside == c && c != '#' && text.substr(i, 3) == std::string(3, c))
        return error_at(here, "STV0609", "a machine file has no strings of many lines");
    } else if (inside == '"' && c == '\\' && i + 1 < text.size() && text[i + 1] != '\n' && text[i + 1] != '\0') {
      ++i;
    } else if (c == inside && c != '#') {
      inside = 0;
    }
  }
  return {};
}

}  // namespace stave
