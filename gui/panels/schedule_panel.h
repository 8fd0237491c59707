// The schedule that is edited, or that the chosen run was made from.
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace stave::gui {

class ScheduleEditor;
class Session;

class SchedulePanel : public QWidget {
  Q_OBJECT

 public:
  SchedulePanel(Session& session, QWidget* parent);
  ScheduleEditor* editor() const { return editor_; }

 private:
  void show_text();
  void show_costs();
  void show_problems();
  void show_verdict();

  Session& session_;
  QLabel* verdict_;
  QPushButton* adopt_;
  ScheduleEditor* editor_;
  bool filling_ = false;
};

}  // namespace stave::gui
