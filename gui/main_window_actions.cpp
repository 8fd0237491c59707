#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QRegularExpression>
#include <QSpinBox>
#include <QStatusBar>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>

#include "core/base/files.h"
#include "gui/command_palette.h"
#include "gui/main_window.h"
#include "gui/table.h"
#include "gui/view/timeline_view.h"
#include "gui/words.h"
#include "profiles/export/exporter.h"
#include "profiles/import/importer.h"
#include "workbench/templates.h"

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

template <class Slot>
QAction* MainWindow::add(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip, Slot slot) {
  auto* action = new QAction(text, this);
  action->setShortcut(keys);
  action->setToolTip(tip);
  action->setStatusTip(tip);
  connect(action, &QAction::triggered, this, slot);
  if (menu) menu->addAction(action);
  // One letter works in the timeline only: elsewhere it is typed.
  if (!keys.isEmpty() && keys[0].keyboardModifiers() == Qt::NoModifier && keys[0].key() < Qt::Key_Escape) {
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    view_->addAction(action);
  } else {
    addAction(action);
  }
  actions_ << action;
  return action;
}

template <class Slot>
QAction* MainWindow::add_switch(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip, bool on,
                                Slot slot) {
  QAction* action = add(menu, text, keys, tip, [] {});
  action->setCheckable(true);
  action->setChecked(on);
  connect(action, &QAction::toggled, this, slot);
  return action;
}

void MainWindow::make_menus() {
  make_file_menu();
  make_edit_menu();
  make_view_menu();
  make_navigate_menu();
  make_schedule_menu();
  make_compare_menu();
  make_help_menu();
}

void MainWindow::make_file_menu() {
  QMenu* menu = menuBar()->addMenu("&File");
  add(menu, "&Open...", QKeySequence::Open, "A run file, a trace or a schedule", [this] { ask_open(false); });
  add(menu, "Open &ranks of one run...", {}, "Several traces, each of one rank", [this] { ask_open(true); });
  QMenu* fresh = menu->addMenu("&New from a template");
  for (const Template& one : templates())
    add(fresh, "New: " + words(one.name), {}, words(one.summary), [this, one] {
      session_.new_schedule(std::string(one.text), std::string(one.name) + ".stave");
      show_view("schedule");
    });
  recent_menu_ = menu->addMenu("Open re&cent");
  menu->addSeparator();
  add(menu, "&Save schedule", QKeySequence::Save, "With chosen parameters and moved commands",
      [this] { save_schedule(false); });
  add(menu, "Save schedule &as...", QKeySequence("Ctrl+Shift+S"), "", [this] { save_schedule(true); });
  add(menu, "Save &machine as...", {}, "The machine as it was changed under What if", [this] {
    const QString file = QFileDialog::getSaveFileName(this, "Save machine", "edited.toml", "Machines (*.toml)");
    if (file.isEmpty()) return;
    if (const Result<void> saved = session_.save_machine(file.toStdString()); !saved) session_.tell(saved.problems());
  });
  add(menu, "Save &prediction as...", {}, "As a run file", [this] {
    const QString file = QFileDialog::getSaveFileName(this, "Save prediction", "predicted.sqlite", "Runs (*.sqlite)");
    if (!file.isEmpty()) session_.save_run(file.toStdString());
  });
  menu->addSeparator();
  QString formats;
  for (const Exporter& exporter : exporters())
    formats += QString("%1 (*%2);;").arg(words(exporter.name), words(exporter.extension));
  formats.chop(2);
  add(menu, "&Export run...", {}, "In another tool's format", [this, formats] {
    const QString file = QFileDialog::getSaveFileName(this, "Export run", "run.pftrace", formats);
    if (!file.isEmpty()) session_.export_run(file.toStdString(), "", 1280);
  });
  add(menu, "Save p&icture of the timeline...", QKeySequence("Ctrl+E"), "PNG as it is seen, or SVG of the stretch",
      [this] { save_picture(false); });
  add(menu, "Save picture of the &window...", {}, "PNG", [this] { save_picture(true); });
  add(menu, "Save &table as CSV...", {}, "Of the panel in front", [this] { save_table(); });
  menu->addSeparator();
  add(menu, "&Close run", QKeySequence::Close, "The one that panels speak of", [this] {
    if (const auto at = session_.chosen()) session_.close_run(*at);
  });
  add(menu, "&Quit", QKeySequence::Quit, "", [this] { close(); });
}

