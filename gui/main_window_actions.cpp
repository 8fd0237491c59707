// What the window's actions do that takes more than a line.
#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QRegularExpression>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>

#include "core/base/files.h"
#include "gui/command_palette.h"
#include "gui/main_window.h"
#include "gui/svg.h"
#include "gui/table.h"
#include "gui/view/timeline_view.h"
#include "gui/words.h"
#include "profiles/import/importer.h"

namespace stave::gui {
namespace {

// Of the timeline, which takes them itself: for the page of shortcuts.
constexpr std::pair<const char*, const char*> view_keys[] = {
    {"W, S", "zoom in, out, around the pointer"},
    {"A, D", "earlier, later"},
    {"Up, Down, Page up, Page down", "scroll over rows"},
    {"wheel", "zoom at the pointer"},
    {"Ctrl + wheel, Shift + wheel", "scroll over rows, move in time"},
    {"drag", "move"},
    {"Shift + drag", "zoom to a box"},
    {"Ctrl + drag, drag on the ruler", "select a stretch: Statistics shows what it adds up to"},
    {"F", "fit the selection; all, if nothing is selected"},
    {", and .  or [ and ]", "the slice before, after"},
    {"M", "ruler that snaps to edges of slices"},
    {"P", "pin the selected slice's row to the top, or let it go"},
    {"Home, End", "to the begin, to the end"},
    {"Ctrl + click", "select one slice more"},
    {"drag a row's name", "move the row"},
    {"click a row's name", "fold or unfold"},
    {"double click a slice", "zoom to it"},
    {"Escape", "select nothing"},
};

std::optional<Time> time_from(const QString& text) {
  static const std::pair<const char*, double> units[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
  for (const auto& [unit, size] : units) {
    QString number = text.trimmed();
    if (!number.endsWith(unit)) continue;
    number.chop(static_cast<qsizetype>(std::string_view(unit).size()));
    bool ok = false;
    const double value = number.trimmed().toDouble(&ok);
    if (ok) return Time{static_cast<std::int64_t>(value * size)};
  }
  return std::nullopt;
}

}  // namespace

void MainWindow::ask_open(bool as_ranks) {
  QString traces;
  for (const Importer& importer : importers())
    for (const std::string_view suffix : importer.suffixes) traces += " *" + words(suffix);
  const QStringList files = QFileDialog::getOpenFileNames(
      this, as_ranks ? "Open the traces of one run" : "Open", {},
      QString("All that can be opened (*.stave *.sqlite%1);;Schedules (*.stave);;Runs (*.sqlite);;All files (*)")
          .arg(traces));
  if (!files.isEmpty()) open(files, as_ranks);
}

bool MainWindow::save_schedule(bool ask_name) {
  if (!session_.has_schedule()) {
    say("There is no schedule to save.");
    return true;
  }
  QString file = words(session_.schedule_file());
  // What came from a template or a run has no file yet.
  if (ask_name || !QFileInfo::exists(file))
    file = QFileDialog::getSaveFileName(this, "Save schedule", file, "Schedules (*.stave)");
  if (file.isEmpty()) return false;
  const Result<void> saved = session_.save_schedule(file.toStdString());
  if (!saved) session_.tell(saved.problems());
  return saved.has_value();
}

void MainWindow::save_picture(bool of_window) {
  const QString file = QFileDialog::getSaveFileName(this, "Save picture", of_window ? "window.png" : "timeline.png",
                                                    "PNG (*.png);;SVG (*.svg)");
  if (file.isEmpty()) return;
  if (const Result<void> written = write_picture(file, of_window); !written) return session_.tell(written.problems());
  say("Saved " + file);
}

Result<void> MainWindow::write_picture(const QString& file, bool of_window) {
  if (file.endsWith(".svg", Qt::CaseInsensitive))
    return write_file(file.toStdString(), svg_of(of_window ? static_cast<QWidget&>(*this) : *view_).toStdString());
  const QImage image = of_window ? grab().toImage() : view_->picture_of(view_->size(), devicePixelRatioF());
  const bool other = file.endsWith(".jpg", Qt::CaseInsensitive) || file.endsWith(".bmp", Qt::CaseInsensitive);
  if (other ? !image.save(file) : !image.save(file, "PNG", 0))  // 0: as small as it gets
    return error_at({.file = file.toStdString()}, "STV0002", "the picture cannot be written");
  return {};
}

void MainWindow::save_table() {
  for (const auto& [name, dock] : docks_) {
    auto* table = dock->findChild<TableView*>();
    if (!table || !dock->isVisible() || dock->visibleRegion().isEmpty() || table->table().rows.empty()) continue;
    const QString file = QFileDialog::getSaveFileName(this, "Save table as CSV", words(name) + ".csv", "CSV (*.csv)");
    if (file.isEmpty()) return;
    const Result<void> written = write_file(file.toStdString(), table->csv().toStdString());
    return written ? say("Saved " + file) : session_.tell(written.problems());
  }
  say("No panel with a table is in front.");
}

QString MainWindow::selection_text() const {
  QStringList lines;
  for (const SliceRef slice : session_.selection()) {
    lines << line_about(session_, slice);
    if (lines.size() >= 10000) break;
  }
  return lines.join('\n');
}

void MainWindow::show_context_menu(std::optional<SliceRef> slice, std::optional<std::size_t> row, QPoint at) {
  QMenu menu(this);
  if (slice) {
    session_.select(*slice);
    menu.addAction("Zoom to it", view_, &TimelineView::fit);
    menu.addAction("Copy as text", this, [this] { QApplication::clipboard()->setText(selection_text()); });
    const Timeline& timeline = *session_.run(slice->run)->timeline;
    const QString name = words(timeline.text(timeline.slice(slice->slice).name));
    menu.addAction("Find all \"" + words(cut(name.toStdString(), 30)) + "\"", this,
                   [this, name] { search_->setText("^" + QRegularExpression::escape(name) + "$"); });
    if (session_.partner_of(*slice))
      menu.addAction("Go to its partner", this, [this] { action("Partner in the other run")->trigger(); });
    menu.addAction("Align runs here", this, [this] { session_.align(AlignBy::Command); });
    menu.addAction("Add bookmark", this, &MainWindow::add_bookmark);
    menu.addSeparator();
  }
  if (row && *row < view_->scene().rows.size()) {
    const Row& r = view_->scene().rows[*row];
    menu.addAction(r.pinned ? "Unpin row" : "Pin row to the top", this, [this, row] { view_->toggle_pin(*row); });
    menu.addAction(r.folded ? "Unfold row" : "Fold row", this, [this, row] { view_->toggle_fold(*row); });
    menu.addAction("Hide row", this, [this, row] { view_->set_hidden(*row, true); });
  }
  if (!menu.isEmpty()) menu.exec(at);
}

void MainWindow::add_bookmark() {
  if (session_.runs().empty()) return;
  Bookmark bookmark;
  if (const auto current = session_.current()) {
    const Run& run = *session_.run(current->run);
    bookmark.time = run.timeline->slice(current->slice).start + session_.shift(current->run);
    bookmark.text = std::string(title_of(*run.timeline, current->slice));
  } else {
    const TimeSpan seen = view_->visible();
    bookmark.time = seen.start + (seen.end - seen.start) / 2;
    bookmark.text = duration_text(bookmark.time);
  }
  std::vector<Bookmark> bookmarks = session_.bookmarks();
  bookmarks.push_back(std::move(bookmark));
  std::ranges::stable_sort(bookmarks, {}, &Bookmark::time);
  session_.set_bookmarks(std::move(bookmarks));
  remember_view();
}

void MainWindow::next_bookmark(bool forward) {
  const TimeSpan seen = view_->visible();
  const Time middle = seen.start + (seen.end - seen.start) / 2;
  // Not the one in the middle, to a pixel or so.
  const Picoseconds near = (seen.end - seen.start) / 500 + 1_ps;
  std::optional<Time> best;
  for (const Bookmark& bookmark : session_.bookmarks()) {
    const bool ahead = forward ? bookmark.time > middle + near : bookmark.time < middle - near;
    if (ahead && (!best || (forward ? bookmark.time < *best : bookmark.time > *best))) best = bookmark.time;
  }
  if (best) view_->go_to(*best);
}

void MainWindow::go_to_time() {
  bool ok = false;
  const QString text =
      QInputDialog::getText(this, "Go to time", "Time with its unit, as 12.5us or 1.2ms", QLineEdit::Normal, {}, &ok);
  if (!ok) return;
  if (const std::optional<Time> time = time_from(text)) {
    view_->go_to(*time);
  } else {
    say("\"" + text + "\" is no time; write 12.5us, 1.2ms or 3s");
  }
}

void MainWindow::show_palette() { (new CommandPalette(actions_, this))->show(); }

void MainWindow::show_shortcuts() {
  auto* dialog = new QDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle("Keyboard shortcuts");
  dialog->resize(620, 620);
  auto* column = new QVBoxLayout(dialog);
  auto* page = new QTextBrowser(dialog);
  page->setFrameShape(QFrame::NoFrame);
  QString html = "<h3>In the timeline</h3><table cellpadding=3>";
  for (const auto& [keys, what] : view_keys)
    html += QString("<tr><td><b>%1</b></td><td>%2</td></tr>").arg(QString(keys).toHtmlEscaped(), what);
  html += "</table><h3>Everywhere</h3><table cellpadding=3>";
  for (const QAction* action : actions_)
    if (!action->shortcut().isEmpty())
      html += QString("<tr><td><b>%1</b></td><td>%2</td></tr>")
                  .arg(action->shortcut().toString(QKeySequence::NativeText).toHtmlEscaped(), plain_text(*action));
  page->setHtml(html + "</table>");
  column->addWidget(page);
  dialog->show();
}

}  // namespace stave::gui
