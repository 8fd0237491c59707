#include "gui/svg.h"

#include <QBuffer>
#include <QImage>
#include <QPaintEngine>
#include <QPainter>
#include <QPainterPath>
#include <QWidget>

#include <climits>
#include <cmath>
#include <map>
#include <optional>

namespace stave::gui {
namespace {

QByteArray number(double value) { return QByteArray::number(std::round(value * 100) / 100, 'g', 9); }

QByteArray path_data(const QPainterPath& path) {
  QByteArray data;
  for (int i = 0; i < path.elementCount(); ++i) {
    const QPainterPath::Element element = path.elementAt(i);
    switch (element.type) {
      case QPainterPath::MoveToElement: data += 'M'; break;
      case QPainterPath::LineToElement: data += 'L'; break;
      case QPainterPath::CurveToElement: data += 'C'; break;
      case QPainterPath::CurveToDataElement: data += ' '; break;
    }
    data += number(element.x) + ' ' + number(element.y);
  }
  return data;
}

QColor colour_of(const QBrush& brush) {
  const QGradient* gradient = brush.gradient();
  if (gradient == nullptr || gradient->stops().isEmpty()) return brush.color();
  // Those of buttons and bars are faint: their middle tells them apart as well.
  const QGradientStops stops = gradient->stops();
  const QColor first = stops.front().second, last = stops.back().second;
  return QColor::fromRgbF((first.redF() + last.redF()) / 2, (first.greenF() + last.greenF()) / 2,
                          (first.blueF() + last.blueF()) / 2, (first.alphaF() + last.alphaF()) / 2);
}

QByteArray paint(const char* what, const QColor& colour, double opacity) {
  QByteArray text = QByteArray(" ") + what + "=\"" + colour.name().toLatin1() + '"';
  const double cover = colour.alphaF() * opacity;
  if (cover < 0.999) text += QByteArray(" ") + what + "-opacity=\"" + number(cover) + '"';
  return text;
}

}  // namespace

class SvgPicture::Engine : public QPaintEngine {
 public:
  explicit Engine(QSize size)
      : QPaintEngine(AllFeatures & ~(PatternBrush | PerspectiveTransform | PorterDuff | BlendModes | RasterOpModes)),
        size_(size) {}

  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  Type type() const override { return QPaintEngine::SVG; }

  void updateState(const QPaintEngineState& state) override {
    const DirtyFlags dirty = state.state();
    if (dirty & DirtyTransform) transform_ = state.transform();
    if (dirty & DirtyPen) pen_ = state.pen();
    if (dirty & DirtyBrush) brush_ = state.brush();
    if (dirty & DirtyOpacity) opacity_ = state.opacity();
    if (dirty & DirtyClipEnabled) clips_ = state.isClipEnabled();
    if (dirty & DirtyClipPath) clip(state.clipOperation(), transform_.map(state.clipPath()));
    if (dirty & DirtyClipRegion) {
      QPainterPath path;
      path.addRegion(state.clipRegion());
      clip(state.clipOperation(), transform_.map(path));
    }
  }

  void drawPath(const QPainterPath& path) override {
    if (!path.isEmpty()) element("<path d=\"" + path_data(path) + '"' + shape(true));
  }
  void drawPolygon(const QPointF* points, int count, PolygonDrawMode mode) override {
    if (count < 2) return;
    QPainterPath path(points[0]);
    for (int i = 1; i < count; ++i) path.lineTo(points[i]);
    if (mode != PolylineMode) path.closeSubpath();
    element("<path d=\"" + path_data(path) + '"' + shape(mode != PolylineMode));
  }
  using QPaintEngine::drawPolygon;

