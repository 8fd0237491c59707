#include "gui/view/paint_shapes.h"

#include <QFontMetrics>
#include <QPicture>

#include <algorithm>

#include "gui/svg.h"
#include "gui/view/paint.h"

namespace stave::gui {
namespace {

void draw(QPainter& painter, const PlacedText& text, const QFont& family) {
  QFont font = family;
  font.setPixelSize(std::max(text.style.pixels, 1));
  font.setWeight(text.style.bold ? QFont::DemiBold : QFont::Normal);
  const QFontMetrics metrics(font);
  const QString whole = QString::fromStdString(text.text);
  // What does not fit fades out in pixels; here it ends in dots.
  const QString shown = metrics.elidedText(whole, Qt::ElideRight, std::max(0, text.right - text.x));
  if (shown.isEmpty() || text.y + metrics.height() < text.top || text.y > text.bottom) return;
  painter.setClipRect(QRect(0, text.top, std::max(text.right, 1), text.bottom - text.top));
  painter.setFont(font);
  painter.setPen(QColor::fromRgb(text.colour));
  painter.drawText(text.x, text.y + metrics.ascent(), shown);
}

}  // namespace

void paint_shapes(QPainter& painter, const Scene& scene, const Layout& layout, const Viewport& view,
                  const QFont& font) {
  QImage image(std::max(view.width, 1), std::max(view.height, 1), QImage::Format_RGB32);
  PaintCache cache;
  std::vector<PlacedText> texts;
  QPicture lines;
  QPainter line_painter(&lines);
  paint(image, scene, layout, view, cache, {.font = font, .texts = &texts, .lines = &line_painter});
  line_painter.end();
  painter.save();
  draw_as_rectangles(painter, image);
  for (const PlacedText& text : texts) draw(painter, text, font);
  painter.setClipping(false);
  lines.play(&painter);
  painter.restore();
}

}  // namespace stave::gui
