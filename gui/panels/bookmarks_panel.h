// Places to come back to.
#pragma once

#include <QWidget>

namespace stave::gui {

class Session;
class TableView;

class BookmarksPanel : public QWidget {
  Q_OBJECT

 public:
  BookmarksPanel(Session& session, QWidget* parent);

 private:
  int chosen_row() const;
  void go();
  void refresh();

  Session& session_;
  TableView* table_;
};

}  // namespace stave::gui
