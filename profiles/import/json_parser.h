// Reads one JSON value from text that may end too early. The text is followed
// by at least `padding` zero bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "profiles/import/json_event.h"

namespace stave {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

class JsonParser {
 public:
  static constexpr std::size_t padding = 64;
  static constexpr int max_depth = 64;

  enum class Outcome : std::uint8_t {
    Done,
    More,  // the text ends inside the value
    Bad,
  };

  JsonParser(const char* begin, const char* end) : at_(begin), end_(end) {}

  // Behind the value after Done; near the mistake after Bad.
  const char* at() const { return at_; }
  std::uint8_t odd() const { return odd_; }

  void skip_space() {
    while (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t') ++at_;
  }
  Outcome value(JsonValue& out, int depth = 0);
  // At '{': an event with the fields of its args.
  Outcome event(TraceEvent& out);
  // At '{': the fields of an object; nested values stay text.
  Outcome fields(std::vector<JsonField>& out, int depth = 0);

 private:
  Outcome string(JsonValue& out);
  Outcome word(JsonValue& out);
  Outcome key(std::string_view& out);
  // Behind a value: at the next member (true), or behind `close` (false).
  Outcome separator(char close, bool& more);
  Outcome skip_members(char close, int depth);
  Outcome bad_or_more() const { return at_ >= end_ ? Outcome::More : Outcome::Bad; }

  const char* at_;
  const char* end_;
  std::uint8_t odd_ = 0;
};

}  // namespace stave
