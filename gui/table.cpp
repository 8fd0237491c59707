#include "gui/table.h"

#include <QApplication>
#include <QClipboard>
#include <QContextMenuEvent>
#include <QFileDialog>
#include <QHeaderView>
#include <QKeyEvent>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QSortFilterProxyModel>

#include <algorithm>

#include "core/base/files.h"
#include "workbench/units_text.h"

namespace stave::gui {
namespace {

QString csv_field(const QString& text) {
  if (!text.contains(',') && !text.contains('"') && !text.contains('\n')) return text;
  return '"' + QString(text).replace("\"", "\"\"") + '"';
}

}  // namespace

Cell number_cell(double value, QString text) { return {std::move(text), value, {}, 0, true}; }

Cell time_cell(Picoseconds time, bool sign) {
  QString text = time.count() == 0 ? "0" : QString::fromStdString(duration_text(time));
  if (sign && time.count() > 0) text.prepend('+');
  return number_cell(static_cast<double>(time.count()), std::move(text));
}

QString to_csv(const Table& table) {
  QString out;
  QStringList fields;
  for (const QString& header : table.headers) fields << csv_field(header);
  out += fields.join(',') + '\n';
  for (const TableRow& row : table.rows) {
    fields.clear();
    for (const Cell& cell : row.cells) fields << csv_field(cell.text);
    out += fields.join(',') + '\n';
  }
  return out;
}

void TableModel::set_table(Table table) {
  beginResetModel();
  table_ = std::move(table);
  endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.headers.size());
}

QVariant TableModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const TableRow& row = table_.rows[static_cast<std::size_t>(index.row())];
  if (static_cast<std::size_t>(index.column()) >= row.cells.size()) return {};
  const Cell& cell = row.cells[static_cast<std::size_t>(index.column())];
  switch (role) {
    case Qt::DisplayRole: return cell.text;
    case Qt::ToolTipRole: return cell.tip.isEmpty() ? cell.text : cell.tip;
    case Qt::TextAlignmentRole: return QVariant((cell.right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    case Qt::BackgroundRole:
      if (cell.shade <= 0) return {};
      return QColor(213, 94, 0, static_cast<int>(20 + 140 * std::min(cell.shade, 1.0)));
    case sort_role: return cell.sort_by.isValid() ? cell.sort_by : QVariant(cell.text);
    default: return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || section >= table_.headers.size()) return {};
  if (role == Qt::DisplayRole) return table_.headers[section];
  if (role == Qt::TextAlignmentRole) {
    const bool right = !table_.rows.empty() && static_cast<std::size_t>(section) < table_.rows[0].cells.size() &&
                       table_.rows[0].cells[static_cast<std::size_t>(section)].right;
    return QVariant((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
  }
  return {};
}

TableView::TableView(QWidget* parent)
    : QTreeView(parent), model_(new TableModel(this)), sorted_(new QSortFilterProxyModel(this)) {
  sorted_->setSourceModel(model_);
  sorted_->setSortRole(TableModel::sort_role);
  setModel(sorted_);
  setRootIsDecorated(false);
  setUniformRowHeights(true);
  setAlternatingRowColors(true);
  setAllColumnsShowFocus(true);
  setSelectionMode(ExtendedSelection);
  setSortingEnabled(true);
  setFrameShape(NoFrame);
  header()->setSortIndicator(-1, Qt::AscendingOrder);
  header()->setStretchLastSection(true);
  // Of a long table the first rows decide how wide columns are: all would take longer than a frame.
  header()->setResizeContentsPrecision(40);
  // Return as well as a click leads to the place; arrows only move.
  connect(this, &QTreeView::clicked, this, &TableView::activate);
}

void TableView::set_table(Table table) {
  const bool same = table.headers == model_->table().headers && !model_->table().rows.empty();
  model_->set_table(std::move(table));
  if (same || model_->table().rows.empty()) return;
  // The order that the rows come in, until somebody clicks.
  header()->setSortIndicator(-1, Qt::AscendingOrder);
  // A number at the far edge is lost.
  const std::vector<Cell>& first = model_->table().rows[0].cells;
  header()->setStretchLastSection(first.empty() || !first.back().right);
  if (!first.empty() && first.back().right) resizeColumnToContents(model_->columnCount() - 1);
  for (int column = 0; column + 1 < model_->columnCount(); ++column) {
    resizeColumnToContents(column);
    setColumnWidth(column, std::clamp(columnWidth(column) + 8, 44, 480));
  }
}

void TableView::set_empty_text(const QString& text) {
  empty_text_ = text;
  viewport()->update();
}

void TableView::activate(const QModelIndex& index) {
  const QModelIndex source = sorted_->mapToSource(index);
  if (!source.isValid()) return;
  const TableRow& row = model_->table().rows[static_cast<std::size_t>(source.row())];
  // The signal may replace the table.
  const std::optional<SliceRef> slice = row.slice;
  const std::optional<std::uint32_t> line = row.line;
  if (slice) {
    emit slice_chosen(*slice);
  } else if (line) {
    emit line_chosen(*line);
  }
}

QString TableView::selected_text() const {
  QModelIndexList rows = selectionModel()->selectedRows();
  std::ranges::sort(rows, {}, [](const QModelIndex& index) { return index.row(); });
  if (rows.isEmpty())
    for (int row = 0; row < sorted_->rowCount(); ++row) rows << sorted_->index(row, 0);
  QStringList lines;
  for (const QModelIndex& row : rows) {
    QStringList cells;
    for (int column = 0; column < sorted_->columnCount(); ++column)
      cells << sorted_->index(row.row(), column).data().toString();
    lines << cells.join('\t');
  }
  return lines.join('\n');
}

QString TableView::csv() const {
  Table table{model_->table().headers, {}};
  for (int row = 0; row < sorted_->rowCount(); ++row)
    table.rows.push_back(
        model_->table().rows[static_cast<std::size_t>(sorted_->mapToSource(sorted_->index(row, 0)).row())]);
  return to_csv(table);
}

void TableView::paintEvent(QPaintEvent* event) {
  QTreeView::paintEvent(event);
  if (model_->rowCount() > 0 || empty_text_.isEmpty()) return;
  QPainter painter(viewport());
  painter.setPen(palette().color(QPalette::PlaceholderText));
  painter.drawText(viewport()->rect().adjusted(16, 8, -16, -8), Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
}

void TableView::keyPressEvent(QKeyEvent* event) {
  if (event->matches(QKeySequence::Copy)) {
    QApplication::clipboard()->setText(selected_text());
  } else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    activate(currentIndex());
  } else {
    QTreeView::keyPressEvent(event);
  }
}

void TableView::contextMenuEvent(QContextMenuEvent* event) {
  QMenu menu(this);
  QAction* copy = menu.addAction("Copy");
  copy->setShortcut(QKeySequence::Copy);
  QAction* save = menu.addAction("Save table as CSV...");
  QAction* chosen = menu.exec(event->globalPos());
  if (chosen == copy) QApplication::clipboard()->setText(selected_text());
  if (chosen != save) return;
  const QString file = QFileDialog::getSaveFileName(this, "Save table as CSV", "table.csv", "CSV (*.csv)");
  if (file.isEmpty()) return;
  if (const Result<void> written = write_file(file.toStdString(), csv().toStdString()); !written)
    QMessageBox::warning(this, "Stave", QString::fromStdString(to_text(written.problems()[0])));
}

}  // namespace stave::gui
