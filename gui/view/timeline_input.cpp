// What hands do in a timeline view: keys, wheel, pointer.
#include <QContextMenuEvent>
#include <QGuiApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QStyleHints>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/view/ruler.h"
#include "gui/view/timeline_view.h"

namespace stave::gui {
namespace {

constexpr double zoom_step = 0.8;  // a key press, or a notch of the wheel
constexpr double pan_step = 0.1;   // of the width
constexpr double notch = 120;      // QWheelEvent: eighths of a degree a notch
constexpr double grip_reach = 4;   // logical pixels around the edge of the names column
constexpr int least_names = 80, most_names = 600;

}  // namespace

void TimelineView::keyPressEvent(QKeyEvent* event) {
  if (scene_.runs.empty() || (event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier))) {
    QWidget::keyPressEvent(event);
    return;
  }
  const double far = event->modifiers() & Qt::ShiftModifier ? 5 : 1;
  const double page = tracks_width() * pan_step * far;
  const int line = metrics_.px(metrics_.lane) * static_cast<int>(far);
  const int rows = std::max(line, viewport().height - layout_.rows_top() - line);
  switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
    case Qt::Key_Equal: zoom(std::pow(zoom_step, far)); break;
    case Qt::Key_S:
    case Qt::Key_Minus: zoom(std::pow(1 / zoom_step, far)); break;
    case Qt::Key_A:
    case Qt::Key_Left: pan(-page); break;
    case Qt::Key_D:
    case Qt::Key_Right: pan(page); break;
    case Qt::Key_Up: scroll_by(-2 * line); break;
    case Qt::Key_Down: scroll_by(2 * line); break;
    case Qt::Key_PageUp: scroll_by(-rows); break;
    case Qt::Key_PageDown: scroll_by(rows); break;
    case Qt::Key_Home: go_to(extent_of(scene_).start); break;
    case Qt::Key_End: go_to(extent_of(scene_).end); break;
    case Qt::Key_F: far > 1 ? fit_all() : fit(); break;
    case Qt::Key_BracketLeft:
    case Qt::Key_Comma: select_neighbour(false); break;
    case Qt::Key_BracketRight:
    case Qt::Key_Period: select_neighbour(true); break;
    case Qt::Key_M: set_measuring(!measuring_); break;
    case Qt::Key_P:
      if (!scene_.selection.empty())
        if (const auto row = row_of(scene_, scene_.selection.front())) toggle_pin(*row);
      break;
    case Qt::Key_Escape:
      if (measuring_) {
        set_measuring(false);
      } else if (scene_.range) {
        set_range(std::nullopt);
        emit range_selected(std::nullopt);
      } else if (!scene_.selection.empty()) {
        select(std::nullopt);
      } else {
        QWidget::keyPressEvent(event);
      }
      break;
    default: QWidget::keyPressEvent(event); return;
  }
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  if (scene_.runs.empty()) return;
  const QPointF pixel = pixel_of(event->position());
  const QPoint turned = event->angleDelta();
  const double steps = turned.y() / notch, sideways = turned.x() / notch;
  const bool shift = event->modifiers() & Qt::ShiftModifier;
  if (pixel.x() < layout_.names || (event->modifiers() & Qt::ControlModifier)) {
    scroll_by(static_cast<int>(std::lround(-steps * 3 * metrics_.px(metrics_.lane))));
  } else if (shift || std::abs(sideways) > std::abs(steps)) {
    pan(-(shift && turned.x() == 0 ? steps : sideways) * tracks_width() * pan_step);
  } else {
    set_time(time_.zoomed(std::pow(zoom_step, steps), time_x(pixel)));
  }
  event->accept();
}