void MainWindow::make_edit_menu() {
  QMenu* menu = menuBar()->addMenu("&Edit");
  undo_ = add(menu, "&Undo", QKeySequence::Undo, "Of text, machine and parameters", [this] { session_.undo(); });
  redo_ = add(menu, "&Redo", QKeySequence::Redo, "", [this] { session_.redo(); });
  menu->addSeparator();
  add(menu, "&Copy selection as text", QKeySequence("Ctrl+Shift+C"), "What is known about the selected slices",
      [this] { QApplication::clipboard()->setText(selection_text()); });
  menu->addSeparator();
  add(menu, "&Find", QKeySequence::Find, "In names, commands and tracks: a regular expression", [this] {
    search_->setFocus();
    search_->selectAll();
  });
  add(menu, "Find &next", QKeySequence("F3"), "", [this] { session_.next_mark(true); });
  add(menu, "Find &previous", QKeySequence("Shift+F3"), "", [this] { session_.next_mark(false); });
  add(menu, "Select all &hits", {}, "Statistics shows their sums", [this] {
    if (!session_.marks().empty()) session_.select(session_.marks());
  });
}

void MainWindow::make_view_menu() {
  QMenu* menu = menuBar()->addMenu("&View");
  add(menu, "Zoom &in", QKeySequence::ZoomIn, "", [this] { view_->zoom(0.5); });
  add(menu, "Zoom &out", QKeySequence::ZoomOut, "", [this] { view_->zoom(2); });
  add(menu, "&Fit selection", {}, "The key F in the timeline", [this] { view_->fit(); });
  add(menu, "Fit &all", QKeySequence("Ctrl+0"), "", [this] { view_->fit_all(); });
  add(menu, "Fo&ld all", {}, "", [this] { view_->fold_all(true); });
  add(menu, "&Unfold all", {}, "", [this] { view_->fold_all(false); });
  add(menu, "&Higher rows", QKeySequence("Ctrl+Shift+Up"), "",
      [this] { view_->set_lane_height(std::min(60, view_->lane_height() + 3)); });
  add(menu, "&Lower rows", QKeySequence("Ctrl+Shift+Down"), "",
      [this] { view_->set_lane_height(std::max(6, view_->lane_height() - 3)); });
  add(menu, "Show hidden rows", {}, "", [this] {
    for (std::size_t row = 0; row < view_->scene().rows.size(); ++row)
      if (view_->scene().rows[row].hidden) view_->set_hidden(row, false);
  });
  menu->addSeparator();
  QMenu* colours = menu->addMenu("&Colour by");
  auto* group = new QActionGroup(this);
  const std::tuple<const char*, ColourBy, const char*> ways[] = {
      {"family", ColourBy::Family, "by-family"},   {"command", ColourBy::Command, "by-command"},
      {"rank", ColourBy::Rank, "by-rank"},         {"stream", ColourBy::Stream, "by-stream"},
      {"difference", ColourBy::Delta, "by-delta"}, {"problem", ColourBy::Problem, "by-problem"}};
  for (const auto& [name, by, view_name] : ways) {
    QAction* action = add_switch(colours, QString("Colour by %1").arg(name), {}, "", by == choices_.colour_by,
                                 [this, by = by](bool on) {
                                   if (!on) return;
                                   choices_.colour_by = by;
                                   rebuild();
                                 });
    group->addAction(action);
    switches_[view_name] = action;
  }
  switches_["stacked"] =
      add_switch(menu, "Stac&k runs", {}, "One run below the other, not track by track", false, [this](bool on) {
        choices_.arrangement = on ? Arrangement::Stacked : Arrangement::Interleaved;
        rebuild();
      });
  switches_["path"] =
      add_switch(menu, "Critical &path", QKeySequence("C"), "All other slices are paler", false, [this](bool on) {
        choices_.critical_path = on;
        rebuild();
      });
  switches_["arrows"] = add_switch(menu, "Flow &arrows", {},
                                   "What the selected slices wait for, and what waits for them", true, [this](bool on) {
                                     choices_.arrows = on;
                                     update_selection();
                                   });
  add(menu, "Measure", {}, "The key M in the timeline", [this] { view_->set_measuring(!view_->measuring()); });
  menu->addSeparator();
  panels_menu_ = menu->addMenu("&Panels");
  for (const auto& [name, dock] : docks_) {
    QAction* action = dock->toggleViewAction();
    panels_menu_->addAction(action);
    add(nullptr, "Go to panel: " + dock->windowTitle(), {}, dock->toolTip(), [this, name = name] { show_view(name); });
  }
  add_switch(panels_menu_, "Panel titles", {}, "To move panels by; a title that is dragged out floats", false,
             [this](bool on) {
               titles_ = on;
               show_titles();
             });
  add(panels_menu_, "Reset layout", {}, "", [this] { default_layout(); });
  QMenu* themes = menu->addMenu("&Theme");
  add(themes, "Theme: as the desktop", {}, "", [this] { set_theme(ThemeChoice::System); });
  add(themes, "Theme: light", {}, "", [this] { set_theme(ThemeChoice::Light); });
  add(themes, "Theme: dark", {}, "", [this] { set_theme(ThemeChoice::Dark); });
}

