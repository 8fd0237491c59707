// What stands where the timeline will be: how to begin.
#pragma once

#include <QWidget>

class QVBoxLayout;

namespace stave::gui {

class StartPage : public QWidget {
  Q_OBJECT

 public:
  explicit StartPage(QWidget* parent = nullptr);
  void set_recent(const QStringList& files);

 signals:
  void open_asked();
  void tour_asked();
  void file_asked(const QString& file);

 private:
  QVBoxLayout* recent_;
};

}  // namespace stave::gui
