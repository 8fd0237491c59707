// Stave's texts as Qt's.
#pragma once

#include <QString>

#include <string_view>

#include "workbench/units_text.h"

namespace stave::gui {

inline QString words(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}
inline QString words(Picoseconds time) { return words(duration_text(time)); }
// "+12 us"
inline QString signed_words(Picoseconds time) { return (time.count() > 0 ? "+" : "") + words(time); }

}  // namespace stave::gui
