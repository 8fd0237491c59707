#include "profiles/import/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/base/utf8.h"
#include "profiles/import/json_parser.h"

namespace stave {
namespace {

bool holds_number(const JsonValue& value) {
  return value.kind == JsonValue::Kind::Number || value.kind == JsonValue::Kind::String;
}

constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

// The four hexadecimal digits behind "\u"; none if they are not.
std::optional<std::uint32_t> code_unit(std::string_view text) {
  if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') return std::nullopt;
  std::uint32_t code = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, code, 16);
  if (error != std::errc{} || end != text.data() + 6) return std::nullopt;
  return code;
}

// Appends what the escape at the start of `text` means; the length of the escape.
std::size_t append_escape(std::string& out, std::string_view text) {
  constexpr std::string_view letters = "\"\\/bfnrt";
  constexpr std::string_view meanings = "\"\\/\b\f\n\r\t";
  if (text.size() >= 2)
    if (const std::size_t at = letters.find(text[1]); at != std::string_view::npos) {
      out += meanings[at];
      return 2;
    }
  const std::optional<std::uint32_t> first = code_unit(text);
  if (!first) {
    out += '\\';
    return 1;
  }
  if (*first >= 0xd800 && *first < 0xdc00) {
    const std::optional<std::uint32_t> second = code_unit(text.substr(6));
    if (second && *second >= 0xdc00 && *second < 0xe000) {
      append_utf8(out, 0x10000 + ((*first - 0xd800) << 10) + (*second - 0xdc00));
      return 12;
    }
  }
  if (*first >= 0xd800 && *first < 0xe000)
    out += replacement;
  else if (*first == 0)
    out += "\\x00";  // a text that holds a zero byte is cut by much that reads it
  else
    append_utf8(out, *first);
  return 6;
}

// Appends `text` piece by piece: what `escape` makes of a backslash and behind
// it, returning the length; what `control` makes of a control character.
template <class Escape, class Control>
void append_pieces(std::string& out, std::string_view text, Escape escape, Control control) {
  while (!text.empty()) {
    const char c = text[0];
    std::size_t n = 1;
    if (c == '\\') {
      n = escape(text);
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += control(static_cast<unsigned>(c));
    } else if (n = utf8_length(text); n == 0) {
      out += replacement;
      n = 1;
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(n);
  }
}

// A string in quotes, as JSON.
void append_cleaned_string(std::string& out, std::string_view text) {
  const auto escape = [&](std::string_view at) {
    const bool known = at.size() >= 2 && std::string_view("\"\\/bfnrt").find(at[1]) != std::string_view::npos;
    const std::size_t n = known ? 2 : code_unit(at) ? 6 : 1;
    out += n == 1 ? std::string_view("\\\\") : at.substr(0, n);
    return n;
  };
  append_pieces(out, text, escape, [](unsigned c) { return fmt::format("\\u{:04x}", c); });
}

}  // namespace

std::optional<WideTime> microseconds(const JsonValue& value) {
  if (!holds_number(value)) return std::nullopt;
  std::string_view text = value.text;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  // Digits times 10^exponent picoseconds; 6 decimals of a microsecond are whole ones, more may come before an exponent.
  constexpr WideTime enough = WideTime{1'000'000'000'000} * 1'000'000'000'000;
  WideTime digits = 0;
  int exponent = 6;
  bool any = false, dot = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !dot) {
      dot = true;
      continue;
    }
    if (!is_digit(c)) break;
    any = true;
    if (digits > enough && dot) continue;
    if (digits > enough) return std::nullopt;
    digits = digits * 10 + (c - '0');
    if (dot) --exponent;
  }
  if (!any) return std::nullopt;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    int scale = 0;
    if (++i < text.size() && text[i] == '+') ++i;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), scale);
    if (error != std::errc{} || scale < -40 || scale > 40) return std::nullopt;
    i = static_cast<std::size_t>(end - text.data());
    exponent += scale;
  }
  if (i != text.size()) return std::nullopt;
  for (; exponent > 0; --exponent) {
    if (digits > WideTime{1'000'000'000'000'000} * 1'000'000'000'000'000) return std::nullopt;
    digits *= 10;
  }
  for (; exponent < 0; ++exponent) digits /= 10;
  return negative ? -digits : digits;
}

