#include "gui/panels/table_panel.h"

#include <QVBoxLayout>

namespace stave::gui {

TablePanel::TablePanel(Session& session, Fill fill, QWidget* parent)
    : QWidget(parent),
      session_(session),
      fill_(std::move(fill)),
      summary_(new QLabel(this)),
      table_(new TableView(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  summary_->setContentsMargins(10, 6, 10, 6);
  summary_->setWordWrap(true);
  summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(summary_);
  column->addWidget(table_);
  connect(table_, &TableView::slice_chosen, this, [this](SliceRef slice) {
    session_.select(slice);
    emit session_.revealed(slice);
  });
  connect(table_, &TableView::line_chosen, &session_, &Session::select_line);
}

void TablePanel::outdate() {
  stale_ = true;
  if (isVisible()) refresh();
}

void TablePanel::refresh() {
  stale_ = false;
  Content content = fill_(session_);
  summary_->setText(content.summary);
  summary_->setVisible(!content.summary.isEmpty());
  table_->setHeaderHidden(content.table.rows.empty());
  table_->set_empty_text(content.empty);
  table_->set_table(std::move(content.table));
}

void TablePanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (stale_) refresh();
}

void add_rest(Table& table, std::size_t left_out) {
  if (left_out == 0) return;
  TableRow row;
  row.cells.push_back({QString("... and %L1 more").arg(left_out), {}, {}, 0, false});
  table.rows.push_back(std::move(row));
}

}  // namespace stave::gui
