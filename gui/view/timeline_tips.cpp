// What a timeline view says about the thing under the pointer.
#include <QHelpEvent>
#include <QToolTip>

#include "gui/view/timeline_view.h"
#include "workbench/units_text.h"

namespace stave::gui {

QString TimelineView::tip_of(SliceRef ref) const {
  const Timeline& timeline = *scene_.runs[ref.run].timeline;
  const Slice& slice = timeline.slice(ref.slice);
  const auto text = [](std::string_view from) {
    return QString::fromUtf8(from.data(), static_cast<qsizetype>(from.size())).toHtmlEscaped();
  };
  QString tip = "<b>" + text(cut(timeline.text(slice.name), 200)) + "</b><br>" + text(duration_text(slice.duration)) +
                tr(" at ") + text(duration_text(slice.start));
  if (slice.command) tip += "<br>" + text(timeline.command(slice.command).key);
  const RunInView& run = scene_.runs[ref.run];
  if (run.deltas && ref.slice.row() < run.deltas->size()) {
    const Picoseconds delta = (*run.deltas)[ref.slice.row()];
    if (delta == no_partner) {
      tip += "<br>" + tr("only in this run");
    } else {
      tip += QString("<br>Δ ") + (delta > Picoseconds{} ? "+" : "") + text(duration_text(delta));
    }
  }
  return tip;
}

bool TimelineView::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && drag_ == Drag::None && !scene_.runs.empty()) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const QPointF pixel = pixel_of(help->pos());
    const Hit at = hit(scene_, layout_, viewport(), pixel.x(), pixel.y());
    if (at.slice) {
      QToolTip::showText(help->globalPos(), tip_of(*at.slice), this);
    } else if (at.part == Hit::Part::Names && at.row) {
      QToolTip::showText(help->globalPos(), QString::fromStdString(scene_.rows[*at.row].name), this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

}  // namespace stave::gui
