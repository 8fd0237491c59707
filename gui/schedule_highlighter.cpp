// Colours of the schedule's text.
#include <algorithm>

#include "core/ir/dtype.h"
#include "core/text/lexer.h"
#include "gui/schedule_editor.h"

namespace stave::gui {
namespace {

struct Ink {
  QColor keyword, type, value, symbol, number, text, comment;
};
Ink ink_of(bool dark) {
  if (dark)
    return {{120, 180, 255}, {86, 200, 170},  {230, 160, 90}, {215, 150, 200},
            {200, 200, 130}, {150, 200, 120}, {130, 138, 150}};
  return {{0, 80, 170}, {0, 110, 85}, {160, 75, 0}, {140, 55, 120}, {110, 100, 0}, {40, 110, 40}, {110, 118, 130}};
}

}  // namespace

void ScheduleHighlighter::set_dark(bool dark) {
  if (dark == dark_) return;
  dark_ = dark;
  rehighlight();
}

void ScheduleHighlighter::highlightBlock(const QString& text) {
  const Ink ink = ink_of(dark_);
  const auto colour = [&](int begin, int end, const QColor& c, bool bold = false) {
    QTextCharFormat format;
    format.setForeground(c);
    if (bold) format.setFontWeight(QFont::DemiBold);
    setFormat(begin, end - begin, format);
  };
  // A """text""" goes over lines: state 1 is inside of one.
  int begin = 0;
  setCurrentBlockState(0);
  if (previousBlockState() == 1) {
    const int end = static_cast<int>(text.indexOf("\"\"\""));
    if (end < 0) {
      setCurrentBlockState(1);
      return colour(0, static_cast<int>(text.size()), ink.text);
    }
    begin = end + 3;
    colour(0, begin, ink.text);
  }
  const int n = static_cast<int>(text.size());
  bool first = true;
  for (int i = begin; i < n;) {
    const QChar c = text[i];
    const auto word_end = [&](int at) {
      while (at < n && (text[at].isLetterOrNumber() || text[at] == '_' || text[at] == '.')) ++at;
      return at;
    };
    if (c == '/' && i + 1 < n && text[i + 1] == '/') return colour(i, n, ink.comment);
    if (c == '"') {
      if (text.mid(i, 3) == "\"\"\"") {
        const int end = static_cast<int>(text.indexOf("\"\"\"", i + 3));
        if (end < 0) {
          setCurrentBlockState(1);
          return colour(i, n, ink.text);
        }
        colour(i, end + 3, ink.text);
        i = end + 3;
        continue;
      }
      int end = i + 1;
      while (end < n && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
      colour(i, std::min(end + 1, n), ink.text);
      i = end + 1;
    } else if (c == '%' || c == '@') {
      const int end = word_end(i + 1);
      colour(i, end, c == '%' ? ink.value : ink.symbol);
      i = end;
    } else if (c.isDigit()) {
      const int end = word_end(i);
      colour(i, end, ink.number);
      i = end;
    } else if (c.isLetter() || c == '_') {
      const int end = word_end(i);
      const std::string word = text.mid(i, end - i).toStdString();
      if (dtype_named(word)) {
        colour(i, end, ink.type);
      } else if (first || is_label(word) || word == "in" || word == "out" || word == "inout") {
        colour(i, end, ink.keyword, first);
      }
      // What stands first on a line, or behind `%t =`, is an op.
      first = false;
      i = end;
    } else {
      if (c == '=' && !text.left(i).contains('(')) first = true;
      ++i;
    }
  }
}

}  // namespace stave::gui
