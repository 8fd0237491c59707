#include "gui/view/overlay.h"

#include <QPainterPath>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
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
  OverlayPainter(QPainter& painter, const Canvas& canvas, const Frame& frame)
      : painter_(painter),
        canvas_(canvas),
        frame_(frame),
        scene_(frame.scene),
        layout_(frame.layout),
        theme_(frame.theme) {}

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
    if (scene_.marks.empty()) return;
    Cells cells = no_cells();
    for (std::size_t i = 0; i < scene_.marks.size(); ++i) {
      const SliceRef& ref = scene_.marks[i];
      const bool current = scene_.mark == i;
      const std::optional<double> width = width_to_draw(ref, cells, current);
      if (width) outline(ref, theme_.mark, current ? 3 : *width < 3 ? 1 : 2);
    }
  }

  // Of many slices in a pixel one: it costs pixels, not slices.
  void outlines(const std::vector<SliceRef>& slices, Rgb colour, double thick) {
    if (slices.empty()) return;
    Cells cells = no_cells();
    for (const SliceRef& ref : slices)
      if (width_to_draw(ref, cells, false)) outline(ref, colour, thick);
  }

  // Of 256: how much it covers.
  void outline(SliceRef ref, Rgb colour, double thick, unsigned cover = 256) {
    const auto box = box_of(scene_, layout_, frame_.view, ref);
    if (!box) return;
    const int line = std::max(1, static_cast<int>(std::lround(thick * layout_.metrics.scale)));
    const auto pixel = [&](double at) {
      return static_cast<int>(std::floor(std::clamp(at, -200.0, frame_.view.width + 200.0)));
    };
    const int left = pixel(box->x), right = pixel(box->x + box->width);
    const int top = static_cast<int>(box->y), bottom = top + static_cast<int>(box->height);
    const auto fill = [&](int x, int y, int end_x, int end_y) {
      const int first = box->pinned ? layout_.top() : layout_.rows_top();
      const int last = box->pinned ? std::min(canvas_.bottom, layout_.rows_top()) : canvas_.bottom;
      for (int row = std::max(y, first); row < std::min(end_y, last); ++row)
        for (int at = std::max(x, layout_.names); at < std::min(end_x, canvas_.width); ++at)
          canvas_.line(row)[at] = cover < 256 ? blend(canvas_.line(row)[at], colour, cover) : colour;
    };
    // A thin slice is shown by a bar around it.
    if (right - left < 2 * line + 1) {
      const int first = (left + right) / 2 - line / 2;
      return fill(first, top, first + line, bottom);
    }
    fill(left, top, right, top + line);
    fill(left, bottom - line, right, bottom);
    fill(left, top + line, left + line, bottom - line);
    fill(right - line, top + line, right, bottom - line);
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
  // By lane and the pixel that it begins in, where an outline that is drawn already ends.
  struct Cells {
    std::vector<std::size_t> first_lane;  // by placed row
    std::vector<std::int32_t> ends;
  };

  Cells no_cells() const {
    Cells cells;
    std::size_t lanes = 0;
    for (const PlacedRow& placed : layout_.rows) {
      cells.first_lane.push_back(lanes);
      lanes += static_cast<std::size_t>(placed.lanes);
    }
    cells.ends.assign(lanes * static_cast<std::size_t>(frame_.tracks), -1);
    return cells;
  }

  // None if it is out of view, or hidden by one that is drawn already unless it is `always` drawn.
  std::optional<double> width_to_draw(const SliceRef& ref, Cells& cells, bool always) const {
    const Slice& slice = slice_of(scene_, ref);
    const int place = layout_.places[ref.run][slice.track.value];
    if (place < 0) return std::nullopt;
    const TimeSpan span = span_of(scene_, ref);
    const double left = frame_.view.time.x(span.start), right = frame_.view.time.x(span.end);
    if (right < 0 || left >= frame_.tracks) return std::nullopt;
    const PlacedRow& placed = layout_.rows[static_cast<std::size_t>(place)];
    const int y = top_of(layout_, frame_.view, placed);
    if (y + placed.height < layout_.top() || y > frame_.view.height) return std::nullopt;
    std::size_t lane = cells.first_lane[static_cast<std::size_t>(place)];
    if (placed.lanes > 1) lane += scene_.runs[ref.run].lod->lane_of(ref.slice);
    const auto cell = lane * static_cast<std::size_t>(frame_.tracks) + static_cast<std::size_t>(std::max(left, 0.0));
    const auto end = static_cast<std::int32_t>(std::min<double>(right, frame_.tracks));
    if (cells.ends[cell] >= end && !always) return std::nullopt;
    cells.ends[cell] = std::max(cells.ends[cell], end);
    return right - left;
  }

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
  const Canvas& canvas_;  // of the same picture
  const Frame& frame_;
  const Scene& scene_;
  const Layout& layout_;
  const Theme& theme_;
};

}  // namespace

void paint_overlay(QPainter& painter, const Canvas& canvas, const Frame& frame, const PaintOptions& options) {
  const Scene& scene = frame.scene;
  OverlayPainter overlay(painter, canvas, frame);
  overlay.clip_all();
  if (scene.range) overlay.range(*scene.range);
  overlay.bookmarks();
  for (const PathInView& path : scene.paths) overlay.path(path);
  overlay.marks();
  overlay.outlines(scene.partners, frame.theme.partner, 2);
  if (scene.hovered) overlay.outline(*scene.hovered, frame.theme.accent, 1, 170);
  overlay.outlines(scene.selection, frame.theme.accent, 2);
  overlay.arrows();
  if (scene.measured) overlay.measured(*scene.measured);
  if (options.rubber) overlay.rubber(*options.rubber);
  if (options.drop_before) overlay.drop_line(*options.drop_before);
  painter.setClipping(false);
}

}  // namespace stave::gui
