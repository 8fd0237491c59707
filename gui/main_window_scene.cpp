// What is shown follows the session, and the session what is done to it.
#include <QAction>
#include <QDockWidget>
#include <QLabel>
#include <QStackedWidget>

#include <algorithm>
#include <utility>

#include "gui/main_window.h"
#include "gui/view/timeline_view.h"
#include "gui/words.h"

namespace stave::gui {

void MainWindow::connect_session() {
  connect(&session_, &Session::runs_changed, this, &MainWindow::rebuild);
  connect(&session_, &Session::compared_changed, this, &MainWindow::rebuild);
  connect(&session_, &Session::bookmarks_changed, this, &MainWindow::rebuild);
  connect(&session_, &Session::selection_changed, this, &MainWindow::update_selection);
  connect(&session_, &Session::marks_changed, this, &MainWindow::update_marks);
  connect(&session_, &Session::draft_changed, this, &MainWindow::update_title);
  connect(&session_, &Session::outcome_changed, this, &MainWindow::update_title);
  connect(&session_, &Session::output_changed, this, [this] { show_view("output"); });
  connect(&session_, &Session::revealed, this, [this](SliceRef slice) { view_->reveal(slice); });
  connect(&session_, &Session::went_to, this, [this](Time time) { view_->go_to(time); });
  connect(&session_, &Session::opened, this, &MainWindow::remember_file);
  connect(&session_, &Session::saved, this, [this](const QString& what) { say("Saved " + what); });
  connect(&session_, &Session::failed, this, [this](const Problems& problems) {
    QString text = words(to_text(problems[0])).trimmed();
    if (problems.size() > 1) text += QString("\nand %1 more: see Problems").arg(problems.size() - 1);
    show_banner(text);
  });
  connect(&session_.jobs(), &Jobs::changed, this, &MainWindow::update_busy);
  connect(&session_, &Session::problems_changed, this, [this] {
    const std::size_t count = session_.problems().size();
    docks_.at("problems")->setWindowTitle(count == 0 ? "Problems" : QString("Problems (%L1)").arg(count));
  });
}

void MainWindow::connect_view() {
  view_->set_empty_text("Open a run, a trace or a schedule, or drop one here.");
  connect(view_, &TimelineView::slice_selected, this, [this] {
    // Of several slices the view has the others, too.
    std::vector<SliceRef> slices = view_->scene().selection;
    if (!slices.empty() && dock("overview")->isVisible() && !dock("overview")->visibleRegion().isEmpty())
      show_view("details");
    session_.select(std::move(slices));
  });
  connect(view_, &TimelineView::slice_hovered, this, [this](std::optional<SliceRef> slice) {
    hovered_->setText(slice                ? line_about(session_, *slice)
                      : session_.current() ? line_about(session_, *session_.current())
                                           : "");
    if (session_.compared()) update_selection();
  });
  connect(view_, &TimelineView::slice_activated, this, [this](SliceRef slice) {
    session_.select(slice);
    view_->fit();
  });
  connect(view_, &TimelineView::range_selected, this, [this](std::optional<RangeSelection> range) {
    if (range == session_.range()) return;
    std::vector<std::pair<std::size_t, TrackId>> tracks;
    if (range) {
      tracks = tracks_of(view_->scene(), *range);
      show_view("statistics");
    }
    session_.select_range(std::move(range), std::move(tracks));
  });
  connect(view_, &TimelineView::measured, this, [this](std::optional<TimeSpan> span) {
    if (span) say("Measured " + words(span->end - span->start));
  });
  connect(view_, &TimelineView::rows_changed, this, &MainWindow::remember_view);
  connect(view_, &TimelineView::context_asked, this, &MainWindow::show_context_menu);
}

void MainWindow::rebuild() {
  const bool anything = !session_.runs().empty();
  pages_->setCurrentIndex(anything || session_.has_schedule() ? 1 : 0);
  if (!anything && session_.has_schedule())
    view_->set_empty_text(session_.jobs().busy("predict") ? "Predicting..." : "There is no prediction: see Problems.");
  update_schedule_side();
  recall();
  Scene before = view_->scene();
  if (!remembered_.empty() && anything) before.rows = std::exchange(remembered_, {});
  view_->set_scene(scene_of(session_, choices_, before));
  update_tools();
  update_title();
}

void MainWindow::update_selection() {
  Scene scene = view_->scene();
  if (scene.runs.size() != session_.runs().size()) return;  // a rebuild is on its way
  show_selection(session_, choices_, scene);
  view_->set_scene(std::move(scene));
  if (session_.current()) hovered_->setText(line_about(session_, *session_.current()));
}

void MainWindow::update_marks() {
  Scene scene = view_->scene();
  if (scene.runs.size() != session_.runs().size()) return;
  show_marks(session_, scene);
  view_->set_scene(std::move(scene));
  if (!session_.search_problem().isEmpty()) {
    hits_->setText("?");
    hits_->setToolTip(session_.search_problem());
    say(session_.search_problem());
  } else if (session_.search_pattern().isEmpty()) {
    hits_->clear();
  } else {
    const std::size_t n = session_.marks().size();
    QString text =
        session_.mark() ? QString("%L1 of %L2").arg(*session_.mark() + 1).arg(n) : QString("%L1 found").arg(n);
    QString tip = "Return, F3: next; Shift+F3: previous";
    if (const std::size_t problems = session_.found_problems(); problems > 0) {
      text += QString(" + %L1").arg(problems);
      tip += QString("\nand %L1 of the problems: they are the first ones under Problems").arg(problems);
      // With nothing to jump to, this is where it is.
      if (n == 0) show_view("problems");
    }
    hits_->setText(text);
    hits_->setToolTip(tip);
  }
}

void MainWindow::update_title() {
  const RunPtr run = session_.chosen_run();
  const QString name = session_.has_schedule() ? words(file_name(session_.schedule_file()))
                       : run                   ? words(run->title)
                                               : "";
  setWindowTitle(name.isEmpty() ? "Stave" : name + (session_.unsaved() ? "* - Stave" : " - Stave"));
  if (undo_) undo_->setEnabled(session_.can_undo());
  if (redo_) redo_->setEnabled(session_.can_redo());
  if (session_.runs().empty() && session_.has_schedule() && session_.outcome().problems.size() > 0)
    view_->set_empty_text("There is no prediction yet: " + words(session_.outcome().problems[0].message));
}

}  // namespace stave::gui
