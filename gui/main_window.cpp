#include "gui/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QSpinBox>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolBar>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "gui/panels/panels.h"
#include "gui/start_page.h"
#include "gui/view/timeline_view.h"
#include "gui/words.h"
#include "workbench/templates.h"

namespace stave::gui {

MainWindow::MainWindow(const WindowOptions& options) : options_(options), session_(this) {
  setObjectName("main");
  setWindowTitle("Stave");
  setAcceptDrops(true);
  setDockNestingEnabled(true);
  setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);
  setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
  setCorner(Qt::TopRightCorner, Qt::RightDockWidgetArea);
  resize(options.size);

  auto* middle = new QWidget(this);
  auto* column = new QVBoxLayout(middle);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  banner_ = new QFrame(middle);
  banner_->setObjectName("banner");
  auto* line = new QHBoxLayout(banner_);
  line->setContentsMargins(12, 6, 6, 6);
  banner_text_ = new QLabel(banner_);
  banner_text_->setWordWrap(true);
  banner_text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  line->addWidget(banner_text_, 1);
  auto* dismiss = new QToolButton(banner_);
  dismiss->setText(QString::fromUtf8("✕"));
  dismiss->setAutoRaise(true);
  dismiss->setToolTip("Hide this message");
  line->addWidget(dismiss, 0, Qt::AlignTop);
  connect(dismiss, &QToolButton::clicked, banner_, &QWidget::hide);
  banner_->hide();
  column->addWidget(banner_);
  pages_ = new QStackedWidget(middle);
  start_ = new StartPage(pages_);
  view_ = new TimelineView(pages_);
  pages_->addWidget(start_);
  pages_->addWidget(view_);
  column->addWidget(pages_, 1);
  setCentralWidget(middle);
  connect(start_, &StartPage::open_asked, this, [this] { ask_open(false); });
  connect(start_, &StartPage::tour_asked, this, &MainWindow::open_tour);
  connect(start_, &StartPage::file_asked, this, [this](const QString& file) { open({file}); });

  set_theme(options.theme);
  make_docks();
  make_menus();
  make_bars();
  default_layout();
  connect_session();
  connect_view();
  if (options_.remember) read_settings();
  rebuild();
  update_busy();
}

MainWindow::~MainWindow() {
  // Its last words must not reach a window that is half gone.
  session_.disconnect(this);
  session_.jobs().disconnect(this);
}

void MainWindow::set_theme(ThemeChoice theme) {
  options_.theme = theme;
  choices_.dark = is_dark(theme);
  apply_theme(choices_.dark);
  if (view_ && !session_.runs().empty()) rebuild();
}

void MainWindow::make_docks() {
  for (const Panel& panel : panels()) {
    auto* dock = new QDockWidget(words(panel.title), this);
    dock->setObjectName(words(panel.name));
    dock->setToolTip(words(panel.tip));
    dock->setWidget(panel.create(session_, dock));
    addDockWidget(panel.area, dock);
    docks_.emplace(panel.name, dock);
    connect(dock, &QDockWidget::dockLocationChanged, this, &MainWindow::show_titles, Qt::QueuedConnection);
    connect(dock, &QDockWidget::topLevelChanged, this, &MainWindow::show_titles, Qt::QueuedConnection);
  }
}

void MainWindow::default_layout() {
  std::map<Qt::DockWidgetArea, QDockWidget*> first;
  const bool wide = width() >= 1600;
  for (const Panel& panel : panels()) {
    QDockWidget* dock = docks_.at(std::string(panel.name));
    dock->setFloating(false);
    addDockWidget(panel.area, dock);
    dock->show();
    auto& beside = first[panel.area];
    // A wide window has room for schedule and what-if below each other.
    if (beside && !(wide && panel.area == Qt::RightDockWidgetArea)) tabifyDockWidget(beside, dock);
    if (!beside) beside = dock;
  }
  for (const auto& [area, dock] : first) dock->raise();
  QDockWidget* right = docks_.at("schedule");
  QDockWidget* bottom = docks_.at("overview");
  resizeDocks({right}, {std::clamp(width() * 30 / 100, 320, 560)}, Qt::Horizontal);
  resizeDocks({bottom}, {std::clamp(height() * 27 / 100, 160, 320)}, Qt::Vertical);
  show_titles();
  if (wide) resizeDocks({right, docks_.at("what-if")}, {height() * 45 / 100, height() * 55 / 100}, Qt::Vertical);
}

