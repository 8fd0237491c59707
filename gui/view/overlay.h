// What lies over the rows: range, critical path, arrows, marks, outlines of
// selected slices, the ruler's lines.
#pragma once

#include <QPainter>

#include "gui/view/frame.h"
#include "gui/view/paint.h"

namespace stave::gui {

void paint_overlay(QPainter& painter, const Canvas& canvas, const Frame& frame, const PaintOptions& options);

}  // namespace stave::gui
