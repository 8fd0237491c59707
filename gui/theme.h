// How the window looks: one quiet palette for light and one for dark.
#pragma once

#include <QPalette>

namespace stave::gui {

enum class ThemeChoice { System, Light, Dark };

bool is_dark(ThemeChoice theme);
QPalette palette_of(bool dark);
// Of the application: style, palette, and what style sheets must say.
void apply_theme(bool dark);

}  // namespace stave::gui
