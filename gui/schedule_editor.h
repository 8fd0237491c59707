// The text of a schedule: highlighted, what is wrong underlined, and in the margin
// what each line takes.
#pragma once

#include <QPlainTextEdit>
#include <QSyntaxHighlighter>

#include <map>
#include <vector>

#include "core/base/problem.h"
#include "gui/run.h"

namespace stave::gui {

class ScheduleHighlighter : public QSyntaxHighlighter {
  Q_OBJECT

 public:
  using QSyntaxHighlighter::QSyntaxHighlighter;
  void set_dark(bool dark);

 protected:
  void highlightBlock(const QString& text) override;

 private:
  bool dark_ = false;
};

class ScheduleEditor : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit ScheduleEditor(QWidget* parent = nullptr);

  void set_costs(std::map<std::uint32_t, LineCost> costs);
  // Those that have a place in the text.
  void set_problems(Problems problems);
  void set_lines(std::vector<std::uint32_t> lines);  // that are selected
  void show_line(std::uint32_t line);
  void paint_margin(QPaintEvent* event);
  int margin_width() const;
  QString margin_tip(int y) const;

 signals:
  void line_chosen(std::uint32_t line);  // clicked, or the cursor went there

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  void lay_out_margin();
  void mark();
  QTextBlock block_at(int y) const;

  ScheduleHighlighter* highlighter_;
  QWidget* margin_;
  std::map<std::uint32_t, LineCost> costs_;
  Picoseconds largest_{1};
  Problems problems_;
  std::vector<std::uint32_t> lines_;
};

}  // namespace stave::gui
