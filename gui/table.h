// Rows and columns of text, as most panels show them: sorted by a click, copied,
// written as CSV, and leading to a slice or a line of the schedule.
#pragma once

#include <QAbstractTableModel>
#include <QTreeView>

#include <optional>
#include <vector>

#include "gui/view/scene.h"

class QSortFilterProxyModel;

namespace stave::gui {

struct Cell {
  QString text{};
  QVariant sort_by{};  // none: the text
  QString tip{};
  double shade = 0;    // 0 to 1: how much it stands out
  bool right = false;  // a number
};
Cell number_cell(double value, QString text);
Cell time_cell(Picoseconds time, bool sign = false);

struct TableRow {
  std::vector<Cell> cells{};
  std::optional<SliceRef> slice{};  // where it leads to
  std::optional<std::uint32_t> line{};
};

struct Table {
  QStringList headers{};
  std::vector<TableRow> rows{};
};
QString to_csv(const Table& table);

class TableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  static constexpr int sort_role = Qt::UserRole;

  using QAbstractTableModel::QAbstractTableModel;
  void set_table(Table table);
  const Table& table() const { return table_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  Table table_;
};

class TableView : public QTreeView {
  Q_OBJECT

 public:
  explicit TableView(QWidget* parent = nullptr);

  // Columns keep the widths that a person gave them as long as the headers stay.
  void set_table(Table table);
  const Table& table() const { return model_->table(); }
  TableModel* table_model() const { return model_; }
  void set_empty_text(const QString& text);
  // Selected rows, or all, with tabs between the cells.
  QString selected_text() const;
  // As it is sorted.
  QString csv() const;

 signals:
  void slice_chosen(stave::gui::SliceRef slice);
  void line_chosen(std::uint32_t line);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  void activate(const QModelIndex& index);

  TableModel* model_;
  QSortFilterProxyModel* sorted_;
  QString empty_text_;
};

}  // namespace stave::gui
