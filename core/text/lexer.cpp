#include "core/text/lexer.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "core/base/utf8.h"

namespace stave {
namespace {

enum Class : std::uint8_t { Other = 0, Start = 1, Digit = 2, Blank = 4 };

constexpr std::array<std::uint8_t, 256> classes = [] {
  std::array<std::uint8_t, 256> made{};
  for (int c = 'a'; c <= 'z'; ++c) made[c] = Start;
  for (int c = 'A'; c <= 'Z'; ++c) made[c] = Start;
  made['_'] = Start;
  for (int c = '0'; c <= '9'; ++c) made[c] = Digit;
  made[' '] = made['\t'] = made['\r'] = Blank;
  return made;
}();

bool is_digit(unsigned char c) { return classes[c] == Digit; }
int hex_digit(unsigned char c) {
  if (is_digit(c)) return c - '0';
  const unsigned char lower = c | 0x20;
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

bool is_name_start(unsigned char c) { return classes[c] == Start; }
bool is_name_part(unsigned char c) { return (classes[c] & (Start | Digit)) != 0; }

bool is_label(std::string_view name) {
  return name == "then" || name == "else" || name == "branch" || name == "condition" || name == "body";
}

std::string quoted(std::string_view text) {
  constexpr std::size_t limit = 60;
  std::string shown = "`";
  std::size_t i = 0;
  while (i < text.size() && shown.size() < limit) {
    const auto c = static_cast<unsigned char>(text[i]);
    const std::size_t length = utf8_length(text.substr(i, 4));
    if (c < 0x20 || c == 0x7f || length == 0) {
      shown += fmt::format("\\x{:02x}", c);
      ++i;
    } else {
      shown += text.substr(i, length);
      i += length;
    }
  }
  if (i < text.size()) shown += "...";
  return shown + "`";
}

std::string string_value(std::string_view spelling) {
  if (spelling.substr(0, 3) == "\"\"\"" && spelling.size() >= 6)
    return std::string(spelling.substr(3, spelling.size() - 6));
  std::string value;
  for (std::size_t i = 1; i + 1 < spelling.size(); ++i) {
    if (spelling[i] != '\\') {
      value += spelling[i];
      continue;
    }
    switch (const char c = spelling[++i]) {
      case 'n': value += '\n'; break;
      case 't': value += '\t'; break;
      case 'x':
        value += static_cast<char>(hex_digit(static_cast<unsigned char>(spelling[i + 1])) * 16 +
                                   hex_digit(static_cast<unsigned char>(spelling[i + 2])));
        i += 2;
        break;
      default: value += c; break;
    }
  }
  return value;
}

Lexeme Lexer::make(Lex kind, std::uint32_t length) {
  Lexeme lexeme{kind, {}, newlines_ > 0, newlines_ > 1, static_cast<std::uint32_t>(pos_), 0};
  pos_ += length;
  lexeme.end = static_cast<std::uint32_t>(pos_);
  newlines_ = 0;
  return lexeme;
}

Lexeme Lexer::error(std::uint32_t length, std::string_view code, std::string message, bool fatal) {
  problem_ = {code, std::move(message), fatal};
  const Lexeme lexeme = make(Lex::Error, length);
  if (fatal) pos_ = text_.size();
  return lexeme;
}

void Lexer::enter_record() {
  regions_ -= regions_ > 0;
  ++brackets_;
}

void Lexer::restart_at(const Lexeme& lexeme) {
  pos_ = lexeme.begin;
  newlines_ = lexeme.blank_before ? 2 : 1;
  brackets_ = 0;
}

void Lexer::restart_outside_at(const Lexeme& lexeme) {
  restart_at(lexeme);
  regions_ = 0;
}

void Lexer::comment() {
  const std::size_t begin = pos_ + 2;
  std::size_t end = text_.find('\n', begin);
  if (end == std::string_view::npos) end = text_.size();
  pos_ = end;
  while (end > begin && classes[at(end - 1)] == Blank) --end;
  comments_.push_back(
      {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), newlines_ > 0, newlines_ > 1});
  newlines_ = 0;
}

Lexeme Lexer::next() {
  for (;;) {
    if (pos_ >= text_.size()) return make(Lex::End, 0);
    const unsigned char c = at(pos_);
    if (classes[c] == Blank) {
      ++pos_;
    } else if (c == '\n') {
      if (regions_ > 0 && brackets_ == 0) {
        const Lexeme newline{
            Lex::Newline, {}, false, false, static_cast<std::uint32_t>(pos_), static_cast<std::uint32_t>(pos_ + 1)};
        ++newlines_;
        ++pos_;
        return newline;
      }
      ++newlines_;
      ++pos_;
    } else if (c == '/' && at(pos_ + 1) == '/') {
      comment();
    } else {
      break;
    }
  }
  const unsigned char c = at(pos_);
  if (is_name_start(c)) return word();
  if (is_digit(c)) return number();
  switch (c) {
    case '%': return sigil(Lex::Value);
    case '@': return sigil(Lex::Symbol);
    case '(': ++brackets_; return make(Lex::LeftParen, 1);
    case '[': ++brackets_; return make(Lex::LeftBracket, 1);
    case ')': brackets_ -= brackets_ > 0; return make(Lex::RightParen, 1);
    case ']': brackets_ -= brackets_ > 0; return make(Lex::RightBracket, 1);
    case '{': regions_ += brackets_ == 0; return make(Lex::LeftBrace, 1);
    case '}': regions_ -= brackets_ == 0 && regions_ > 0; return make(Lex::RightBrace, 1);
    case ',': return make(Lex::Comma, 1);
    case ':': return make(Lex::Colon, 1);
    case ';': return make(Lex::Semicolon, 1);
    case '+': return make(Lex::Plus, 1);
    case '*': return make(Lex::Star, 1);
    case '/': return make(Lex::Slash, 1);
    case '|': return make(Lex::Pipe, 1);
    case '-': return at(pos_ + 1) == '>' ? make(Lex::Arrow, 2) : make(Lex::Minus, 1);
    case '=': return at(pos_ + 1) == '=' ? make(Lex::EqualEqual, 2) : make(Lex::Equal, 1);
    case '<': return at(pos_ + 1) == '=' ? make(Lex::LessEqual, 2) : make(Lex::Less, 1);
    case '>': return at(pos_ + 1) == '=' ? make(Lex::GreaterEqual, 2) : make(Lex::Greater, 1);
    case '!':
      if (at(pos_ + 1) == '=') return make(Lex::NotEqual, 2);
      break;
    case '.':
      if (at(pos_ + 1) == '.') return make(Lex::Dots, 2);
      if (is_digit(at(pos_ + 1)))
        return error(1, "STV0105", "a number's dot needs a digit on both sides; write 0.5, not .5");
      break;
    case '"': return text_.substr(pos_, 3) == "\"\"\"" ? raw_string() : string();
    default: break;
  }
  return other();
}

Lexeme Lexer::word() {
  std::size_t end = pos_ + 1;
  while (is_name_part(at(end))) ++end;
  const std::string_view name = text_.substr(pos_, end - pos_);
  Lexeme lexeme = make(Lex::Name, static_cast<std::uint32_t>(name.size()));
  switch (name.front()) {
    case 's':
    case 'u':
    case 'f':
    case 'b':
      if (name.size() > 6) break;
      if (const auto dtype = dtype_named(name)) {
        lexeme.kind = Lex::Dtype;
        lexeme.dtype = *dtype;
        break;
      }
      [[fallthrough]];
    case 't':
    case 'e':
    case 'c':
      if (is_label(name)) lexeme.kind = Lex::Label;
      break;
    default: break;
  }
  return lexeme;
}

Lexeme Lexer::sigil(Lex kind) {
  std::size_t end = pos_ + 1;
  while (is_name_part(at(end))) ++end;
  if (end == pos_ + 1)
    return error(1, "STV0102",
                 fmt::format("`{0}` needs a name right behind it, as in {0}{1}{2}", text_[pos_],
                             kind == Lex::Value ? "ring" : "main",
                             kind == Lex::Value && at(end) == ' ' ? "; the remainder is `mod`" : ""));
  return make(kind, static_cast<std::uint32_t>(end - pos_));
}

Lexeme Lexer::number() {
  std::size_t end = pos_;
  Lex kind = Lex::Integer;
  bool good = true;
  if (at(pos_) == '0' && (at(pos_ + 1) | 0x20) == 'x') {
    end += 2;
    good = hex_digit(at(end)) >= 0;
    while (hex_digit(at(end)) >= 0) ++end;
  } else {
    while (is_digit(at(end))) ++end;
    if (at(end) == '.' && at(end + 1) != '.') {
      kind = Lex::Float;
      ++end;
      good = is_digit(at(end));
      while (is_digit(at(end))) ++end;
    }
    if (good && (at(end) | 0x20) == 'e') {
      kind = Lex::Float;
      ++end;
      if (at(end) == '+' || at(end) == '-') ++end;
      good = is_digit(at(end));
      while (is_digit(at(end))) ++end;
    }
  }
  good = good && !is_name_part(at(end));
  while (is_name_part(at(end))) ++end;
  const auto length = static_cast<std::uint32_t>(end - pos_);
  if (!good)
    return error(length, "STV0105",
                 fmt::format("{} is not a number; numbers are 12, 0x1f, 1.5 or 2.5e-3, with a digit on both sides of "
                             "a dot and no letters behind",
                             quoted(text_.substr(pos_, length))));
  return make(kind, length);
}

Lexeme Lexer::string() {
  std::size_t end = pos_ + 1;
  std::size_t bad_escape = 0;
  while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
    const unsigned char c = at(end);
    if (c == 0) break;
    if (c == '\\') {
      const unsigned char escaped = at(end + 1);
      if (escaped == 'x' && hex_digit(at(end + 2)) >= 0 && hex_digit(at(end + 3)) >= 0) {
        end += 3;
      } else if (escaped == 'n' || escaped == 't' || escaped == '"' || escaped == '\\') {
        ++end;
      } else if (bad_escape == 0) {
        bad_escape = end;
      }
    }
    ++end;
  }
  if (at(end) != '"')
    return error(static_cast<std::uint32_t>(end - pos_), "STV0103",
                 "a string must be closed by \" on its own line; \"\"\" begins one of several lines");
  const auto length = static_cast<std::uint32_t>(end + 1 - pos_);
  if (bad_escape != 0)
    return error(length, "STV0104",
                 fmt::format("{} is not an escape; the escapes are \\n \\t \\\" \\\\ and \\x with two hex digits",
                             quoted(text_.substr(bad_escape, 2))));
  return make(Lex::String, length);
}

Lexeme Lexer::raw_string() {
  const std::size_t end = text_.find("\"\"\"", pos_ + 3);
  if (end == std::string_view::npos) {
    return error(3, "STV0103", "a string that begins with \"\"\" must be closed by \"\"\"", true);
  }
  return make(Lex::RawString, static_cast<std::uint32_t>(end + 3 - pos_));
}

Lexeme Lexer::other() {
  const unsigned char c = at(pos_);
  if (pos_ == 0 && text_.substr(0, 3) == "\xef\xbb\xbf") {  // a byte order mark
    pos_ = 3;
    return next();
  }
  if (c < 0x20 || c == 0x7f)
    return error(1, "STV0101", fmt::format("the byte 0x{:02x} cannot stand in a schedule; is this a text file?", c),
                 true);
  const std::size_t length = utf8_length(text_.substr(pos_, 4));
  if (length == 0)
    return error(1, "STV0101",
                 fmt::format("the byte 0x{:02x} is not UTF-8 and cannot stand in a schedule; is this a text file?", c),
                 true);
  return error(static_cast<std::uint32_t>(length), "STV0102",
               fmt::format("the character {} has no meaning here", quoted(text_.substr(pos_, length))));
}

}  // namespace stave