  void drawPixmap(const QRectF& to, const QPixmap& pixmap, const QRectF& from) override {
    drawImage(to, pixmap.toImage(), from, Qt::AutoColor);
  }
  void drawImage(const QRectF& to, const QImage& image, const QRectF& from, Qt::ImageConversionFlags) override {
    QByteArray png;
    QBuffer buffer(&png);
    buffer.open(QIODevice::WriteOnly);
    if (!image.copy(from.toAlignedRect()).save(&buffer, "PNG")) return;
    element("<image x=\"" + number(to.x()) + "\" y=\"" + number(to.y()) + "\" width=\"" + number(to.width()) +
            "\" height=\"" + number(to.height()) + "\" preserveAspectRatio=\"none\"" + transform() +
            " href=\"data:image/png;base64," + png.toBase64() + "\"/>");
  }
  void drawTextItem(const QPointF& at, const QTextItem& item) override {
    if (item.text().trimmed().isEmpty()) return;
    const QFont font = item.font();
    const double size = font.pixelSize() > 0 ? font.pixelSize() : font.pointSizeF() * dpi / 72;
    QByteArray text = "<text x=\"" + number(at.x()) + "\" y=\"" + number(at.y()) + "\" font-family=\"" +
                      font.family().toHtmlEscaped().toUtf8() + ", sans-serif\" font-size=\"" + number(size) + '"';
    if (font.weight() > QFont::Normal) text += " font-weight=\"" + QByteArray::number(font.weight()) + '"';
    if (font.italic()) text += " font-style=\"italic\"";
    // Another font must not run over what stands beside it.
    text += " textLength=\"" + number(item.width()) + "\" lengthAdjust=\"spacingAndGlyphs\" xml:space=\"preserve\"";
    element(text + transform() + paint("fill", pen_.color(), opacity_) + '>' + item.text().toHtmlEscaped().toUtf8() +
            "</text>");
  }

  QByteArray svg() const {
    const QByteArray width = QByteArray::number(size_.width()), height = QByteArray::number(size_.height());
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + width + "\" height=\"" + height +
           "\" viewBox=\"0 0 " + width + ' ' + height + "\">\n<defs>\n" + defs_ + "</defs>\n" + body_ +
           (group_ >= 0 ? "</g>\n" : "") + "</svg>\n";
  }

  static constexpr int dpi = 96;

 private:
  void clip(Qt::ClipOperation operation, const QPainterPath& path) {
    if (operation == Qt::NoClip) {
      clip_.reset();
    } else {
      clip_ = operation == Qt::IntersectClip && clip_ ? clip_->intersected(path) : path;
    }
  }

  // The number of the clip path that holds now; -1: all of the picture.
  int clip_now() {
    const QRectF all(QPointF(), size_);
    QPainterPath now;
    now.addRect(all);
    bool whole = true;
    const auto cut = [&](const QPainterPath& path) {
      if (path.contains(all)) return;
      now = now.intersected(path);
      whole = false;
    };
    if (clips_ && clip_) cut(*clip_);
    if (const QRegion system = systemClip(); !system.isEmpty()) {
      QPainterPath path;
      path.addRegion(system);
      cut(path);
    }
    if (whole) return -1;
    const QByteArray data = path_data(now);
    const auto [at, added] = clip_numbers_.try_emplace(data, static_cast<int>(clip_numbers_.size()));
    if (added)
      defs_ += "<clipPath id=\"c" + QByteArray::number(at->second) + "\"><path d=\"" + data + "\"/></clipPath>\n";
    return at->second;
  }

  void element(const QByteArray& text) {
    if (const int now = clip_now(); now != group_) {
      if (group_ >= 0) body_ += "</g>\n";
      if (now >= 0) body_ += "<g clip-path=\"url(#c" + QByteArray::number(now) + ")\">\n";
      group_ = now;
    }
    body_ += text + '\n';
  }

  QByteArray transform() const {
    if (transform_.isIdentity()) return {};
    const QTransform& t = transform_;
    if (t.type() == QTransform::TxTranslate)
      return " transform=\"translate(" + number(t.dx()) + ' ' + number(t.dy()) + ")\"";
    return " transform=\"matrix(" + number(t.m11()) + ' ' + number(t.m12()) + ' ' + number(t.m21()) + ' ' +
           number(t.m22()) + ' ' + number(t.dx()) + ' ' + number(t.dy()) + ")\"";
  }

