// Sentences about a count, in the singular and the plural.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace stave {

// Of each "[one|many]" in `text` the half that fits `count`: "[event ends|events end] early".
// Other brackets stay.
inline std::string in_number(std::string_view text, std::int64_t count) {
  std::string out;
  while (true) {
    const std::size_t open = text.find('['), close = text.find(']', open);
    if (close == std::string_view::npos) return out.append(text);
    const std::string_view inner = text.substr(open + 1, close - open - 1);
    const std::size_t bar = inner.find('|');
    out += text.substr(0, open);
    if (bar == std::string_view::npos)
      out += text.substr(open, close + 1 - open);
    else
      out += count == 1 ? inner.substr(0, bar) : inner.substr(bar + 1);
    text.remove_prefix(close + 1);
  }
}

}  // namespace stave
