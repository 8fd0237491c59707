// What all parts of a frame share.
#pragma once

#include <string>
#include <vector>

#include "gui/view/labels.h"
#include "gui/view/layout.h"
#include "gui/view/slice_colours.h"

namespace stave::gui {

struct Frame {
  Frame(const Scene& scene, const Layout& layout, const Viewport& view);

  const Scene& scene;
  const Layout& layout;
  const Viewport view;  // its map exactly as wide as the tracks
  const Theme& theme;
  int tracks = 0;                          // width in pixels
  std::vector<SliceColours> colours;       // by run
  std::vector<Rgb> background;             // of a track row, by column: grid and steps show through
  std::vector<std::vector<bool>> on_path;  // by run and slice row; empty where no path is shown
};

// A text that is drawn when the rows are.
struct Caption {
  std::string text;
  int x = 0, right = 0;
  int y = 0, height = 0;  // it stands in the middle of
  Rgb colour = 0;
  LabelStyle style{};
  bool follows = false;  // stands behind the caption before it, not at x
};

}  // namespace stave::gui
