// A minute's walk through the window, on a schedule that it brings along.
#pragma once

#include <span>

namespace stave::gui {

class MainWindow;

struct TourStop {
  const char* words;
  void (*show)(MainWindow& window);  // what the words speak of
};
std::span<const TourStop> tour();

}  // namespace stave::gui
