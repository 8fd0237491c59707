#include "core/base/json.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>

#include "core/base/utf8.h"

namespace stave {

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text[0];
    std::size_t n = 1;
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else if (n = utf8_length(text); n == 0) {
      out += "\xef\xbf\xbd";
      n = 1;
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(n);
  }
  return out + '"';
}

void JsonWriter::newline() {
  out_ += '\n';
  out_.append(levels_.size() * 2, ' ');
}

void JsonWriter::before_value() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (levels_.empty()) return;
  assert(levels_.back().array);
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  newline();
}

JsonWriter& JsonWriter::raw(std::string_view text) {
  before_value();
  out_ += text;
  return *this;
}

JsonWriter& JsonWriter::begin_object() {
  raw("{");
  levels_.push_back({.array = false});
  return *this;
}

JsonWriter& JsonWriter::begin_array() {
  raw("[");
  levels_.push_back({.array = true});
  return *this;
}

JsonWriter& JsonWriter::end_object() {
  assert(!levels_.empty() && !levels_.back().array && !after_key_);
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) newline();
  out_ += '}';
  return *this;
}

JsonWriter& JsonWriter::end_array() {
  assert(!levels_.empty() && levels_.back().array);
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) newline();
  out_ += ']';
  return *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  assert(!levels_.empty() && !levels_.back().array && !after_key_);
  if (!levels_.back().empty) out_ += ',';
  levels_.back().empty = false;
  newline();
  out_ += json_quoted(name);
  out_ += ": ";
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) { return raw(json_quoted(text)); }

JsonWriter& JsonWriter::value(double number) { return raw(std::isfinite(number) ? fmt::format("{}", number) : "null"); }

std::string JsonWriter::finish() && {
  assert(levels_.empty());
  out_ += '\n';
  return std::move(out_);
}

}  // namespace stave
