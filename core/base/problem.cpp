#include "core/base/problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/utf8.h"

namespace stave {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Error: return "error";
  }
  return "error";
}

namespace {

std::string at(const Place& place) {
  if (place.file.empty() && place.line == 0) return "";
  const std::string file = printable(place.file);
  if (place.line == 0) return file + ": ";
  return fmt::format("{}:{}:{}: ", file, place.line, place.column);
}

// Long lines are cut around the column, so that a message stays readable.
constexpr std::size_t shown_columns = 120;

std::string excerpt(const Place& place, std::string_view source) {
  if (place.line == 0 || source.empty()) return "";
  std::size_t begin = 0;
  for (std::uint32_t line = 1; line < place.line; ++line) {
    const std::size_t newline = source.find('\n', begin);
    if (newline == std::string_view::npos) return "";
    begin = newline + 1;
  }
  std::string_view line = source.substr(begin, source.find('\n', begin) - begin);
  std::size_t column = place.column == 0 ? 0 : place.column - 1;
  if (column > line.size()) return "";
  const std::size_t cut = column > shown_columns ? column - shown_columns / 2 : 0;
  line = line.substr(cut, shown_columns);
  column -= cut;
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  // A line of a binary file says nothing and can upset a terminal.
  if (std::any_of(line.begin(), line.end(), [&](char c) { return control(c) && c != '\t' && c != '\r'; })) return "";
  std::string shown(line);
  std::replace_if(shown.begin(), shown.end(), control, ' ');
  return fmt::format("  {}\n  {:>{}}\n", shown, "^", column + 1);
}

}  // namespace

std::string to_text(const Problem& problem, std::string_view source) {
  std::string out =
      fmt::format("{}{}: {}{}\n", at(problem.place), name_of(problem.severity), printable_lines(problem.message),
                  problem.code.empty() ? "" : fmt::format(" [{}]", problem.code));
  out += excerpt(problem.place, source);
  for (const Note& note : problem.notes) {
    out += fmt::format("{}note: {}\n", at(note.place), printable_lines(note.message));
    out += excerpt(note.place, source);
  }
  return out;
}

}  // namespace stave
