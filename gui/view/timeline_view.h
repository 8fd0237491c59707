// The timeline as a widget. It changes of its scene only what a hand does in it: rows (fold, pin,
// order), the selected and the hovered slice, the range and the measurement. All else comes from
// outside.
//
//   wheel: zoom at the pointer · Shift: pan · Ctrl, or over the names: scroll rows
//   drag: pan · Shift: zoom to a box · Ctrl, or in the ruler: select a range · with the ruler tool: measure
//   drag a name: move its row · drag the column's edge: its width · minimap: go there
#pragma once

#include <QImage>
#include <QPoint>
#include <QWidget>
#include <optional>

#include "gui/view/layout.h"
#include "gui/view/paint.h"

class QScrollBar;

namespace stave::gui {

class TimelineView : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineView(QWidget* parent = nullptr);
  ~TimelineView() override;

  // Keeps the visible time and the scroll if there was something to see; else fits all. Runs without
  // an index or levels of detail get them here, which takes time.
  void set_scene(Scene scene);
  const Scene& scene() const { return scene_; }

  TimeSpan visible() const { return time_.visible(); }
  void zoom_to(TimeSpan span);  // with a margin
  void fit();                   // the range, else the selected slices, else all
  void fit_all();
  void go_to(Time time);        // to the middle, same scale
  void reveal(SliceRef slice);  // pans and scrolls no more than needed, unfolds, zooms in if it is too thin to see
  void select(std::optional<SliceRef> slice);  // what a click does; emits
  void select_neighbour(bool forward);         // on the same track
  void zoom(double factor);                    // around the pointer, else the middle; < 1: in
  void pan(double pixels);
  void scroll_by(int pixels);
  void set_measuring(bool on);
  bool measuring() const { return measuring_; }
  // Positions in scene().rows.
  void toggle_fold(std::size_t row);
  void toggle_pin(std::size_t row);
  void set_hidden(std::size_t row, bool hidden);
  void fold_all(bool folded);  // ranks and groups
  void set_lane_height(int logical);
  int lane_height() const { return metrics_.lane; }
  void set_empty_text(const QString& text);  // what is shown without runs

  const Layout& layout_of_rows() const { return layout_; }
  Viewport viewport() const;
  // The same scene and time at another size.
  QImage picture_of(QSize logical, double scale = 1) const;

  QSize sizeHint() const override { return {960, 540}; }
  QSize minimumSizeHint() const override { return {320, 160}; }

 signals:
  void slice_selected(std::optional<stave::gui::SliceRef> slice);
  void slice_hovered(std::optional<stave::gui::SliceRef> slice);
  void slice_activated(stave::gui::SliceRef slice);  // double click
  void range_selected(std::optional<stave::gui::RangeSelection> range);
  void measured(std::optional<stave::TimeSpan> span);
  void measuring_changed(bool on);
  void visible_changed(stave::TimeSpan span);
  void rows_changed();
  void context_asked(std::optional<stave::gui::SliceRef> slice, std::optional<std::size_t> row, QPoint global);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void paint_as_shapes(QPainter& painter) const;
  enum class Drag : std::uint8_t { None, Pan, Box, Range, Measure, Row, Names, Minimap };

  void lay_out_rows();
  void rows_edited();
  void set_time(const TimeMap& map);
  void set_scroll(int scroll);
  void repaint_frame();
  void hover(std::optional<SliceRef> slice);
  void set_range(std::optional<RangeSelection> range);
  void set_measured(std::optional<TimeSpan> span);
  void drag_to(QPointF pixel);
  void drop(QPointF pixel);
  Drag drag_for(const Hit& hit, QPointF pixel, Qt::KeyboardModifiers modifiers, Qt::MouseButton button) const;
  std::vector<std::size_t> rows_between(double y0, double y1) const;
  std::optional<std::size_t> drop_place(double y) const;
  void update_cursor(QPointF pixel);
  QString tip_of(SliceRef slice) const;
  double tracks_width() const;
  QPointF pixel_of(QPointF position) const;  // device pixels
  double time_x(QPointF pixel) const { return pixel.x() - layout_.names; }

  Scene scene_;
  Metrics metrics_;
  Layout layout_;
  TimeMap time_;
  int scroll_ = 0;
  PaintCache cache_;
  PaintOptions options_;
  QImage frame_;
  bool stale_ = true;
  QScrollBar* bar_ = nullptr;
  QString empty_text_;
  bool measuring_ = false;
  std::optional<QPointF> pointer_;

  Drag drag_ = Drag::None;
  bool moved_ = false;  // far enough to be no click
  QPointF pressed_, last_;
  Hit pressed_hit_;
  Time anchor_{};  // where a range or a measurement began
};

}  // namespace stave::gui
