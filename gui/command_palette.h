// All actions of the window, found by typing.
#pragma once

#include <QDialog>
#include <QList>

class QAction;
class QLineEdit;
class QListWidget;

namespace stave::gui {

class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  CommandPalette(const QList<QAction*>& actions, QWidget* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void filter(const QString& text);
  void run();

  QList<QAction*> actions_;
  QLineEdit* field_;
  QListWidget* list_;
};

// How well `text` fits what was typed: its letters in order; higher is better, below 0 not at all.
int fit_of(const QString& typed, const QString& text);
// The text of an action without the marks of menus.
QString plain_text(const QAction& action);

}  // namespace stave::gui
