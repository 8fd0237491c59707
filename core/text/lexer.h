// Splits a text into lexemes without copying any of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/dtype.h"

namespace stave {

enum class Lex : std::uint8_t {
  End,
  Newline,  // outside ( ) [ ] and inside a region only: there it ends a statement
  Semicolon,
  Name,
  Dtype,
  Label,   // then else branch condition body
  Value,   // %name
  Symbol,  // @name
  Integer,
  Float,
  String,     // "..." on one line, with escapes
  RawString,  // """...""" as it stands
  LeftParen,
  RightParen,
  LeftBracket,
  RightBracket,
  LeftBrace,
  RightBrace,
  Comma,
  Colon,
  Equal,
  Arrow,
  Dots,
  Plus,
  Minus,
  Star,
  Slash,
  Less,
  LessEqual,
  EqualEqual,
  NotEqual,
  Greater,
  GreaterEqual,
  Pipe,
  Error
};

struct Lexeme {
  Lex kind = Lex::End;
  Dtype dtype{};  // Dtype
  bool first_on_line = false;
  bool blank_before = false;  // an empty line comes first
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct LexComment {
  std::uint32_t begin = 0;  // of the text behind the slashes
  std::uint32_t end = 0;    // without blanks at the end
  bool first_on_line = false;
  bool blank_before = false;
};

class Lexer {
 public:
  // Texts of 4 GiB and more are not taken: offsets have 32 bits.
  explicit Lexer(std::string_view text) : text_(text) {}

  Lexeme next();

  // What the last lexeme of kind Error is about. After a fatal one nothing more comes.
  struct Problem {
    std::string_view code;
    std::string message;
    bool fatal = false;
  };
  const Problem& problem() const { return problem_; }

  // Comments met since they were last cleared, in order.
  std::vector<LexComment>& comments() { return comments_; }

  // Inside ( ) or [ ].
  bool in_brackets() const { return brackets_ > 0; }
  // The `{` just read, outside brackets, begins a record and not a region; the
  // `}` just read ends it. In between line breaks mean nothing.
  void enter_record();
  void leave_record() { brackets_ -= brackets_ > 0; }
  // Reads on from `lexeme` as if all brackets before it were closed.
  void restart_at(const Lexeme& lexeme);
  // The same, and as if all regions before it were closed.
  void restart_outside_at(const Lexeme& lexeme);

 private:
  Lexeme make(Lex kind, std::uint32_t length);
  Lexeme error(std::uint32_t length, std::string_view code, std::string message, bool fatal = false);
  Lexeme number();
  Lexeme word();
  Lexeme sigil(Lex kind);
  Lexeme string();
  Lexeme raw_string();
  Lexeme other();
  void comment();
  unsigned char at(std::size_t i) const { return i < text_.size() ? static_cast<unsigned char>(text_[i]) : 0; }

  std::string_view text_;
  std::size_t pos_ = 0;
  std::uint32_t newlines_ = 1;  // since the last lexeme or comment
  std::uint32_t brackets_ = 0;  // open ( and [
  std::uint32_t regions_ = 0;   // open { outside brackets
  std::vector<LexComment> comments_;
  Problem problem_;
};

// At most 60 bytes of `text` between backquotes, what cannot be shown as \xNN.
std::string quoted(std::string_view text);

// The text of a String or RawString lexeme without quotes and escapes; the
// lexer has checked its form.
std::string string_value(std::string_view spelling);

bool is_name_start(unsigned char c);
bool is_name_part(unsigned char c);

// then else branch condition body
bool is_label(std::string_view name);

}  // namespace stave