std::optional<std::int64_t> integer(const JsonValue& value) {
  if (!holds_number(value)) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [at, error] = std::from_chars(value.text.data(), end, number);
  if (error == std::errc{} && at == end) return number;
  const std::optional<double> fraction = real(value);
  if (!fraction || !(std::abs(*fraction) < 9e18) || *fraction != std::trunc(*fraction)) return std::nullopt;
  return static_cast<std::int64_t>(*fraction);
}

std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  return error == std::errc{} && n >= 0 ? std::optional(n) : std::nullopt;
}

std::optional<std::uint32_t> small_integer(const JsonValue& value) {
  const std::optional<std::int64_t> n = integer(value);
  if (!n || *n < 0 || *n > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*n);
}

std::optional<double> real(const JsonValue& value) {
  if (!holds_number(value)) return std::nullopt;
  double number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [at, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc{} || at != end || !(number > -9e18 && number < 9e18)) return std::nullopt;
  return number;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (static_cast<signed char>(text[0]) >= 0) {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t n = utf8_length(text);
    if (n == 0) return false;
    text.remove_prefix(n);
  }
  return true;
}

std::string unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  append_pieces(
      out, text, [&](std::string_view at) { return append_escape(out, at); },
      [](unsigned c) { return fmt::format("\\x{:02x}", c); });
  return out;
}

std::string_view plain_text(const JsonValue& value, std::uint8_t odd, std::string& storage) {
  if (!value.escaped && (odd & json_odd::any) == 0) return value.text;
  storage = unescaped(value.text);
  return storage;
}

std::string cleaned_json(std::string_view json) {
  std::string out;
  out.reserve(json.size() + 16);
  while (!json.empty()) {
    const char c = json[0];
    if (c == '"') {
      std::size_t end = 1;
      while (end < json.size() && json[end] != '"') end += json[end] == '\\' ? 2 : 1;
      end = std::min(end, json.size());
      out += '"';
      append_cleaned_string(out, json.substr(1, end - 1));
      out += '"';
      json.remove_prefix(std::min(end + 1, json.size()));
      continue;
    }
    constexpr std::string_view marks = "{}[]:,\" \n\r\t";
    const std::size_t end = std::min(json.find_first_of(marks), json.size());
    if (end == 0) {
      out += c;
      json.remove_prefix(1);
      continue;
    }
    const std::string padded = std::string(json.substr(0, end)) + std::string(JsonParser::padding, '\0');
    JsonValue word;
    JsonParser parser(padded.data(), padded.data() + end + 1);
    const bool fine = parser.value(word) == JsonParser::Outcome::Done && word.kind != JsonValue::Kind::Bare &&
                      word.text.size() == end;
    out += fine ? json.substr(0, end) : std::string_view("null");
    json.remove_prefix(end);
  }
  return out;
}

JsonValue member(std::string_view object, std::string_view key) {
  if (!object.starts_with('{')) return {};
  const std::string padded = std::string(object) + std::string(JsonParser::padding, '\0');
  std::vector<JsonField> fields;
  JsonParser parser(padded.data(), padded.data() + object.size());
  if (parser.fields(fields) != JsonParser::Outcome::Done) return {};
  for (const JsonField& field : fields) {
    if (field.key != key) continue;
    JsonValue value = field.value;
    value.text =
        object.substr(static_cast<std::size_t>(field.value.text.data() - padded.data()), field.value.text.size());
    return value;
  }
  return {};
}

}  // namespace stave
