#include "profiles/export/texts.h"

#include "core/base/utf8.h"

namespace stave {
namespace {

constexpr std::string_view replacement_character = "\xef\xbf\xbd";

template <class Put>
std::string characters(std::string_view text, Put put) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = utf8_length(text);
    if (n == 0) {
      out += replacement_character;
      text.remove_prefix(1);
      continue;
    }
    put(out, text.substr(0, n));
    text.remove_prefix(n);
  }
  return out;
}

}  // namespace

std::string utf8_text(std::string_view text) {
  return characters(text, [](std::string& out, std::string_view c) { out += c; });
}

std::string xml_text(std::string_view text) {
  return characters(text, [](std::string& out, std::string_view c) {
    const auto first = static_cast<unsigned char>(c[0]);
    if (c == "&") {
      out += "&amp;";
    } else if (c == "<") {
      out += "&lt;";
    } else if (c == ">") {
      out += "&gt;";
    } else if (c == "\"") {
      out += "&quot;";
    } else if (c == "'") {
      out += "&#39;";
    } else if ((first < 0x20 && c != "\t" && c != "\n") || first == 0x7f || c == "\xef\xbf\xbe" ||
               c == "\xef\xbf\xbf") {
      out += replacement_character;
    } else {
      out += c;
    }
  });
}

}  // namespace stave
