#include "gui/schedule_editor.h"

#include <QHelpEvent>
#include <QPainter>
#include <QTextBlock>
#include <QToolTip>

#include <algorithm>

#include "gui/words.h"

namespace stave::gui {
namespace {

class Margin : public QWidget {
 public:
  explicit Margin(ScheduleEditor* editor) : QWidget(editor), editor_(editor) {}

 protected:
  void paintEvent(QPaintEvent* event) override { editor_->paint_margin(event); }
  bool event(QEvent* event) override {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), editor_->margin_tip(help->pos().y()), this);
    return true;
  }

 private:
  ScheduleEditor* editor_;
};

bool is_dark(const QWidget& widget) { return widget.palette().color(QPalette::Base).lightness() < 128; }

}  // namespace

ScheduleEditor::ScheduleEditor(QWidget* parent)
    : QPlainTextEdit(parent), highlighter_(new ScheduleHighlighter(document())), margin_(new Margin(this)) {
  QFont font("monospace");
  font.setStyleHint(QFont::Monospace);
  font.setPointSizeF(9);
  setFont(font);
  setLineWrapMode(NoWrap);
  setFrameShape(NoFrame);
  // The session undoes; it knows of sliders, too.
  setUndoRedoEnabled(false);
  setTabStopDistance(fontMetrics().horizontalAdvance("  "));
  setPlaceholderText("No schedule. Open a .stave file, drop one here, or choose File > New from a template.");
  connect(this, &QPlainTextEdit::blockCountChanged, this, &ScheduleEditor::lay_out_margin);
  connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
    if (dy != 0) {
      margin_->scroll(0, dy);
    } else {
      margin_->update(0, rect.y(), margin_->width(), rect.height());
    }
  });
  highlighter_->set_dark(is_dark(*this));
  lay_out_margin();
}

int ScheduleEditor::margin_width() const {
  const int digits = static_cast<int>(QString::number(std::max(1, blockCount())).size());
  return fontMetrics().horizontalAdvance(QString(digits, '0')) + fontMetrics().horizontalAdvance("000.000 us") + 24;
}

void ScheduleEditor::lay_out_margin() {
  setViewportMargins(margin_width(), 0, 0, 0);
  const QRect inside = contentsRect();
  margin_->setGeometry(inside.left(), inside.top(), margin_width(), inside.height());
}

void ScheduleEditor::resizeEvent(QResizeEvent* event) {
  QPlainTextEdit::resizeEvent(event);
  lay_out_margin();
}

void ScheduleEditor::changeEvent(QEvent* event) {
  QPlainTextEdit::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) {
    highlighter_->set_dark(is_dark(*this));
    mark();
  }
}

void ScheduleEditor::keyPressEvent(QKeyEvent* event) {
  // Left to the window's actions, which undo sliders as well.
  if (event->matches(QKeySequence::Undo) || event->matches(QKeySequence::Redo)) return event->ignore();
  QPlainTextEdit::keyPressEvent(event);
}

void ScheduleEditor::mouseReleaseEvent(QMouseEvent* event) {
  QPlainTextEdit::mouseReleaseEvent(event);
  if (event->button() == Qt::LeftButton && !textCursor().hasSelection())
    emit line_chosen(static_cast<std::uint32_t>(textCursor().blockNumber() + 1));
}

bool ScheduleEditor::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto line = static_cast<std::uint32_t>(cursorForPosition(help->pos()).blockNumber() + 1);
    QStringList lines;
    for (const Problem& problem : problems_)
      if (problem.place.line == line) lines << words(problem.message) + " [" + words(problem.code) + "]";
    QToolTip::showText(help->globalPos(), lines.join("\n\n"), viewport());
    return true;
  }
  return QPlainTextEdit::viewportEvent(event);
}

void ScheduleEditor::set_costs(std::map<std::uint32_t, LineCost> costs) {
  costs_ = std::move(costs);
  largest_ = Picoseconds{1};
  for (const auto& [line, cost] : costs_) largest_ = std::max(largest_, cost.time);
  margin_->update();
}

void ScheduleEditor::set_problems(Problems problems) {
  problems_ = std::move(problems);
  mark();
  margin_->update();
}

void ScheduleEditor::set_lines(std::vector<std::uint32_t> lines) {
  lines_ = std::move(lines);
  mark();
  if (!lines_.empty()) show_line(lines_.front());
}

void ScheduleEditor::show_line(std::uint32_t line) {
  const QTextBlock block = document()->findBlockByNumber(static_cast<int>(line) - 1);
  if (!block.isValid()) return;
  const QSignalBlocker quiet(this);
  setTextCursor(QTextCursor(block));
  // With some lines around it.
  if (!viewport()->rect().adjusted(0, 30, 0, -30).contains(cursorRect().center())) centerCursor();
}