TimelineView::Drag TimelineView::drag_for(const Hit& at, QPointF pixel, Qt::KeyboardModifiers modifiers,
                                          Qt::MouseButton button) const {
  if (std::abs(pixel.x() - layout_.names) <= grip_reach * metrics_.scale && button == Qt::LeftButton)
    return Drag::Names;
  switch (at.part) {
    case Hit::Part::Nothing: return Drag::None;
    case Hit::Part::Minimap: return Drag::Minimap;
    case Hit::Part::Names: return at.row ? Drag::Row : Drag::None;
    case Hit::Part::Ruler: return measuring_ ? Drag::Measure : Drag::Range;
    case Hit::Part::Rows: break;
  }
  if (button == Qt::MiddleButton) return Drag::Pan;
  if (modifiers & Qt::ShiftModifier) return Drag::Box;
  if (modifiers & Qt::ControlModifier) return Drag::Range;
  return measuring_ ? Drag::Measure : Drag::Pan;
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  setFocus(Qt::MouseFocusReason);
  if (scene_.runs.empty() || event->button() == Qt::RightButton) return;
  pressed_ = last_ = pixel_of(event->position());
  pressed_hit_ = hit(scene_, layout_, viewport(), pressed_.x(), pressed_.y());
  drag_ = drag_for(pressed_hit_, pressed_, event->modifiers(), event->button());
  moved_ = false;
  anchor_ = snap(scene_, layout_, viewport(), pressed_.x(), pressed_.y()).time;
  if (drag_ == Drag::Minimap) drag_to(pressed_);
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (scene_.runs.empty()) return;
  const QPointF pixel = pixel_of(event->position());
  pointer_ = pixel;
  if (drag_ == Drag::None) {
    update_cursor(pixel);
    hover(hit(scene_, layout_, viewport(), pixel.x(), pixel.y()).slice);
    return;
  }
  const double far = QGuiApplication::styleHints()->startDragDistance() * metrics_.scale;
  if (!moved_ && (pixel - pressed_).manhattanLength() < far) return;
  moved_ = true;
  drag_to(pixel);
  last_ = pixel;
}

void TimelineView::drag_to(QPointF pixel) {
  const Viewport view = viewport();
  switch (drag_) {
    case Drag::None: break;
    case Drag::Pan:
      setCursor(Qt::ClosedHandCursor);
      set_scroll(scroll_ - static_cast<int>(std::lround(pixel.y() - last_.y())));
      pan(last_.x() - pixel.x());
      break;
    case Drag::Box:
      options_.rubber = Box{.x = std::min(pressed_.x(), pixel.x()),
                            .y = std::min(pressed_.y(), pixel.y()),
                            .width = std::abs(pixel.x() - pressed_.x()),
                            .height = std::abs(pixel.y() - pressed_.y())};
      repaint_frame();
      break;
    case Drag::Range: {
      const Time at = snap(scene_, layout_, view, pixel.x(), pixel.y()).time;
      RangeSelection range{.span = {std::min(anchor_, at), std::max(anchor_, at)}};
      if (pressed_hit_.part == Hit::Part::Rows) range.rows = rows_between(pressed_.y(), pixel.y());
      set_range(std::move(range));
      break;
    }
    case Drag::Measure: set_measured(TimeSpan{anchor_, snap(scene_, layout_, view, pixel.x(), pixel.y()).time}); break;
    case Drag::Row:
      options_.dragged = pressed_hit_.row;
      options_.drop_before = drop_place(pixel.y());
      repaint_frame();
      break;
    case Drag::Names:
      metrics_.names = std::clamp(static_cast<int>(pixel.x() / metrics_.scale), least_names,
                                  std::max(least_names, std::min(most_names, width() / 2)));
      lay_out_rows();
      break;
    case Drag::Minimap: {
      const TimeMap all = minimap_time(scene_, static_cast<int>(tracks_width()));
      go_to(all.time(time_x(pixel)));
      break;
    }
  }
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  if (drag_ == Drag::None) return;
  const QPointF pixel = pixel_of(event->position());
  if (moved_) {
    drop(pixel);
  } else if (drag_ == Drag::Row) {
    const Row& row = scene_.rows[*pressed_hit_.row];
    const bool folds =
        row.header() || (row.kind == Row::Kind::Track && scene_.runs[row.run].lod->track(row.track).lanes.size() > 1);
    if (folds) toggle_fold(*pressed_hit_.row);
  } else if (pressed_hit_.part == Hit::Part::Rows && drag_ != Drag::Measure) {
    const bool header = pressed_hit_.row && scene_.rows[*pressed_hit_.row].header();
    if (scene_.range) {
      set_range(std::nullopt);
      emit range_selected(std::nullopt);
    }
    if (header) {
      toggle_fold(*pressed_hit_.row);
    } else if ((event->modifiers() & Qt::ControlModifier) && pressed_hit_.slice) {
      // Adds to the selection, or takes away.
      auto& selection = scene_.selection;
      const auto at = std::find(selection.begin(), selection.end(), *pressed_hit_.slice);
      if (at != selection.end()) {
        selection.erase(at);
      } else {
        selection.insert(selection.begin(), *pressed_hit_.slice);
      }
      repaint_frame();
      emit slice_selected(selection.empty() ? std::nullopt : std::optional(selection.front()));
    } else {
      select(pressed_hit_.slice);
    }
  } else if (drag_ == Drag::Measure) {
    set_measured(std::nullopt);
  } else if (drag_ == Drag::Range && scene_.range) {
    set_range(std::nullopt);
    emit range_selected(std::nullopt);
  }
  drag_ = Drag::None;
  options_.rubber.reset();
  options_.dragged.reset();
  options_.drop_before.reset();
  repaint_frame();
  update_cursor(pixel);
}

