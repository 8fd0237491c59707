// A panel that is a table, with a line of words above it.
#pragma once

#include <QLabel>
#include <QWidget>

#include <functional>

#include "gui/session.h"
#include "gui/table.h"

namespace stave::gui {

class TablePanel : public QWidget {
  Q_OBJECT

 public:
  struct Content {
    QString summary{};  // none: the line is hidden
    Table table{};
    QString empty{};  // said where there are no rows: what to do to see some
  };
  using Fill = std::function<Content(const Session&)>;

  TablePanel(Session& session, Fill fill, QWidget* parent);

  // Filled again after the signal, once it is visible.
  template <class Signal>
  TablePanel* follow(Signal signal) {
    connect(&session_, signal, this, &TablePanel::outdate);
    return this;
  }
  void outdate();
  void refresh();
  TableView* table() const { return table_; }
  QLabel* summary() const { return summary_; }

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  Session& session_;
  Fill fill_;
  QLabel* summary_;
  TableView* table_;
  bool stale_ = true;
};

// More rows are counted, not shown: a person does not read them, and the window would stand still.
inline constexpr std::size_t max_table_rows = 2000;
void add_rest(Table& table, std::size_t left_out);

}  // namespace stave::gui