void ScheduleEditor::mark() {
  QList<QTextEdit::ExtraSelection> marks;
  const bool dark = is_dark(*this);
  for (const std::uint32_t line : lines_) {
    const QTextBlock block = document()->findBlockByNumber(static_cast<int>(line) - 1);
    if (!block.isValid()) continue;
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(block);
    mark.format.setBackground(dark ? QColor(70, 80, 40) : QColor(255, 243, 190));
    mark.format.setProperty(QTextFormat::FullWidthSelection, true);
    marks << mark;
  }
  for (const Problem& problem : problems_) {
    const QTextBlock block = document()->findBlockByNumber(static_cast<int>(problem.place.line) - 1);
    if (problem.place.line == 0 || !block.isValid()) continue;
    // Columns count bytes.
    const QByteArray bytes = block.text().toUtf8();
    const auto characters = [&](std::uint32_t column) {
      return static_cast<int>(QString::fromUtf8(bytes.left(static_cast<qsizetype>(column) - 1)).size());
    };
    const int begin = problem.place.column > 0 ? characters(problem.place.column) : 0;
    int end = problem.place.end_line == problem.place.line && problem.place.end_column > problem.place.column
                  ? characters(problem.place.end_column)
                  : begin;
    const QString text = block.text();
    if (end == begin) {
      while (end < text.size() && (text[end].isLetterOrNumber() || text[end] == '_' || text[end] == '%')) ++end;
      end = std::max(end, begin + 1);
    }
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(block);
    mark.cursor.setPosition(block.position() +
                            std::min(begin, static_cast<int>(std::max<qsizetype>(0, text.size() - 1))));
    mark.cursor.setPosition(block.position() + std::min(end, static_cast<int>(text.size())), QTextCursor::KeepAnchor);
    mark.format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
    // The wave alone is easily missed.
    mark.format.setBackground(problem.severity == Severity::Error ? QColor(213, 60, 0, 45) : QColor(230, 159, 0, 40));
    mark.format.setUnderlineColor(problem.severity == Severity::Error ? QColor(213, 60, 0) : QColor(200, 140, 0));
    marks << mark;
  }
  setExtraSelections(marks);
}

QTextBlock ScheduleEditor::block_at(int y) const {
  QTextBlock block = firstVisibleBlock();
  for (double top = blockBoundingGeometry(block).translated(contentOffset()).top(); block.isValid();
       block = block.next()) {
    const double bottom = top + blockBoundingRect(block).height();
    if (y < bottom) return block;
    top = bottom;
  }
  return {};
}

QString ScheduleEditor::margin_tip(int y) const {
  const QTextBlock block = block_at(y);
  if (!block.isValid()) return {};
  const auto at = costs_.find(static_cast<std::uint32_t>(block.blockNumber() + 1));
  if (at == costs_.end()) return {};
  return QString("%1 in %L2 slices, on the rank where it takes most").arg(words(at->second.time)).arg(at->second.count);
}

void ScheduleEditor::paint_margin(QPaintEvent* event) {
  QPainter painter(margin_);
  const QPalette& p = palette();
  painter.fillRect(event->rect(), p.color(QPalette::AlternateBase));
  const int width = margin_->width();
  QTextBlock block = firstVisibleBlock();
  double top = blockBoundingGeometry(block).translated(contentOffset()).top();
  const int height = fontMetrics().height();
  for (; block.isValid() && top <= event->rect().bottom(); block = block.next()) {
    const double bottom = top + blockBoundingRect(block).height();
    const auto line = static_cast<std::uint32_t>(block.blockNumber() + 1);
    if (bottom >= event->rect().top()) {
      const int y = static_cast<int>(top);
      if (const auto at = costs_.find(line); at != costs_.end()) {
        const double share = static_cast<double>(at->second.time.count()) / static_cast<double>(largest_.count());
        const int bar = static_cast<int>(share * (width - 4));
        painter.fillRect(QRect(width - 2 - bar, y + 1, bar, height - 2), QColor(0, 114, 178, 60));
        painter.setPen(p.color(QPalette::Text));
        painter.drawText(0, y, width - 6, height, Qt::AlignRight | Qt::AlignVCenter, words(at->second.time));
      }
      Severity worst = Severity::Note;
      for (const Problem& problem : problems_)
        if (problem.place.line == line) worst = std::max(worst, problem.severity);
      painter.setPen(worst == Severity::Error     ? QColor(213, 60, 0)
                     : worst == Severity::Warning ? QColor(200, 140, 0)
                                                  : p.color(QPalette::PlaceholderText));
      painter.drawText(6, y, width, height, Qt::AlignLeft | Qt::AlignVCenter, QString::number(line));
    }
    top = bottom;
  }
}

}  // namespace stave::gui