void MainWindow::make_navigate_menu() {
  QMenu* menu = menuBar()->addMenu("&Navigate");
  add(menu, "&Go to time...", QKeySequence("Ctrl+G"), "", [this] { go_to_time(); });
  add(menu, "&Next slice on the track", {}, "The keys . and ] in the timeline",
      [this] { view_->select_neighbour(true); });
  add(menu, "&Previous slice on the track", {}, "The keys , and [ in the timeline",
      [this] { view_->select_neighbour(false); });
  add(menu, "&Partner in the other run", QKeySequence("X"), "", [this] {
    const auto current = session_.current();
    const auto partner = current ? session_.partner_of(*current) : std::nullopt;
    if (!partner) return say("The selected slice has no partner in another run.");
    session_.select(*partner);
    view_->reveal(*partner);
  });
  add(menu, "&What it waited for", QKeySequence("Ctrl+Left"), "Along the arrow into the selected slice that ended last",
      [this] {
        const auto current = session_.current();
        if (!current) return;
        const Run& run = *session_.run(current->run);
        std::optional<SliceId> last;
        for (const std::uint32_t at : run.index->inflows(current->slice)) {
          const SliceId from = run.timeline->flows()[at].from;
          if (!last || run.timeline->slice(from).end() > run.timeline->slice(*last).end()) last = from;
        }
        if (!last) return say("Nothing is recorded that the selected slice waited for.");
        const SliceRef to{current->run, *last};
        session_.select(to);
        view_->reveal(to);
      });
  menu->addSeparator();
  add(menu, "Add &bookmark", QKeySequence("B"), "At the selected slice, or in the middle", [this] { add_bookmark(); });
  add(menu, "Next bookmark", QKeySequence("F2"), "", [this] { next_bookmark(true); });
  add(menu, "Previous bookmark", QKeySequence("Shift+F2"), "", [this] { next_bookmark(false); });
}

