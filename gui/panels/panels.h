// All panels. To add one: a pair of files beside these with its maker, and a line in
// the table of panels.cpp; its dock, menu entry and place in the layout follow.
#pragma once

#include <QtCore/qnamespace.h>

#include <span>
#include <string_view>

class QWidget;

namespace stave::gui {

class Session;

struct Panel {
  std::string_view name;  // in settings and for --view
  std::string_view title;
  std::string_view tip;
  Qt::DockWidgetArea area;
  QWidget* (*create)(Session& session, QWidget* parent);
};
std::span<const Panel> panels();

}  // namespace stave::gui
