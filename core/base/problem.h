// What can be wrong with an input, in words, at a place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stave {

// A place in a file. Line and column count from 1; 0 is "the whole file".
// Columns count bytes.
struct Place {
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t end_line = 0;
  std::uint32_t end_column = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

enum class Severity : std::uint8_t { Note, Warning, Error };
std::string_view name_of(Severity severity);

struct Note {
  std::string message;
  Place place;

  friend bool operator==(const Note&, const Note&) = default;
};

// Codes are stable: STV0001-0999 are parse, expand, verify and files,
// STV1000 and up are analysis. `docs/errors.md` has a line for each.
struct Problem {
  Severity severity = Severity::Error;
  std::string code;     // "STV0123"
  std::string message;  // the rule and the value
  Place place;
  std::vector<Note> notes;

  friend bool operator==(const Problem&, const Problem&) = default;
};

// "file:3:5: error: message [STV0123]" and its notes, one a line. With
// `source`, the line of the input and a caret below each. Safe for a terminal.
std::string to_text(const Problem& problem, std::string_view source = {});

}  // namespace stave
