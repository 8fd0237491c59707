#include "gui/view/timeline_view.h"

#include <QEvent>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "gui/svg.h"
#include "gui/view/palette.h"

namespace stave::gui {

TimelineView::TimelineView(QWidget* parent) : QWidget(parent), bar_(new QScrollBar(Qt::Vertical, this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setAttribute(Qt::WA_OpaquePaintEvent);
  setAccessibleName(tr("Timeline"));
  options_.font = font();
  connect(bar_, &QScrollBar::valueChanged, this, [this](int value) { set_scroll(value); });
  lay_out_rows();
}

TimelineView::~TimelineView() = default;

void TimelineView::set_scene(Scene scene) {
  const bool fresh = scene_.runs.empty();
  scene_ = std::move(scene);
  for (RunInView& run : scene_.runs) {
    if (run.index && run.lod) continue;
    RunInView built = run_in_view(run.timeline, run.title);
    run.index = std::move(built.index);
    run.lod = std::move(built.lod);
  }
  lay_out_rows();
  const TimeSpan all = extent_of(scene_);
  const TimeSpan seen = visible();
  if (fresh || seen.end < all.start || seen.start > all.end) return fit_all();
  set_time(time_);
}

void TimelineView::zoom_to(TimeSpan span) { set_time(TimeMap(with_margin(span, 0.05), tracks_width())); }

void TimelineView::fit() {
  if (scene_.range) return zoom_to(scene_.range->span);
  if (scene_.selection.empty()) return fit_all();
  TimeSpan all = span_of(scene_, scene_.selection.front());
  for (const SliceRef& ref : scene_.selection) {
    const TimeSpan span = span_of(scene_, ref);
    all = {std::min(all.start, span.start), std::max(all.end, span.end)};
  }
  set_time(TimeMap(with_margin(all, 0.5), tracks_width()));
}

void TimelineView::fit_all() { set_time(TimeMap(with_margin(extent_of(scene_)), tracks_width())); }

void TimelineView::go_to(Time time) { set_time(time_.panned(time_.x(time) - time_.width() / 2)); }

void TimelineView::reveal(SliceRef slice) {
  const auto row = row_of(scene_, slice);
  if (!row) return;
  bool unfolded = false;
  auto depth = scene_.rows[*row].depth;
  for (std::size_t i = *row; i-- > 0 && depth > 0;) {
    Row& header = scene_.rows[i];
    if (header.depth >= depth) continue;
    depth = header.depth;
    unfolded = unfolded || header.folded || header.hidden;
    header.folded = header.hidden = false;
  }
  unfolded = unfolded || scene_.rows[*row].hidden;
  scene_.rows[*row].hidden = false;
  if (unfolded) rows_edited();
  const int place = layout_.places[slice.run][slice_of(scene_, slice).track.value];
  if (place >= 0) set_scroll(scroll_to(layout_, viewport(), layout_.rows[static_cast<std::size_t>(place)]));

  const TimeSpan span = span_of(scene_, slice);
  constexpr double thin = 3, good = 48;  // logical pixels
  TimeMap time = time_;
  const double width = time.x(span.end) - time.x(span.start);
  if (width < thin * metrics_.scale) {
    const double length = std::max<double>(1, static_cast<double>((span.end - span.start).count()));
    time = time.zoomed(length / (good * metrics_.scale) / time.ps_per_pixel(), time.x(span.start));
  } else if (width > time.width()) {
    return zoom_to(span);
  }
  const double margin = time.width() / 10, left = time.x(span.start), right = time.x(span.end);
  if (left < margin) time = time.panned(left - margin);
  if (right > time.width() - margin && left >= margin)
    time = time.panned(std::min(right - (time.width() - margin), left - margin));
  set_time(time);
}

void TimelineView::select(std::optional<SliceRef> slice) {
  scene_.selection.clear();
  if (slice) scene_.selection.push_back(*slice);
  repaint_frame();
  emit slice_selected(slice);
}

void TimelineView::select_neighbour(bool forward) {
  if (scene_.selection.empty()) return;
  const auto next = next_slice(scene_, scene_.selection.front(), forward);
  if (!next) return;
  select(next);
  reveal(*next);
}

void TimelineView::zoom(double factor) {
  const double at = pointer_ && pointer_->x() >= layout_.names ? time_x(*pointer_) : time_.width() / 2;
  set_time(time_.zoomed(factor, at));
}

void TimelineView::pan(double pixels) { set_time(time_.panned(pixels)); }

void TimelineView::scroll_by(int pixels) { set_scroll(scroll_ + pixels); }

void TimelineView::set_measuring(bool on) {
  if (on == measuring_) return;
  measuring_ = on;
  if (!on) set_measured(std::nullopt);
  setCursor(on ? Qt::CrossCursor : Qt::ArrowCursor);
  emit measuring_changed(on);
}

void TimelineView::toggle_fold(std::size_t row) {
  scene_.rows[row].folded = !scene_.rows[row].folded;
  rows_edited();
}

void TimelineView::toggle_pin(std::size_t row) {
  if (scene_.rows[row].header()) return;
  scene_.rows[row].pinned = !scene_.rows[row].pinned;
  rows_edited();
}

void TimelineView::set_hidden(std::size_t row, bool hidden) {
  scene_.rows[row].hidden = hidden;
  rows_edited();
}

void TimelineView::fold_all(bool folded) {
  for (Row& row : scene_.rows)
    if (row.kind == Row::Kind::Rank || row.kind == Row::Kind::Group) row.folded = folded;
  rows_edited();
}

void TimelineView::set_lane_height(int logical) {
  metrics_.lane = std::clamp(logical, 3, 64);
  lay_out_rows();
}

void TimelineView::set_empty_text(const QString& text) {
  empty_text_ = text;
  update();
}

Viewport TimelineView::viewport() const {
  const double scale = devicePixelRatioF();
  return {.time = time_,
          .scroll = scroll_,
          .width = static_cast<int>(std::lround((width() - (bar_->isVisible() ? bar_->width() : 0)) * scale)),
          .height = static_cast<int>(std::lround(height() * scale))};
}

double TimelineView::tracks_width() const {
  return std::max(1.0, static_cast<double>(viewport().width - layout_.names));
}

void TimelineView::lay_out_rows() {
  metrics_.scale = devicePixelRatioF();
  layout_ = lay_out(scene_, metrics_);
  const int pixels = static_cast<int>(std::lround(height() * metrics_.scale));
  const int most = max_scroll(layout_, pixels);
  bar_->setVisible(most > 0);
  bar_->setRange(0, most);
  bar_->setPageStep(std::max(1, pixels - layout_.rows_top()));
  bar_->setSingleStep(metrics_.px(metrics_.lane));
  bar_->setGeometry(width() - bar_->sizeHint().width(), 0, bar_->sizeHint().width(), height());
  scroll_ = std::min(scroll_, most);
  time_ = time_.resized(tracks_width());
  repaint_frame();
}

void TimelineView::rows_edited() {
  lay_out_rows();
  emit rows_changed();
}

void TimelineView::set_time(const TimeMap& map) {
  const TimeMap clamped = map.within(extent_of(scene_));
  const bool same = clamped == time_;
  time_ = clamped;
  repaint_frame();
  if (!same) emit visible_changed(visible());
}

void TimelineView::set_scroll(int scroll) {
  scroll = std::clamp(scroll, 0, max_scroll(layout_, viewport().height));
  if (scroll == scroll_) return;
  scroll_ = scroll;
  bar_->setValue(scroll);
  repaint_frame();
}

void TimelineView::repaint_frame() {
  stale_ = true;
  update();
}

void TimelineView::hover(std::optional<SliceRef> slice) {
  if (slice == scene_.hovered) return;
  scene_.hovered = slice;
  repaint_frame();
  emit slice_hovered(slice);
}

void TimelineView::set_range(std::optional<RangeSelection> range) {
  if (range == scene_.range) return;
  scene_.range = std::move(range);
  repaint_frame();
}

void TimelineView::set_measured(std::optional<TimeSpan> span) {
  if (span == scene_.measured) return;
  scene_.measured = span;
  repaint_frame();
  emit measured(span);
}

QPointF TimelineView::pixel_of(QPointF position) const { return position * metrics_.scale; }

void TimelineView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  if (scene_.runs.empty() || scene_.rows.empty()) {
    const Theme& theme = theme_of(scene_.dark);
    painter.fillRect(rect(), QColor::fromRgb(theme.window));
    painter.setPen(QColor::fromRgb(theme.faint));
    const QString nothing = tr("This run holds no slices and no counters.");
    painter.drawText(rect().adjusted(24, 24, -24, -24), Qt::AlignCenter | Qt::TextWordWrap,
                     scene_.runs.empty() ? empty_text_ : nothing);
    return;
  }
  const Viewport view = viewport();
  if (is_svg(painter)) return paint_as_shapes(painter);
  if (frame_.size() != QSize(view.width, view.height)) {
    frame_ = QImage(std::max(view.width, 1), std::max(view.height, 1), QImage::Format_RGB32);
    stale_ = true;
  }
  if (stale_) {
    frame_.setDevicePixelRatio(1);
    paint(frame_, scene_, layout_, view, cache_, options_);
    stale_ = false;
  }
  frame_.setDevicePixelRatio(metrics_.scale);
  painter.drawImage(0, 0, frame_);
}

void TimelineView::resizeEvent(QResizeEvent*) {
  const TimeSpan seen = visible();
  const bool first = time_.width() <= 1;
  lay_out_rows();
  if (first) return fit_all();
  set_time(TimeMap(seen, tracks_width()));
}

void TimelineView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::FontChange) return;
  options_.font = font();
  repaint_frame();
}

}  // namespace stave::gui
