// What stands above the rows: minimap, ruler and steps.
#pragma once

#include <QImage>
#include <QPainter>
#include <vector>

#include "gui/view/paint_rows.h"

namespace stave::gui {

// What the minimap's picture depends on.
struct MinimapKey {
  int width = 0, height = 0;
  bool dark = false;
  ColourBy colour_by = ColourBy::Family;
  struct Run {
    std::shared_ptr<const Lod> lod;  // kept, so that no other one gets its address
    std::shared_ptr<const SliceDeltas> deltas;
    Picoseconds shift{};
    bool ghost = false;

    friend bool operator==(const Run&, const Run&) = default;
  };
  std::vector<Run> runs{};

  friend bool operator==(const MinimapKey&, const MinimapKey&) = default;
};
MinimapKey minimap_key(const Frame& frame);
// How busy the devices of each run are, over all of the time. Without what changes: the window, marks.
QImage minimap_picture(const Frame& frame);
// Maps the minimap's pixels.
TimeMap minimap_time(const Scene& scene, int width);

void paint_top(QPainter& painter, const Canvas& canvas, const Frame& frame, const QImage& minimap, Labels& labels);

}  // namespace stave::gui
