#include "gui/view/overlay.h"

#include <QPainterPath>
#include <algorithm>
#include <array>
#include <cmath>
#include <set>

namespace stave::gui {
namespace {

// A smooth curve takes a tenth of a millisecond and more.
constexpr std::size_t most_arrows = 150;
constexpr std::size_t most_halos = 20;

QColor colour_of(Rgb colour, int alpha = 255) {
  QColor result = QColor::fromRgb(colour);
  result.setAlpha(alpha);
  return result;
}

class OverlayPainter {
 public:
  OverlayPainter(QPainter& painter, const Frame& frame)
      : painter_(painter), frame_(frame), scene_(frame.scene), layout_(frame.layout), theme_(frame.theme) {}

  void range(const RangeSelection& range) {
    const double left = x(range.span.start), right = std::max(x(range.span.end), left + 1);
    const QColor fill = colour_of(theme_.range, 36), edge = colour_of(theme_.range, 200);
    if (range.rows.empty()) {
      painter_.fillRect(QRectF(left, layout_.top(), right - left, frame_.view.height), fill);
    } else {
      for (const PlacedRow& placed : layout_.rows)
        if (std::find(range.rows.begin(), range.rows.end(), placed.row) != range.rows.end()) {
          clip(placed.pinned);
          painter_.fillRect(QRectF(left, top_of(layout_, frame_.view, placed), right - left, placed.height), fill);
        }
      clip_all();
    }
    for (const double at : {left, right})
      painter_.fillRect(QRectF(std::floor(at), layout_.top(), 1, frame_.view.height), edge);
  }

  void bookmarks() {
    QPen pen(colour_of(theme_.range, 150));
    pen.setDashPattern({4, 3});
    painter_.setPen(pen);
    for (const Bookmark& bookmark : scene_.bookmarks) vertical(bookmark.time);
  }

  void measured(TimeSpan span) {
    painter_.setPen(QPen(colour_of(theme_.mark), 1));
    vertical(span.start);
    vertical(span.end);
    const double left = x(std::min(span.start, span.end)), right = x(std::max(span.start, span.end));
    painter_.fillRect(QRectF(left, layout_.top(), right - left, frame_.view.height), colour_of(theme_.mark, 22));
  }

  // A line below the slices of the path, and where it goes from one row to another.
  void path(const PathInView& path) {
    const Picoseconds shift = scene_.runs[path.run].shift;
    const TimeSpan visible{frame_.view.time.time(0) - shift, frame_.view.time.time(frame_.tracks) - shift};
    auto part = std::partition_point(path.parts.begin(), path.parts.end(),
                                     [&](const PathPart& p) { return p.start + p.duration < visible.start; });
    if (part != path.parts.begin()) --part;
    const double thick = std::max(2.0, 2.5 * layout_.metrics.scale);
    const QColor colour = colour_of(theme_.path);
    double last_x = -1, last_y = -1;
    bool last_pinned = false;
    clip_all();
    for (; part != path.parts.end() && part->start <= visible.end; ++part) {
      if (!part->slice) continue;
      const double from = x(part->start + shift), to = x(part->start + part->duration + shift);
      const int place = layout_.places[path.run][scene_.runs[path.run].timeline->slice(part->slice).track.value];
      if (place < 0) continue;
      if (to - from < 0.5 && std::floor(from) == last_x && last_y >= 0) continue;
      const auto box = box_of(scene_, layout_, frame_.view, {path.run, part->slice});
      const double y = box->y + box->height - thick;
      const double left = std::floor(from), width = std::max(std::floor(to) - left, 1.0);
      if (last_y >= 0 && std::abs(last_y - y) > 1 && box->pinned == last_pinned) {
        clip(box->pinned);
        painter_.fillRect(QRectF(left, std::min(y, last_y), std::max(1.0, thick / 2), std::abs(y - last_y) + thick),
                          colour_of(theme_.path, 160));
      }
      clip(box->pinned);
      painter_.fillRect(QRectF(left, y, width, thick),
                        part->kind == PathPart::Kind::Gap ? QBrush(colour, Qt::Dense4Pattern) : QBrush(colour));
      last_x = std::floor(to);
      last_y = y;
      last_pinned = box->pinned;
    }
    clip_all();
  }

