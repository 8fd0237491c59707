#include "profiles/import/json_parser.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <bit>

namespace stave {
namespace {

using Outcome = JsonParser::Outcome;

// Passes over what means nothing inside a string: stops at a quote, a
// backslash, a control character or a byte that is not ASCII. The padding stops it too.
const char* skip_plain(const char* at) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x20);
  while (true) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // Signed: bytes from 0x80 on are below the space as well.
    const __m128i stops = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)),
                                       _mm_cmplt_epi8(bytes, space));
    const auto mask = static_cast<std::uint32_t>(_mm_movemask_epi8(stops));
    if (mask != 0) return at + std::countr_zero(mask);
    at += 16;
  }
#else
  while (*at != '"' && *at != '\\' && static_cast<signed char>(*at) >= 0x20) ++at;
  return at;
#endif
}

bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool in_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.' ||
         c == '_' || c == '/';
}

// RFC 8259's number, except that zeros may lead.
bool is_number(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto digits = [&] {
    const char* const first = at;
    while (at < end && is_digit(*at)) ++at;
    return at > first;
  };
  if (at < end && *at == '-') ++at;
  if (!digits()) return false;
  if (at < end && *at == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    ++at;
    if (at < end && (*at == '+' || *at == '-')) ++at;
    if (!digits()) return false;
  }
  return at == end;
}

}  // namespace

Outcome JsonParser::string(JsonValue& out) {
  const char* const first = ++at_;
  bool escaped = false;
  while (true) {
    at_ = skip_plain(at_);
    if (at_ >= end_) return Outcome::More;
    const char c = *at_;
    if (c == '"') break;
    if (c == '\\') {
      escaped = true;
      const char next = at_[1];
      if (at_ + 1 >= end_) return Outcome::More;
      if (next == 'u') {
        if (at_ + 6 > end_) return Outcome::More;
        if (!is_hex(at_[2]) || !is_hex(at_[3]) || !is_hex(at_[4]) || !is_hex(at_[5])) odd_ |= json_odd::escape;
      } else if (std::string_view("\"\\/bfnrt").find(next) == std::string_view::npos) {
        odd_ |= json_odd::escape;
      }
      at_ += 2;
    } else {
      odd_ |= static_cast<signed char>(c) < 0 ? json_odd::not_ascii : json_odd::control;
      ++at_;
    }
  }
  out = {JsonValue::Kind::String, escaped, {first, static_cast<std::size_t>(at_ - first)}};
  ++at_;
  return Outcome::Done;
}

Outcome JsonParser::word(JsonValue& out) {
  const char* const first = at_;
  while (in_word(*at_)) ++at_;
  if (at_ >= end_) return Outcome::More;
  const std::string_view text(first, static_cast<std::size_t>(at_ - first));
  if (text.empty()) return Outcome::Bad;
  out.escaped = false;
  out.text = text;
  if (is_number(text)) {
    out.kind = JsonValue::Kind::Number;
  } else if (text == "true" || text == "false" || text == "null") {
    out.kind = JsonValue::Kind::Word;
  } else {
    out.kind = JsonValue::Kind::Bare;
    odd_ |= json_odd::bare;
  }
  return Outcome::Done;
}

Outcome JsonParser::key(std::string_view& out) {
  if (*at_ != '"') return bad_or_more();
  JsonValue text;
  if (const Outcome got = string(text); got != Outcome::Done) return got;
  out = text.text;
  skip_space();
  if (*at_ != ':') return bad_or_more();
  ++at_;
  skip_space();
  return Outcome::Done;
}

Outcome JsonParser::separator(char close, bool& more) {
  skip_space();
  more = *at_ == ',';
  if (!more && *at_ != close) return bad_or_more();
  ++at_;
  if (more) skip_space();
  return Outcome::Done;
}

Outcome JsonParser::skip_members(char close, int depth) {
  if (depth > max_depth) return Outcome::Bad;
  ++at_;
  skip_space();
  if (*at_ == close) {
    ++at_;
    return Outcome::Done;
  }
  for (bool more = true; more;) {
    std::string_view name;
    JsonValue ignored;
    if (close == '}')
      if (const Outcome got = key(name); got != Outcome::Done) return got;
    if (const Outcome got = value(ignored, depth); got != Outcome::Done) return got;
    if (const Outcome got = separator(close, more); got != Outcome::Done) return got;
  }
  return Outcome::Done;
}

Outcome JsonParser::value(JsonValue& out, int depth) {
  const char* const first = at_;
  switch (*at_) {
    case '"': return string(out);
    case '{':
    case '[': {
      const bool object = *at_ == '{';
      const Outcome got = skip_members(object ? '}' : ']', depth + 1);
      out = {object ? JsonValue::Kind::Object : JsonValue::Kind::Array,
             false,
             {first, static_cast<std::size_t>(at_ - first)}};
      return got;
    }
    default: return at_ >= end_ ? Outcome::More : word(out);
  }
}

Outcome JsonParser::fields(std::vector<JsonField>& out, int depth) {
  ++at_;
  skip_space();
  if (*at_ == '}') {
    ++at_;
    return Outcome::Done;
  }
  for (bool more = true; more;) {
    JsonField& field = out.emplace_back();
    if (const Outcome got = key(field.key); got != Outcome::Done) return got;
    if (const Outcome got = value(field.value, depth + 1); got != Outcome::Done) return got;
    if (const Outcome got = separator('}', more); got != Outcome::Done) return got;
  }
  return Outcome::Done;
}

Outcome JsonParser::event(TraceEvent& out) {
  const std::int64_t byte = out.byte;
  std::vector<JsonField> arguments = std::move(out.arguments);
  arguments.clear();
  out = {};
  out.byte = byte;
  out.arguments = std::move(arguments);

  ++at_;
  skip_space();
  if (*at_ == '}') {
    ++at_;
    return Outcome::Done;
  }
  for (bool more = true; more;) {
    std::string_view name;
    if (const Outcome got = key(name); got != Outcome::Done) return got;
    if (name == "args" && *at_ == '{') {
      const char* const first = at_;
      out.arguments.clear();
      if (const Outcome got = fields(out.arguments); got != Outcome::Done) return got;
      out.args = {JsonValue::Kind::Object, false, {first, static_cast<std::size_t>(at_ - first)}};
    } else {
      JsonValue ignored, phase;
      JsonValue* to = &ignored;
      if (name == "name") to = &out.name;
      if (name == "cat") to = &out.category;
      if (name == "ph") to = &phase;
      if (name == "ts") to = &out.time;
      if (name == "dur") to = &out.duration;
      if (name == "pid") to = &out.pid;
      if (name == "tid") to = &out.tid;
      if (name == "id") to = &out.id;
      if (const Outcome got = value(*to, 1); got != Outcome::Done) return got;
      if (to == &phase && phase.kind == JsonValue::Kind::String && phase.text.size() == 1) out.phase = phase.text[0];
    }
    if (const Outcome got = separator('}', more); got != Outcome::Done) return got;
  }
  return Outcome::Done;
}

}  // namespace stave
