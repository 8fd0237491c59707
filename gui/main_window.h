// The window: the timeline in the middle, panels around it, a session behind all.
#pragma once

#include <QMainWindow>
#include <QTimer>

#include <map>
#include <string_view>

#include "gui/scene_of_session.h"
#include "gui/session.h"
#include "gui/theme.h"

class QComboBox;
class QFrame;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QStackedWidget;
class QToolButton;

namespace stave::gui {

class StartPage;
class TimelineView;

struct WindowOptions {
  bool remember = true;  // reads and writes settings: layout, recent files, bookmarks, pins
  ThemeChoice theme = ThemeChoice::System;
  QSize size{1280, 800};
};

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(const WindowOptions& options = {});
  ~MainWindow() override;

  Session& session() { return session_; }
  TimelineView& view() { return *view_; }
  void open(const QStringList& files, bool as_ranks = false);
  void open_tour();
  void open_tour_once();  // on the first start
  // A panel's name brings it to the front; others switch something: see view_names(). False: there is none.
  bool show_view(std::string_view name);
  static QStringList view_names();
  QDockWidget* dock(std::string_view name) const;
  const QList<QAction*>& all_actions() const { return actions_; }
  QAction* action(const QString& text) const;
  void set_theme(ThemeChoice theme);
  // As SVG if the name says so, else in the format that it names.
  Result<void> write_picture(const QString& file, bool of_window);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void make_bars();
  void make_docks();
  void make_menus();
  void make_file_menu();
  void make_edit_menu();
  void make_view_menu();
  void make_navigate_menu();
  void make_schedule_menu();
  void make_compare_menu();
  void make_help_menu();
  template <class Slot>
  QAction* add(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip, Slot slot);
  template <class Slot>
  QAction* add_switch(QMenu* menu, const QString& text, const QKeySequence& keys, const QString& tip, bool on,
                      Slot slot);
  void connect_session();
  void connect_view();
  void default_layout();
  void show_titles();
  void update_schedule_side();

  void rebuild();           // the scene, after the runs changed
  void update_selection();  // of the scene
  void update_marks();
  void update_tools();
  void update_title();
  void update_busy();
  void say(const QString& text);
  void show_banner(const QString& text);
  void show_tour_stop(std::size_t at);  // behind the last one: the end
  bool ask_to_save();                   // false: what was about to happen is not wanted any more
  void ask_open(bool as_ranks);
  bool save_schedule(bool ask_name);
  void save_picture(bool of_window);
  void show_context_menu(std::optional<SliceRef> slice, std::optional<std::size_t> row, QPoint at);
  void add_bookmark();
  void go_to_time();
  void next_bookmark(bool forward);
  void show_shortcuts();
  void show_palette();
  QString selection_text() const;
  void save_table();

  void read_settings();
  void write_settings();
  void remember_file(const QString& file);
  QStringList recent_files() const;
  void update_recent();
  void recall();  // bookmarks and rows of what is open now
  void remember_view();

  WindowOptions options_;
  Session session_;
  ViewChoices choices_;
  QStackedWidget* pages_ = nullptr;
  StartPage* start_ = nullptr;
  TimelineView* view_ = nullptr;
  QFrame* banner_ = nullptr;
  QLabel* banner_text_ = nullptr;
  QPushButton* tour_back_ = nullptr;
  QPushButton* tour_next_ = nullptr;
  std::size_t tour_at_ = 0;
  std::map<std::string, QDockWidget*, std::less<>> docks_;
  QList<QAction*> actions_;
  QMenu* recent_menu_ = nullptr;
  QMenu* panels_menu_ = nullptr;
  QComboBox* chosen_ = nullptr;
  QComboBox* partner_ = nullptr;
  QComboBox* align_ = nullptr;
  QSpinBox* step_ = nullptr;  // to align at
  QAction* step_shown_ = nullptr;
  QLineEdit* search_ = nullptr;
  QLabel* hits_ = nullptr;
  QLabel* hovered_ = nullptr;
  QLabel* busy_ = nullptr;
  QToolButton* cancel_ = nullptr;
  QTimer busy_timer_, search_timer_;
  QAction* undo_ = nullptr;
  QAction* redo_ = nullptr;
  std::map<std::string, QAction*, std::less<>> switches_;
  QString recalled_;  // for what bookmarks and rows were read
  std::vector<Row> remembered_;
  bool schedule_side_ = true;  // the right side, which is about schedules
  bool titles_ = false;        // of panels in tabs, to move them by
  bool updating_ = false;
};

}  // namespace stave::gui
