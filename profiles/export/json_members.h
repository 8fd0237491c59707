// The members of a JSON object without reading what is in them.
#pragma once

#include <string_view>

namespace stave {

// `json` is valid. `take(key, member)`: the key with its quotes, and all of the member.
template <class Take>
void each_json_member(std::string_view json, Take take) {
  std::size_t at = json.find('{');
  while (at != std::string_view::npos && ++at < json.size()) {
    const std::size_t begin = json.find('"', at);
    if (begin == std::string_view::npos) return;
    std::size_t key_end = 0, depth = 0, i = begin;
    bool in_string = false;
    for (; i < json.size(); ++i) {
      const char c = json[i];
      if (in_string) {
        if (c == '\\') ++i;
        if (c != '"') continue;
        in_string = false;
        if (key_end == 0) key_end = i + 1;
      } else if (c == '"') {
        in_string = true;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if (c == '}' || c == ']') {
        if (depth == 0) break;
        --depth;
      } else if (c == ',' && depth == 0) {
        break;
      }
    }
    if (key_end == 0) return;
    take(json.substr(begin, key_end - begin), json.substr(begin, i - begin));
    at = i;
  }
}

}  // namespace stave