// A tab says the title already; without tabs, or to be moved, a panel needs its own.
void MainWindow::show_titles() {
  for (const auto& [name, dock] : docks_) {
    const bool title = titles_ || dock->isFloating() || tabifiedDockWidgets(dock).isEmpty();
    if (title == (dock->titleBarWidget() == nullptr)) continue;
    QWidget* before = dock->titleBarWidget();
    dock->setTitleBarWidget(title ? nullptr : new QWidget(dock));
    delete before;
  }
}

// Of a trace there is no schedule to show: then the timeline gets the room.
void MainWindow::update_schedule_side() {
  const bool wanted = session_.has_schedule() || session_.runs().empty() ||
                      std::ranges::any_of(session_.runs(), [](const Session::Entry& entry) {
                        return !entry.run->info.schedule_text.empty();
                      });
  if (std::exchange(schedule_side_, wanted) == wanted) return;
  for (const char* name : {"schedule", "what-if"}) docks_.at(name)->setVisible(wanted);
  if (wanted) docks_.at("schedule")->raise();
}

void MainWindow::make_bars() {
  auto* tools = addToolBar("Tools");
  tools->setObjectName("tools");
  tools->setMovable(false);
  chosen_ = new QComboBox;
  partner_ = new QComboBox;
  align_ = new QComboBox;
  for (QComboBox* box : {chosen_, partner_}) {
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(20);
  }
  chosen_->setToolTip("The run that panels speak of");
  partner_->setToolTip("The run that it is compared with");
  align_->addItems({"aligned at the first work", "aligned by step", "aligned at a command", "aligned at step"});
  align_->setToolTip(
      "How runs are put on one time axis; by step: the steps that are compared; "
      "a command: the selected slice");
  tools->addWidget(new QLabel("Run "));
  tools->addWidget(chosen_);
  tools->addWidget(new QLabel(" against "));
  tools->addWidget(partner_);
  tools->addWidget(align_);
  step_ = new QSpinBox;
  step_->setToolTip("The step that is put on one line in all runs");
  step_->setKeyboardTracking(false);
  step_shown_ = tools->addWidget(step_);
  auto* stretch = new QWidget;
  stretch->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  tools->addWidget(stretch);
  search_ = new QLineEdit;
  search_->setPlaceholderText("Search (regular expression)");
  search_->setClearButtonEnabled(true);
  search_->setFixedWidth(250);
  search_->setToolTip("In names of slices, commands and tracks; Return: next hit");
  hits_ = new QLabel;
  hits_->setMinimumWidth(70);
  tools->addWidget(search_);
  tools->addWidget(hits_);
  connect(chosen_, &QComboBox::currentIndexChanged, this, [this](int at) {
    if (!updating_ && at >= 0) session_.choose(static_cast<std::size_t>(at));
  });
  connect(partner_, &QComboBox::currentIndexChanged, this, [this](int) {
    if (updating_) return;
    const QVariant at = partner_->currentData();
    session_.set_partner(at.isValid() ? std::optional(static_cast<std::size_t>(at.toULongLong())) : std::nullopt);
  });
  connect(align_, &QComboBox::currentIndexChanged, this, [this](int at) {
    if (!updating_) session_.align(static_cast<AlignBy>(at));
    update_tools();
  });
  connect(step_, &QSpinBox::valueChanged, this, [this](int step) {
    if (!updating_) session_.align_at_step(static_cast<std::uint32_t>(step));
  });
  // While letters still come, nobody waits for their hits.
  search_timer_.setSingleShot(true);
  connect(&search_timer_, &QTimer::timeout, this, [this] { session_.search(search_->text()); });
  connect(search_, &QLineEdit::textChanged, this, [this] { search_timer_.start(120); });
  connect(search_, &QLineEdit::returnPressed, this, [this] {
    if (search_timer_.isActive() || session_.search_pattern() != search_->text()) {
      search_timer_.stop();
      session_.search(search_->text());
    }
    session_.next_mark(true);
  });

  hovered_ = new QLabel;
  hovered_->setTextFormat(Qt::PlainText);
  // However long a name is, it must not widen the window.
  hovered_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  busy_ = new QLabel;
  cancel_ = new QToolButton;
  cancel_->setText("Cancel");
  cancel_->setAutoRaise(true);
  cancel_->setToolTip("Stop what is being done in the background");
  statusBar()->setSizeGripEnabled(false);
  statusBar()->addWidget(hovered_, 1);
  statusBar()->addPermanentWidget(busy_);
  statusBar()->addPermanentWidget(cancel_);
  connect(cancel_, &QToolButton::clicked, &session_, &Session::cancel_all);
  busy_timer_.setInterval(100);
  connect(&busy_timer_, &QTimer::timeout, this, &MainWindow::update_busy);
}

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