void MainWindow::make_schedule_menu() {
  QMenu* menu = menuBar()->addMenu("&Schedule");
  add(menu, "&Run on the CPU", QKeySequence("F5"), "Executes all ranks on the CPU reference", [this] {
    if (!session_.has_schedule()) return say("Open a schedule first.");
    session_.execute();
  });
  add(menu, "Run on &GPUs", QKeySequence("Shift+F5"), "Records what runs, two steps to warm up and five that count",
      [this] {
        if (!session_.has_schedule()) return say("Open a schedule first.");
        session_.execute_on_gpus();
      });
  add(menu, "Predict this run's schedule", {}, "So that it can be changed",
      [this] { session_.adopt_schedule_of_run(); });
  add(menu, "&Keep prediction as base", {}, "Changes are held against it", [this] { session_.rebase(); });
  add(menu, "&Cancel background work", QKeySequence("Ctrl+."), "", [this] { session_.cancel_all(); });
}

void MainWindow::make_compare_menu() {
  QMenu* menu = menuBar()->addMenu("&Compare");
  add(menu, "&Swap the two runs", {}, "", [this] { session_.swap(); });
  add(menu, "Align at the first &work", {}, "", [this] { session_.align(AlignBy::Start); });
  add(menu, "Align by s&tep", {}, "", [this] { session_.align(AlignBy::Step); });
  add(menu, "Align at the selected &command", {}, "", [this] { session_.align(AlignBy::Command); });
  add(menu, "Align at a step of &number", {}, "The number stands in the tool bar", [this] {
    session_.align(AlignBy::StepNumber);
    step_->setFocus();
  });
  menu->addSeparator();
  auto* group = new QActionGroup(this);
  const std::pair<const char*, DeltaOf> kinds[] = {
      {"duration", DeltaOf::Duration}, {"start", DeltaOf::Start}, {"gap before", DeltaOf::Gap}};
  for (const auto& [name, what] : kinds)
    group->addAction(add_switch(menu, QString("Difference of %1").arg(name), {}, "", what == session_.delta_of(),
                                [this, what = what](bool on) {
                                  if (on) session_.set_delta_of(what);
                                }));
  menu->addSeparator();
  QAction* tracks =
      add_switch(menu, "&Difference tracks", {}, "Below each track of the chosen run", true, [this](bool on) {
        choices_.differences = on;
        rebuild();
      });
  switches_["no-differences"] = add(nullptr, "Hide difference tracks", {}, "", [tracks] { tracks->setChecked(false); });
}

void MainWindow::make_help_menu() {
  QMenu* menu = menuBar()->addMenu("&Help");
  add(menu, "&Command palette", QKeySequence("Ctrl+Shift+P"), "All actions, found by typing",
      [this] { show_palette(); });
  add(menu, "&Keyboard shortcuts", QKeySequence("F1"), "", [this] { show_shortcuts(); });
  add(menu, "&Tour", {}, "A schedule to play with", [this] { open_tour(); });
  add(menu, "&About Stave", {}, "", [this] {
    QMessageBox::about(this, "Stave",
                       "<b>Stave " STAVE_VERSION
                       "</b><p>Predicts, checks and executes GPU command schedules, and "
                       "explores timelines of them, measured or predicted.</p>");
  });
}

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
                                                    of_window ? "PNG (*.png)" : "PNG (*.png);;SVG (*.svg)");
  if (file.isEmpty()) return;
  if (!of_window && file.endsWith(".svg")) {
    const RunPtr run = session_.chosen_run();
    if (!run) return;
    const Interval all = whole(*run->timeline);
    const TimeSpan seen = view_->visible();
    const Picoseconds shift = session_.shift(*session_.chosen());
    const Time begin = std::max(seen.start - shift, all.begin), end = std::min(seen.end - shift, all.end);
    session_.export_run(file.toStdString(), fmt::format("{}ps..{}ps", begin.count(), end.count()),
                        static_cast<std::uint32_t>(std::max(320, view_->width())));
    return;
  }
  const QImage image = of_window ? grab().toImage() : view_->picture_of(view_->size(), devicePixelRatioF());
  if (image.save(file)) {
    say("Saved " + file);
  } else {
    session_.tell({{Severity::Error, "STV0002", "the picture cannot be written", {.file = file.toStdString()}, {}}});
  }
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