  void arrows() {
    painter_.setRenderHint(QPainter::Antialiasing);
    std::set<std::array<int, 4>> drawn;  // by the pixels of their ends
    for (const Arrow& arrow : scene_.arrows) {
      const auto from = box_of(scene_, layout_, frame_.view, arrow.from),
                 to = box_of(scene_, layout_, frame_.view, arrow.to);
      if (!from || !to) continue;
      constexpr double far = 20'000;  // far outside a painter loses its precision
      const QPointF end(std::clamp(to->x, -far, far), to->y + to->height / 2);
      // A call may still run when what it launched begins.
      const double x = std::clamp(to->x, from->x, from->x + from->width);
      const QPointF begin(std::clamp(x, -far, far), from->y + from->height / 2);
      if (std::max(begin.x(), end.x()) < layout_.names || std::min(begin.x(), end.x()) > frame_.view.width) continue;
      const std::array<int, 4> ends{static_cast<int>(begin.x()), static_cast<int>(begin.y()), static_cast<int>(end.x()),
                                    static_cast<int>(end.y())};
      if (!drawn.insert(ends).second) continue;
      if (drawn.size() > most_arrows) break;
      draw_arrow(begin, end, arrow.certainty, drawn.size() <= most_halos);
    }
    painter_.setRenderHint(QPainter::Antialiasing, false);
  }

  void marks() {
    std::vector<bool> drawn(layout_.rows.size() * static_cast<std::size_t>(frame_.tracks));
    for (std::size_t i = 0; i < scene_.marks.size(); ++i) {
      const SliceRef& ref = scene_.marks[i];
      const Slice& slice = slice_of(scene_, ref);
      const int place = layout_.places[ref.run][slice.track.value];
      if (place < 0) continue;
      const TimeSpan span = span_of(scene_, ref);
      const double left = frame_.view.time.x(span.start), right = frame_.view.time.x(span.end);
      if (right < 0 || left >= frame_.tracks) continue;
      const PlacedRow& placed = layout_.rows[static_cast<std::size_t>(place)];
      if (const int y = top_of(layout_, frame_.view, placed);
          y + placed.height < layout_.top() || y > frame_.view.height)
        continue;
      const bool current = scene_.mark == i;
      const auto cell = static_cast<std::size_t>(place) * static_cast<std::size_t>(frame_.tracks) +
                        static_cast<std::size_t>(std::max(left, 0.0));
      if (drawn[cell] && !current) continue;
      drawn[cell] = true;
      outline(ref, colour_of(theme_.mark), current ? 3 : right - left < 3 ? 1 : 2);
    }
  }

  void outline(SliceRef ref, const QColor& colour, double thick) {
    const auto box = box_of(scene_, layout_, frame_.view, ref);
    if (!box) return;
    thick = std::max(1.0, std::round(thick * layout_.metrics.scale));
    double left = std::floor(box->x), right = std::floor(box->x + box->width);
    // A thin slice is shown by a bar around it.
    if (right - left < 2 * thick + 1) {
      const double middle = std::floor((left + right) / 2);
      painter_.setPen(Qt::NoPen);
      clip(box->pinned);
      painter_.fillRect(QRectF(middle - std::floor(thick / 2), box->y, std::max(thick, 1.0), box->height), colour);
      return clip_all();
    }
    left = std::max(left, -100.0);
    right = std::min(right, frame_.view.width + 100.0);
    clip(box->pinned);
    const double height = box->height, top = box->y;
    painter_.fillRect(QRectF(left, top, right - left, thick), colour);
    painter_.fillRect(QRectF(left, top + height - thick, right - left, thick), colour);
    painter_.fillRect(QRectF(left, top, thick, height), colour);
    painter_.fillRect(QRectF(right - thick, top, thick, height), colour);
    clip_all();
  }

