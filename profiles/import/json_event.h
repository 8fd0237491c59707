// One event of a Chrome-style JSON trace, as views into the text: nothing is
// copied or converted before somebody asks.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stave {

struct JsonValue {
  // Bare: a word that JSON does not know, as NaN or inf. Word: true, false, null.
  enum class Kind : std::uint8_t { None, String, Number, Word, Bare, Array, Object };
  Kind kind = Kind::None;
  bool escaped = false;     // a string that holds a backslash
  std::string_view text{};  // of a string what is between the quotes, else all of it

  explicit operator bool() const { return kind != Kind::None; }
};

struct JsonField {
  std::string_view key;  // not unescaped
  JsonValue value;
};

// What JSON forbids and a reader can live with.
namespace json_odd {
inline constexpr std::uint8_t not_ascii = 1;  // to be validated as UTF-8
inline constexpr std::uint8_t control = 2;
inline constexpr std::uint8_t bare = 4;
inline constexpr std::uint8_t escape = 8;
inline constexpr std::uint8_t not_utf8 = 16;
inline constexpr std::uint8_t any = control | bare | escape | not_utf8;
}  // namespace json_odd

struct TraceEvent {
  std::int64_t byte = 0;  // where it stands in the text, decompressed
  std::uint8_t odd = 0;
  char phase = 0;  // 0: none
  JsonValue name{};
  JsonValue category{};
  JsonValue pid{};
  JsonValue tid{};
  JsonValue time{};
  JsonValue duration{};
  JsonValue id{};
  JsonValue args{};
  std::vector<JsonField> arguments{};  // the fields of args

  JsonValue argument(std::string_view key) const {
    for (const JsonField& field : arguments)
      if (field.key == key) return field.value;
    return {};
  }
};

}  // namespace stave
