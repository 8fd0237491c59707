// A timeline view as a picture to keep.
#include <QScrollBar>

#include <algorithm>
#include <cmath>

#include "gui/view/paint_shapes.h"
#include "gui/view/timeline_view.h"

namespace stave::gui {

QImage TimelineView::picture_of(QSize logical, double scale) const {
  Metrics metrics = metrics_;
  metrics.scale = scale;
  const QSize size(static_cast<int>(std::lround(logical.width() * scale)),
                   static_cast<int>(std::lround(logical.height() * scale)));
  QImage image(size, QImage::Format_RGB32);
  const Layout layout = lay_out(scene_, metrics);
  Viewport view{.time = TimeMap(visible(), size.width() - layout.names),
                .scroll = 0,
                .width = size.width(),
                .height = size.height()};
  view.scroll = std::min(static_cast<int>(scroll_ * scale / metrics_.scale), max_scroll(layout, size.height()));
  PaintCache cache;
  paint(image, scene_, layout, view, cache, {.font = font()});
  image.setDevicePixelRatio(scale);
  return image;
}

// At logical pixels, as all other widgets are painted as shapes.
void TimelineView::paint_as_shapes(QPainter& painter) const {
  Metrics metrics = metrics_;
  metrics.scale = 1;
  const Layout layout = lay_out(scene_, metrics);
  const int width = this->width() - (bar_->isVisible() ? bar_->width() : 0);
  const int scroll = static_cast<int>(scroll_ / metrics_.scale);
  paint_shapes(painter, scene_, layout,
               {.time = TimeMap(visible(), width - layout.names),
                .scroll = std::min(scroll, max_scroll(layout, height())),
                .width = width,
                .height = height()},
               font());
}

}  // namespace stave::gui