  void rubber(const Box& box) {
    painter_.setPen(QPen(colour_of(theme_.range), 1));
    painter_.setBrush(colour_of(theme_.range, 40));
    painter_.drawRect(QRectF(box.x, box.y, box.width, box.height));
  }

  void drop_line(std::size_t before) {
    painter_.setClipping(false);
    double y = layout_.rows_top() + layout_.content - frame_.view.scroll;
    for (const PlacedRow& placed : layout_.rows)
      if (placed.row == before) y = top_of(layout_, frame_.view, placed);
    painter_.fillRect(QRectF(0, y - 1, frame_.view.width, std::max(2.0, 2 * layout_.metrics.scale)),
                      colour_of(theme_.range));
  }

  void clip_all() {
    painter_.setClipRect(QRect(layout_.names, layout_.top(), frame_.tracks, frame_.view.height - layout_.top()));
  }

 private:
  double x(Time time) const {
    return layout_.names + std::clamp(frame_.view.time.x(time), -100.0, frame_.tracks + 100.0);
  }

  void clip(bool pinned) {
    const int top = pinned ? layout_.top() : layout_.rows_top();
    const int bottom = pinned ? layout_.rows_top() : frame_.view.height;
    painter_.setClipRect(QRect(layout_.names, top, frame_.tracks, bottom - top));
  }

  void vertical(Time time) {
    const double at = std::floor(x(time)) + 0.5;
    painter_.drawLine(QPointF(at, layout_.top()), QPointF(at, frame_.view.height));
  }

  void draw_arrow(QPointF begin, QPointF end, Certainty certainty, bool with_halo) {
    const double bend = std::clamp(std::abs(end.x() - begin.x()) / 2, 12.0 * layout_.metrics.scale, 200.0);
    QPainterPath path(begin);
    path.cubicTo(begin + QPointF(bend, 0), end - QPointF(bend, 0), end);
    QPen pen(colour_of(theme_.arrow), 1.4 * layout_.metrics.scale);
    if (certainty == Certainty::Inferred || certainty == Certainty::Possible) pen.setStyle(Qt::DashLine);
    QPen halo(colour_of(theme_.row, 200), 3.4 * layout_.metrics.scale);
    painter_.setBrush(Qt::NoBrush);
    painter_.setPen(halo);
    if (with_halo) painter_.drawPath(path);
    painter_.setPen(pen);
    painter_.drawPath(path);
    const double size = 6 * layout_.metrics.scale;
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(colour_of(theme_.arrow));
    painter_.drawPolygon(QPolygonF({end, end + QPointF(-size, -size / 2), end + QPointF(-size, size / 2)}));
  }

  QPainter& painter_;
  const Frame& frame_;
  const Scene& scene_;
  const Layout& layout_;
  const Theme& theme_;
};

}  // namespace

void paint_overlay(QPainter& painter, const Frame& frame, const PaintOptions& options) {
  const Scene& scene = frame.scene;
  OverlayPainter overlay(painter, frame);
  overlay.clip_all();
  if (scene.range) overlay.range(*scene.range);
  overlay.bookmarks();
  for (const PathInView& path : scene.paths) overlay.path(path);
  overlay.marks();
  for (const SliceRef& partner : scene.partners) overlay.outline(partner, colour_of(frame.theme.partner), 2);
  if (scene.hovered) overlay.outline(*scene.hovered, colour_of(frame.theme.accent, 170), 1);
  for (const SliceRef& selected : scene.selection) overlay.outline(selected, colour_of(frame.theme.accent), 2);
  overlay.arrows();
  if (scene.measured) overlay.measured(*scene.measured);
  if (options.rubber) overlay.rubber(*options.rubber);
  if (options.drop_before) overlay.drop_line(*options.drop_before);
  painter.setClipping(false);
}

}  // namespace stave::gui
