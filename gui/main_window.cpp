#include "gui/main_window.h"

#include <QApplication>
#include <QCloseEvent>
#include <QComboBox>
#include <QDockWidget>
#include <QDragEnterEvent>
#include <QFrame>
#include <QHBoxLayout>
#include <QLabel>
#include <QLayout>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QSpinBox>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabBar>
#include <QTabWidget>
#include <QToolBar>
#include <QToolButton>
#include <QUrl>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "gui/panels/panels.h"
#include "gui/start_page.h"
#include "gui/tour.h"
#include "gui/view/timeline_view.h"
#include "gui/words.h"

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
  tour_back_ = new QPushButton("Back", banner_);
  tour_next_ = new QPushButton("Next", banner_);
  for (QPushButton* button : {tour_back_, tour_next_}) line->addWidget(button, 0, Qt::AlignTop);
  connect(tour_back_, &QPushButton::clicked, this, [this] { show_tour_stop(tour_at_ - 1); });
  connect(tour_next_, &QPushButton::clicked, this, [this] { show_tour_stop(tour_at_ + 1); });
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
  // As long as they were not in tabs, panels made it wider.
  layout()->activate();
  resize(options.size);
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
  // Names that end in dots tell nothing.
  for (QTabBar* bar : findChildren<QTabBar*>(Qt::FindDirectChildrenOnly)) {
    bar->setElideMode(Qt::ElideNone);
    bar->setUsesScrollButtons(true);
  }
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

void MainWindow::open(const QStringList& files, bool as_ranks) { session_.open(files, as_ranks); }

void MainWindow::open_tour() {
  // What is being written is not thrown away for it.
  if (session_.unsaved() && !ask_to_save()) return;
  show_tour_stop(0);
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

bool MainWindow::ask_to_save() {
  QMessageBox box(QMessageBox::Question, "Stave", "The schedule or what was changed under What if is not saved.",
                  QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, this);
  box.setDefaultButton(QMessageBox::Save);
  const int answer = box.exec();
  return answer == QMessageBox::Discard || (answer == QMessageBox::Save && save_schedule(false));
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (session_.unsaved() && !ask_to_save()) return event->ignore();
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