void TimelineView::drop(QPointF pixel) {
  switch (drag_) {
    case Drag::Box: {
      const double left = std::min(pressed_.x(), pixel.x()) - layout_.names;
      const double right = std::max(pressed_.x(), pixel.x()) - layout_.names;
      set_time(TimeMap({time_.time(left), time_.time(right)}, tracks_width()));
      break;
    }
    case Drag::Range: emit range_selected(scene_.range); break;
    case Drag::Row:
      if (const auto place = drop_place(pixel.y()); place && move_row(scene_.rows, *pressed_hit_.row, *place))
        rows_edited();
      break;
    default: break;
  }
}

// Before the row at y or, from its middle on, behind it. None where the dragged row may not be.
std::optional<std::size_t> TimelineView::drop_place(double y) const {
  const PlacedRow* placed = row_at(layout_, viewport(), y);
  if (placed == nullptr || !pressed_hit_.row) return std::nullopt;
  const bool behind = y >= top_of(layout_, viewport(), *placed) + placed->height / 2.0;
  std::vector<Row> tried = scene_.rows;
  for (const std::size_t place : {behind ? row_end(scene_.rows, placed->row) : placed->row, placed->row})
    if (move_row(tried, *pressed_hit_.row, place)) return place;
  return std::nullopt;
}

std::vector<std::size_t> TimelineView::rows_between(double y0, double y1) const {
  const Viewport view = viewport();
  std::vector<std::size_t> rows;
  for (const PlacedRow& placed : layout_.rows) {
    const int top = top_of(layout_, view, placed);
    if (top + placed.height <= std::min(y0, y1) || top > std::max(y0, y1)) continue;
    const Row& row = scene_.rows[placed.row];
    if (!row.header()) {
      rows.push_back(placed.row);
    } else if (row.folded) {
      for (std::size_t i = placed.row + 1; i < row_end(scene_.rows, placed.row); ++i)
        if (!scene_.rows[i].header() && !scene_.rows[i].hidden && !scene_.rows[i].pinned) rows.push_back(i);
    }
  }
  return rows;
}

void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (scene_.runs.empty() || event->button() != Qt::LeftButton) return;
  const QPointF pixel = pixel_of(event->position());
  const Hit at = hit(scene_, layout_, viewport(), pixel.x(), pixel.y());
  if (at.slice) {
    zoom_to(span_of(scene_, *at.slice));
    emit slice_activated(*at.slice);
  } else if (at.part == Hit::Part::Minimap || at.part == Hit::Part::Ruler) {
    fit_all();
  }
}

void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (scene_.runs.empty()) return;
  const QPointF pixel = pixel_of(event->pos());
  const Hit at = hit(scene_, layout_, viewport(), pixel.x(), pixel.y());
  emit context_asked(at.slice, at.row, event->globalPos());
}

void TimelineView::leaveEvent(QEvent*) {
  pointer_.reset();
  hover(std::nullopt);
}

void TimelineView::update_cursor(QPointF pixel) {
  const bool grip = std::abs(pixel.x() - layout_.names) <= grip_reach * metrics_.scale;
  setCursor(grip ? Qt::SplitHCursor : measuring_ ? Qt::CrossCursor : Qt::ArrowCursor);
}

}  // namespace stave::gui
