#include "gui/screenshot.h"

#include <QApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QFileInfo>

#include "gui/main_window.h"
#include "gui/view/timeline_view.h"

namespace stave::gui {
namespace {

// A trace of gigabytes takes minutes to import.
constexpr int patience_ms = 600'000;

// One after the other, each predicted: what cannot be is said, not drawn as if nothing had been asked.
Result<void> make_edits(Session& session, const QStringList& edits) {
  if (edits.isEmpty()) return {};
  if (!session.has_schedule()) session.adopt_schedule_of_run();
  if (!session.has_schedule())
    return error_at({}, "STV0901",
                    "--what-if changes a schedule, and none is open: give a .stave file, or a run of one");
  for (const QString& text : edits) {
    TRY(const Edit edit, edit_from(text.toStdString()));
    session.edit(edit);
    if (!wait_until_idle(session, patience_ms)) return error_at({}, "STV0950", "it took too long");
    Problems wrong = session.outcome().problems;
    // A deadlock can be looked at.
    std::erase_if(
        wrong, [](const Problem& problem) { return problem.severity != Severity::Error || problem.code == "STV0890"; });
    if (!wrong.empty()) return Failure(std::move(wrong));
  }
  return {};
}

// As window_of(), whose messages speak of --window.
Result<Window> zoom_of(const Timeline& timeline, const std::string& text) {
  Result<Window> window = window_of(timeline, text);
  if (window) return window;
  Problems problems = window.problems();
  for (Problem& problem : problems)
    if (problem.message.starts_with("--window ")) problem.message.replace(0, 8, "--zoom");
  return Failure(std::move(problems));
}

}  // namespace

bool wait_until_idle(Session& session, int timeout_ms) {
  QElapsedTimer timer;
  timer.start();
  // What came in last may begin something new.
  for (int quiet = 0; quiet < 3;) {
    QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    QCoreApplication::sendPostedEvents();
    quiet = session.idle() ? quiet + 1 : 0;
    if (timer.elapsed() > timeout_ms) return false;
  }
  return true;
}

Result<Edit> edit_from(const std::string& text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos || equal == 0)
    return error_at({}, "STV0901", "--what-if takes NAME=VALUE or FIELD=VALUE, got \"{}\"", text);
  const std::string name = text.substr(0, equal), value = text.substr(equal + 1);
  if (name.find('.') == std::string::npos) return Edit{ParamEdit{name, value}};
  const bool factor = value.starts_with('x');
  bool ok = false;
  const double number = QString::fromStdString(factor ? value.substr(1) : value).toDouble(&ok);
  if (!ok) return error_at({}, "STV0901", "--what-if {} takes a number, or xFACTOR, got \"{}\"", name, value);
  return Edit{MachineEdit{name, number, factor}};
}

Result<void> take_screenshot(const ScreenshotOptions& options) {
  MainWindow window(
      {.remember = false, .theme = options.dark ? ThemeChoice::Dark : ThemeChoice::Light, .size = options.size});
  Session& session = window.session();
  Problems failed;
  QObject::connect(&session, &Session::failed, &window,
                   [&](const Problems& problems) { failed.insert(failed.end(), problems.begin(), problems.end()); });
  window.show();
  // One after the other, so that they stand in the order they were given in.
  if (options.as_ranks) {
    window.open(options.files, true);
    if (!wait_until_idle(session, patience_ms)) return error_at({}, "STV0950", "it took too long");
  } else {
    for (const QString& file : options.files) {
      window.open({file});
      if (!wait_until_idle(session, patience_ms)) return error_at({}, "STV0950", "it took too long");
    }
  }
  if (!failed.empty()) return Failure(failed);
  TRY_VOID(make_edits(session, options.edits));
  for (const QString& view : options.views)
    if (!window.show_view(view.toStdString()))
      return error_at({}, "STV0901", "there is no view \"{}\"; there are {}", view.toStdString(),
                      MainWindow::view_names().join(", ").toStdString());
  if (!options.zoom.isEmpty()) {
    const RunPtr run = session.chosen_run();
    if (!run) return error_at({}, "STV1900", "there is no run to look at");
    TRY(const Window shown, zoom_of(*run->timeline, options.zoom.toStdString()));
    const Picoseconds shift = session.shift(*session.chosen());
    window.view().zoom_to({shown.span.begin + shift, shown.span.end + shift});
  } else {
    window.view().fit_all();
  }
  if (!options.search.isEmpty()) {
    session.search(options.search);
    if (!session.search_problem().isEmpty())
      return error_at({}, "STV0901", "--search \"{}\" is {}", options.search.toStdString(),
                      session.search_problem().toStdString());
    wait_until_idle(session, patience_ms);
    session.next_mark(true);
  }
  wait_until_idle(session, patience_ms);
  return window.write_picture(options.output, true);
}

}  // namespace stave::gui
