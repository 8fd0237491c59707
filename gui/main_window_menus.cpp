// The window's menus. Each entry is an action of the command palette, too.
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QSpinBox>

#include <algorithm>

#include "gui/main_window.h"
#include "gui/view/timeline_view.h"
#include "gui/words.h"
#include "profiles/export/exporter.h"
#include "workbench/templates.h"

namespace stave::gui {

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
  add(menu, "Save p&icture of the timeline...", QKeySequence("Ctrl+E"),
      "PNG, or SVG, whose texts can be found and whose shapes can be edited", [this] { save_picture(false); });
  add(menu, "Save picture of the &window...", {}, "PNG or SVG", [this] { save_picture(true); });
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
  add(menu, "&Find", QKeySequence::Find, "In names, commands, tracks and problems: a regular expression", [this] {
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
  add(menu, "&Tour", {}, "A minute's walk, on a schedule to play with", [this] { open_tour(); });
  add(menu, "&About Stave", {}, "", [this] {
    QMessageBox::about(this, "Stave",
                       "<b>Stave " STAVE_VERSION
                       "</b><p>Predicts, checks and executes GPU command schedules, and "
                       "explores timelines of them, measured or predicted.</p>");
  });
}

}  // namespace stave::gui
