// A frame as shapes and texts, for SVG: what paint() draws, no pixels.
#pragma once

#include <QFont>
#include <QPainter>

#include "gui/view/layout.h"

namespace stave::gui {

void paint_shapes(QPainter& painter, const Scene& scene, const Layout& layout, const Viewport& view, const QFont& font);

}  // namespace stave::gui