  // The rest of a shape's element.
  QByteArray shape(bool filled) const {
    QByteArray text = transform();
    text += filled && brush_.style() != Qt::NoBrush ? paint("fill", colour_of(brush_), opacity_)
                                                    : QByteArray(" fill=\"none\"");
    if (pen_.style() != Qt::NoPen) {
      text += paint("stroke", colour_of(pen_.brush()), opacity_);
      const double width = std::max(pen_.widthF(), 1.0);
      if (width != 1) text += " stroke-width=\"" + number(width) + '"';
      if (pen_.style() != Qt::SolidLine) {
        text += " stroke-dasharray=\"";
        for (const double part : pen_.dashPattern()) text += number(part * width) + ' ';
        text += '"';
      }
    }
    return text + "/>";
  }

  QSize size_;
  QTransform transform_;
  QPen pen_;
  QBrush brush_;
  double opacity_ = 1;
  std::optional<QPainterPath> clip_;  // in pixels of the picture
  bool clips_ = true;                 // switched on: Qt says so even where there is none
  std::map<QByteArray, int> clip_numbers_;
  int group_ = -1;  // the clip path of the open group; -1: none is open
  QByteArray defs_, body_;
};

SvgPicture::SvgPicture(QSize size) : size_(size), engine_(std::make_unique<Engine>(size)) {}
SvgPicture::~SvgPicture() = default;

QByteArray SvgPicture::svg() const { return engine_->svg(); }
QPaintEngine* SvgPicture::paintEngine() const { return engine_.get(); }

int SvgPicture::metric(PaintDeviceMetric metric) const {
  switch (metric) {
    case PdmWidth: return size_.width();
    case PdmHeight: return size_.height();
    case PdmWidthMM: return size_.width() * 254 / (10 * Engine::dpi);
    case PdmHeightMM: return size_.height() * 254 / (10 * Engine::dpi);
    case PdmNumColors: return INT_MAX;
    case PdmDepth: return 32;
    case PdmDpiX:
    case PdmDpiY:
    case PdmPhysicalDpiX:
    case PdmPhysicalDpiY: return Engine::dpi;
    case PdmDevicePixelRatio: return 1;
    case PdmDevicePixelRatioScaled: return static_cast<int>(devicePixelRatioFScale());
  }
  return 0;
}

bool is_svg(const QPainter& painter) {
  return painter.paintEngine() != nullptr && painter.paintEngine()->type() == QPaintEngine::SVG;
}

QByteArray svg_of(QWidget& widget) {
  SvgPicture picture(widget.size());
  QPainter painter(&picture);
  widget.render(&painter);
  painter.end();
  return picture.svg();
}

void draw_as_rectangles(QPainter& painter, const QImage& image) {
  struct Run {
    int x = 0, right = 0, top = 0;
    QRgb colour = 0;
  };
  std::map<QRgb, QPainterPath> shapes;
  const auto close = [&](const Run& run, int bottom) {
    shapes[run.colour].addRect(run.x, run.top, run.right - run.x, bottom - run.top);
  };
  const QImage pixels = image.convertToFormat(QImage::Format_RGB32);
  std::vector<Run> open, next;  // of the line above, this line
  for (int y = 0; y < pixels.height(); ++y) {
    const auto* line = reinterpret_cast<const QRgb*>(pixels.constScanLine(y));
    auto above = open.begin();
    next.clear();
    for (int x = 0; x < pixels.width();) {
      Run run{x, x, y, line[x]};
      while (run.right < pixels.width() && line[run.right] == run.colour) ++run.right;
      x = run.right;
      for (; above != open.end() && above->x < run.x; ++above) close(*above, y);
      if (above != open.end() && above->x == run.x && above->right == run.right && above->colour == run.colour) {
        run.top = above->top;
        ++above;
      }
      next.push_back(run);
    }
    for (; above != open.end(); ++above) close(*above, y);
    open.swap(next);
  }
  for (const Run& run : open) close(run, pixels.height());
  painter.setPen(Qt::NoPen);
  for (const auto& [colour, shape] : shapes) painter.fillPath(shape, QColor::fromRgb(colour));
}

}  // namespace stave::gui
