// `stave-gui --screenshot`: the window as a picture, without a display.
#pragma once

#include <QSize>
#include <QStringList>

#include "analysis/edits.h"

namespace stave::gui {

struct ScreenshotOptions {
  QString output;  // .png
  QSize size{1280, 720};
  bool dark = false;
  bool as_ranks = false;
  QStringList files;
  QStringList views;  // as MainWindow::show_view
  QString search;     // marks its hits, and selects the first one
  QString zoom;       // a window as for `stave report --window`
  QStringList edits;  // what-if: "n=2048", "device.sm_count=64", "host.*=x0.5"
};

// There must be a QApplication.
Result<void> take_screenshot(const ScreenshotOptions& options);

// Waits for all background work of a session; false: not done in that time.
class Session;
bool wait_until_idle(Session& session, int timeout_ms);

// "n=2048" is a param, "device.sm_count=64" and "host.*=x0.5" are of the machine. STV0901: not so.
Result<Edit> edit_from(const std::string& text);

}  // namespace stave::gui
