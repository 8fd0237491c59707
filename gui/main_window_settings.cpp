#include <QDockWidget>
#include <QFileInfo>
#include <QMenu>
#include <QSettings>

#include "gui/main_window.h"
#include "gui/start_page.h"
#include "gui/view/timeline_view.h"

namespace stave::gui {
namespace {

constexpr int recent_count = 8;
// The layout of another set of panels does not fit.
constexpr int layout_version = 1;

QString key_of(const QString& kind, QString what) { return kind + "/" + what.replace('/', '_'); }

}  // namespace

void MainWindow::read_settings() {
  QSettings settings;
  if (settings.contains("theme")) set_theme(static_cast<ThemeChoice>(settings.value("theme").toInt()));
  if (settings.contains("geometry")) restoreGeometry(settings.value("geometry").toByteArray());
  if (settings.contains("layout")) restoreState(settings.value("layout").toByteArray(), layout_version);
  show_titles();
  update_recent();
}

void MainWindow::write_settings() {
  QSettings settings;
  settings.setValue("theme", static_cast<int>(options_.theme));
  settings.setValue("geometry", saveGeometry());
  settings.setValue("layout", saveState(layout_version));
  remember_view();
}

void MainWindow::open_tour_once() {
  if (!options_.remember || QSettings().contains("tour_seen")) return;
  QSettings().setValue("tour_seen", true);
  open_tour();
}

QStringList MainWindow::recent_files() const {
  return options_.remember ? QSettings().value("recent").toStringList() : QStringList();
}

void MainWindow::remember_file(const QString& file) {
  if (!options_.remember) return;
  QStringList files = recent_files();
  const QString path = QFileInfo(file).absoluteFilePath();
  files.removeAll(path);
  files.prepend(path);
  while (files.size() > recent_count) files.removeLast();
  QSettings().setValue("recent", files);
  update_recent();
}

void MainWindow::update_recent() {
  recent_menu_->clear();
  const QStringList files = recent_files();
  for (const QString& file : files)
    recent_menu_->addAction(QFileInfo(file).fileName(), this, [this, file] { open({file}); })->setToolTip(file);
  recent_menu_->setEnabled(!files.isEmpty());
  start_->set_recent(files);
}

void MainWindow::recall() {
  const QString key = session_.memory_key();
  if (key == recalled_ || key.isEmpty()) return;
  recalled_ = key;
  if (!options_.remember) return;
  const QSettings settings;
  // Of the same schedule before, or of another session with this file.
  if (settings.contains(key_of("rows", key)))
    remembered_ = rows_remembered(settings.value(key_of("rows", key)).toByteArray());
  session_.set_bookmarks(bookmarks_remembered(settings.value(key_of("bookmarks", key)).toByteArray()));
}

void MainWindow::remember_view() {
  if (!options_.remember || recalled_.isEmpty()) return;
  QSettings settings;
  settings.setValue(key_of("rows", recalled_), remembered_rows(view_->scene().rows));
  settings.setValue(key_of("bookmarks", recalled_), remembered_bookmarks(session_.bookmarks()));
}

}  // namespace stave::gui
