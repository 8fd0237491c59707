// A paint device that writes SVG: shapes stay shapes and texts texts, whatever is painted.
// Qt's own is in a module (Qt SVG) that the rest does not need, and until Qt 6.5 it ignores clipping.
#pragma once

#include <QByteArray>
#include <QPaintDevice>
#include <QSize>

#include <memory>

class QImage;
class QPainter;
class QWidget;

namespace stave::gui {

class SvgPicture : public QPaintDevice {
 public:
  explicit SvgPicture(QSize size);
  ~SvgPicture() override;

  // Once nobody paints on it.
  QByteArray svg() const;

  QPaintEngine* paintEngine() const override;

 protected:
  int metric(PaintDeviceMetric metric) const override;

 private:
  class Engine;

  QSize size_;
  std::unique_ptr<Engine> engine_;
};

bool is_svg(const QPainter& painter);
QByteArray svg_of(QWidget& widget);

// Each pixel where the image has it, as few rectangles of one colour: for what is painted pixel by pixel but flat.
void draw_as_rectangles(QPainter& painter, const QImage& image);

}  // namespace stave::gui
