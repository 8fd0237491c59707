#include "gui/theme.h"

#include <QApplication>
#include <QGuiApplication>
#include <QStyle>
#include <QStyleFactory>

namespace stave::gui {

bool is_dark(ThemeChoice theme) {
  if (theme != ThemeChoice::System) return theme == ThemeChoice::Dark;
  // Of what the desktop chose, before we set our own.
  static const bool system = QGuiApplication::palette().color(QPalette::Window).lightness() < 128;
  return system;
}

QPalette palette_of(bool dark) {
  QPalette p;
  const auto set = [&](QPalette::ColorRole role, const char* light_colour, const char* dark_colour) {
    p.setColor(role, QColor(dark ? dark_colour : light_colour));
  };
  set(QPalette::Window, "#f3f4f6", "#23262b");
  set(QPalette::WindowText, "#1d2127", "#dfe3e8");
  set(QPalette::Base, "#ffffff", "#1b1d21");
  set(QPalette::AlternateBase, "#f7f8fa", "#202328");
  set(QPalette::Text, "#1d2127", "#dfe3e8");
  set(QPalette::PlaceholderText, "#6a7280", "#8b94a1");
  set(QPalette::Button, "#e9ebef", "#2d3138");
  set(QPalette::ButtonText, "#1d2127", "#dfe3e8");
  set(QPalette::BrightText, "#d55e00", "#ff8a4c");
  set(QPalette::Highlight, "#0072b2", "#2f7fb8");
  set(QPalette::HighlightedText, "#ffffff", "#ffffff");
  set(QPalette::Link, "#0072b2", "#56b4e9");
  set(QPalette::ToolTipBase, "#ffffff", "#2d3138");
  set(QPalette::ToolTipText, "#1d2127", "#dfe3e8");
  set(QPalette::Light, "#ffffff", "#3a3f47");
  set(QPalette::Midlight, "#eceef1", "#33373e");
  set(QPalette::Mid, "#c4c9d1", "#3d434c");
  set(QPalette::Dark, "#9aa2ae", "#15171a");
  set(QPalette::Shadow, "#7c8490", "#0d0e10");
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
    p.setColor(QPalette::Disabled, role, QColor(dark ? "#6b737f" : "#9aa2ae"));
  p.setColor(QPalette::Disabled, QPalette::Highlight, QColor(dark ? "#3d434c" : "#c4c9d1"));
  return p;
}

void apply_theme(bool dark) {
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  QApplication::setPalette(palette_of(dark));
  const QString line = dark ? "#33373e" : "#dfe2e7", quiet = dark ? "#8b94a1" : "#5d6673";
  qApp->setStyleSheet(QString(R"(
    QMainWindow::separator { background: %1; width: 1px; height: 1px; }
    QMainWindow::separator:hover { background: #0072b2; }
    QDockWidget { titlebar-close-icon: none; titlebar-normal-icon: none; font-weight: 600; }
    QDockWidget::title { padding: 5px 10px; background: palette(window); border-bottom: 1px solid %1; }
    QToolBar { border: none; border-bottom: 1px solid %1; spacing: 6px; padding: 4px 8px; }
    QStatusBar { border-top: 1px solid %1; color: %2; }
    QStatusBar::item { border: none; }
    QTabBar { font-size: 9pt; }
    QTabBar::tab { padding: 5px 11px; border: none; border-top: 2px solid transparent; color: %2; }
    QTabBar::tab:selected { color: palette(text); border-top: 2px solid #0072b2; background: palette(base); }
    QTabBar::tab:hover { color: palette(text); }
    QHeaderView::section { padding: 4px 6px; border: none; border-bottom: 1px solid %1; background: palette(window);
                           color: %2; }
    QTreeView { selection-background-color: palette(highlight); }
    QTreeView::item { padding: 2px 3px; }
    QToolTip { border: 1px solid %1; padding: 4px; }
    #banner { background: %3; border-bottom: 1px solid %1; }
  )")
                          .arg(line, quiet, dark ? "#4a2a14" : "#fdeee2"));
}

}  // namespace stave::gui