void MainWindow::open(const QStringList& files, bool as_ranks) { session_.open(files, as_ranks); }

void MainWindow::open_tour() {
  for (const Template& one : templates())
    if (one.name == "ring-matmul") session_.new_schedule(std::string(one.text), "tour.stave");
  show_view("what-if");
  show_banner(
      "A matrix product over two GPUs: while one shard is multiplied, the next one arrives. Drag to move, turn the "
      "wheel to "
      "zoom, click a slice to see its line of the schedule. Then pull \"Link bandwidth\" under What if to the left, "
      "and "
      "watch the transfer come out from behind the product. Ctrl+Shift+P has everything else.");
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
    hits_->setText(session_.mark() ? QString("%L1 of %L2").arg(*session_.mark() + 1).arg(n)
                                   : QString("%L1 found").arg(n));
    hits_->setToolTip("Return, F3: next; Shift+F3: previous");
  }
}

void MainWindow::update_tools() {
  updating_ = true;
  chosen_->clear();
  partner_->clear();
  partner_->addItem("nothing");
  for (std::size_t r = 0; r < session_.runs().size(); ++r) {
    const Session::Entry& entry = session_.runs()[r];
    const QString title = (entry.ghost ? "before: " : "") + words(entry.run->title);
    chosen_->addItem(title);
    chosen_->setItemData(chosen_->count() - 1, words(entry.run->file), Qt::ToolTipRole);
    if (session_.chosen() != r) partner_->addItem(title, static_cast<qulonglong>(r));
  }
  if (session_.runs().empty()) chosen_->addItem("none");
  if (session_.chosen()) chosen_->setCurrentIndex(static_cast<int>(*session_.chosen()));
  partner_->setCurrentIndex(
      session_.partner() ? std::max(0, partner_->findData(static_cast<qulonglong>(*session_.partner()))) : 0);
  align_->setCurrentIndex(static_cast<int>(session_.align_by()));
  const bool several = session_.runs().size() > 1;
  const auto steps = session_.steps();
  step_shown_->setVisible(several && steps && session_.align_by() == AlignBy::StepNumber);
  if (steps) {
    step_->setRange(static_cast<int>(steps->first), static_cast<int>(steps->second));
    step_->setValue(static_cast<int>(session_.align_step()));
  }
  partner_->setEnabled(several);
  align_->setEnabled(several);
  chosen_->setEnabled(!session_.runs().empty());
  search_->setEnabled(!session_.runs().empty());
  updating_ = false;
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

void MainWindow::update_busy() {
  const QString text = session_.jobs().progress();
  busy_->setText(text.isEmpty() ? "" : text + "...");
  cancel_->setVisible(!text.isEmpty());
  if (text.isEmpty()) {
    busy_timer_.stop();
  } else if (!busy_timer_.isActive()) {
    busy_timer_.start();
  }
}

void MainWindow::say(const QString& text) { statusBar()->showMessage(text, 6000); }

void MainWindow::show_banner(const QString& text) {
  banner_text_->setText(text);
  banner_->show();
}

QDockWidget* MainWindow::dock(std::string_view name) const {
  const auto at = docks_.find(name);
  return at == docks_.end() ? nullptr : at->second;
}

QStringList MainWindow::view_names() {
  QStringList names;
  for (const Panel& panel : panels()) names << words(panel.name);
  return names << "path"
               << "stacked"
               << "no-differences"
               << "by-delta"
               << "by-command"
               << "by-rank"
               << "by-stream";
}

bool MainWindow::show_view(std::string_view name) {
  if (QDockWidget* found = dock(name)) {
    found->show();
    found->raise();
    return true;
  }
  const auto at = switches_.find(name);
  if (at == switches_.end()) return false;
  if (!at->second->isChecked()) at->second->trigger();
  return true;
}

QAction* MainWindow::action(const QString& text) const {
  for (QAction* action : actions_)
    if (QString(action->text()).remove('&') == text) return action;
  return nullptr;
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (session_.unsaved()) {
    QMessageBox box(QMessageBox::Question, "Stave", "The schedule or what was changed under What if is not saved.",
                    QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
    box.setDefaultButton(QMessageBox::Save);
    const int answer = box.exec();
    if (answer == QMessageBox::Cancel || (answer == QMessageBox::Save && !save_schedule(false))) return event->ignore();
  }
  session_.cancel_all();
  if (options_.remember) write_settings();
  event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  QStringList files;
  for (const QUrl& url : event->mimeData()->urls())
    if (url.isLocalFile()) files << url.toLocalFile();
  if (!files.isEmpty()) open(files);
  event->acceptProposedAction();
}

}  // namespace stave::gui
