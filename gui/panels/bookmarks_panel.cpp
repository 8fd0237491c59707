#include <QHBoxLayout>
#include <QInputDialog>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/panels/bookmarks_panel.h"
#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {

BookmarksPanel::BookmarksPanel(Session& session, QWidget* parent)
    : QWidget(parent), session_(session), table_(new TableView(this)) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* buttons = new QHBoxLayout;
  buttons->setContentsMargins(10, 5, 6, 5);
  auto* remove = new QPushButton("Remove", this);
  auto* rename = new QPushButton("Rename", this);
  buttons->addStretch();
  buttons->addWidget(rename);
  buttons->addWidget(remove);
  column->addLayout(buttons);
  column->addWidget(table_, 1);
  table_->set_empty_text("Select a slice and press B (or choose Navigate > Add bookmark) to come back to it later.");
  connect(remove, &QPushButton::clicked, this, [this] {
    std::vector<Bookmark> bookmarks = session_.bookmarks();
    const int row = chosen_row();
    if (row < 0) return;
    bookmarks.erase(bookmarks.begin() + row);
    session_.set_bookmarks(std::move(bookmarks));
  });
  connect(rename, &QPushButton::clicked, this, [this] {
    const int row = chosen_row();
    if (row < 0) return;
    bool ok = false;
    std::vector<Bookmark> bookmarks = session_.bookmarks();
    Bookmark& bookmark = bookmarks[static_cast<std::size_t>(row)];
    const QString text =
        QInputDialog::getText(this, "Rename bookmark", "Text", QLineEdit::Normal, words(bookmark.text), &ok);
    if (!ok) return;
    bookmark.text = text.toStdString();
    session_.set_bookmarks(std::move(bookmarks));
  });
  connect(table_, &QTreeView::activated, this, [this] { go(); });
  connect(table_, &QTreeView::clicked, this, [this] { go(); });
  connect(&session_, &Session::bookmarks_changed, this, &BookmarksPanel::refresh);
  refresh();
}

int BookmarksPanel::chosen_row() const {
  const QModelIndex index = table_->currentIndex();
  if (!index.isValid()) return -1;
  // Sorted by time in the session; the view may sort otherwise.
  return index.siblingAtColumn(0).data(TableModel::sort_role).toInt();
}

void BookmarksPanel::go() {
  const int row = chosen_row();
  if (row >= 0 && static_cast<std::size_t>(row) < session_.bookmarks().size())
    emit session_.went_to(session_.bookmarks()[static_cast<std::size_t>(row)].time);
}

void BookmarksPanel::refresh() {
  Table table;
  table.headers = {"#", "Time", "Text"};
  for (std::size_t i = 0; i < session_.bookmarks().size(); ++i) {
    const Bookmark& bookmark = session_.bookmarks()[i];
    TableRow row;
    row.cells = {number_cell(static_cast<double>(i), QString::number(i + 1)),
                 time_cell(bookmark.time),
                 {words(bookmark.text), {}, {}, 0, false}};
    table.rows.push_back(std::move(row));
  }
  table_->setHeaderHidden(table.rows.empty());
  table_->set_table(std::move(table));
}

QWidget* make_bookmarks_panel(Session& session, QWidget* parent) { return new BookmarksPanel(session, parent); }

}  // namespace stave::gui
