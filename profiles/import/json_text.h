// What the text of a JSON value means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profiles/import/json_event.h"

namespace stave {

// A time as traces write it, before a start is subtracted: an absolute
// microsecond with its decimals does not fit 64 bits of picoseconds.
using WideTime = __int128;
inline constexpr WideTime ps_per_us = 1'000'000;
inline constexpr WideTime ps_per_ns = 1'000;

// Decimal microseconds to picoseconds, digit by digit, further digits cut. A
// string that holds a number counts. None: no number, or beyond 10^31 ps.
std::optional<WideTime> microseconds(const JsonValue& value);

std::optional<std::int64_t> integer(const JsonValue& value);         // 7, 7.0, "7"
std::optional<std::uint32_t> small_integer(const JsonValue& value);  // of 32 bits without a sign
// 3 of "3(Kernel)"; none below 0.
std::optional<std::int64_t> leading_number(std::string_view text);
std::optional<double> real(const JsonValue& value);

// True if `text` is UTF-8 without surrogates and overlong forms.
bool is_utf8(std::string_view text);

// A string's text with its escapes resolved. Bytes that are not UTF-8 become
// U+FFFD, control characters \xNN, and a backslash that escapes nothing stays.
std::string unescaped(std::string_view text);
// The same, and `text` itself where nothing has to change; `storage` may hold the result.
std::string_view plain_text(const JsonValue& value, std::uint8_t odd, std::string& storage);

// `json`, an object with oddities, as JSON: strings cleaned as above, bare words null.
std::string cleaned_json(std::string_view json);

// A value inside an object that stands as text: "rank" of {"rank": 1}. None if
// the text is no object or has no such key.
JsonValue member(std::string_view object, std::string_view key);

}  // namespace stave
