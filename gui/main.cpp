#include <QApplication>
#include <QCommandLineParser>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "gui/main_window.h"
#include "gui/screenshot.h"

namespace {

using namespace stave;

constexpr int exit_ok = 0, exit_input = 2, exit_machine = 3;

constexpr const char* help = R"(usage: stave-gui [FILE...]
       stave-gui --screenshot OUT [--size WxH] [--view NAME]... [--dark] FILE...

Shows measured and predicted timelines side by side. FILE is a run file, a trace
that `stave import` reads, or a schedule (.stave), which is checked and predicted.

  --ranks              the traces are of the ranks of one run
  --screenshot OUT     draw the window into this file, without a display, and end; PNG, or SVG if its name ends in
                       .svg
  --size WxH           of the picture; 1280x720
  --dark, --light      the theme; without it, as the desktop
  --view NAME          show a panel or switch something on; --view help lists them
  --search REGEX       mark what it finds, and select the first hit
  --zoom WINDOW        step:3, range:NAME, or two times: 1.2ms..1.3ms
  --what-if EDIT       n=2048, device.sm_count=64, host.*=x0.5; predicted, the run before stays as a ghost
  -h, --help           this page
  --version            the version

Exit codes: 0 done, 2 an input cannot be used, 3 no display, or the picture cannot be written.
Example: stave-gui --screenshot ring.png --size 1920x1080 examples/ring_matmul_2.stave
)";

int complain(const Problems& problems) {
  bool machine = false;
  for (const Problem& problem : problems) {
    std::fprintf(stderr, "%s", to_text(problem).c_str());
    machine = machine || problem.code == "STV0002";
  }
  return machine ? exit_machine : exit_input;
}

int usage(const QString& message) {
  std::fprintf(stderr, "stave-gui: %s; see --help\n", qPrintable(message));
  return exit_input;
}

bool has_display() {
  return std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr ||
         std::getenv("QT_QPA_PLATFORM") != nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  QStringList arguments;
  for (int i = 0; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
  QCommandLineParser parser;
  parser.addOptions({{"screenshot", "", "FILE"},
                     {"size", "", "WxH"},
                     {"view", "", "NAME"},
                     {"search", "", "REGEX"},
                     {"zoom", "", "WINDOW"},
                     {"what-if", "", "EDIT"},
                     {"dark", ""},
                     {"light", ""},
                     {"ranks", ""},
                     {{"h", "help"}, ""},
                     {"version", ""}});
  if (!parser.parse(arguments)) return usage(parser.errorText());
  if (parser.isSet("help")) return std::fputs(help, stdout) < 0 ? exit_machine : exit_ok;
  if (parser.isSet("version")) return std::puts("stave-gui " STAVE_VERSION) < 0 ? exit_machine : exit_ok;
  gui::ScreenshotOptions shot;
  shot.output = parser.value("screenshot");
  shot.dark = parser.isSet("dark");
  shot.as_ranks = parser.isSet("ranks");
  shot.files = parser.positionalArguments();
  shot.views = parser.values("view");
  shot.search = parser.value("search");
  shot.zoom = parser.value("zoom");
  shot.edits = parser.values("what-if");
  const QString views = gui::MainWindow::view_names().join('\n');
  for (const QString& view : shot.views)
    if (view != "help" && !gui::MainWindow::view_names().contains(view))
      return usage(
          QString("there is no view \"%1\"; there are %2").arg(view, gui::MainWindow::view_names().join(", ")));
  if (shot.views.contains("help")) return std::puts(qPrintable(views)) < 0 ? exit_machine : exit_ok;
  if (parser.isSet("size")) {
    const QStringList size = parser.value("size").split('x');
    bool width = false, height = false;
    if (size.size() == 2) shot.size = {size[0].toInt(&width), size[1].toInt(&height)};
    if (!width || !height || shot.size.width() < 320 || shot.size.height() < 240 || shot.size.width() > 16384 ||
        shot.size.height() > 16384)
      return usage("--size takes WIDTHxHEIGHT, from 320x240 to 16384x16384");
  }
  for (const char* name : {"size", "search", "zoom", "what-if"})
    if (parser.isSet(name) && !parser.isSet("screenshot"))
      return usage(QString("--%1 is for pictures: give --screenshot OUT.png, too").arg(name));
  // Before the application: it looks for a display.
  if (parser.isSet("screenshot")) {
    qputenv("QT_QPA_PLATFORM", "offscreen");
  } else if (!has_display()) {
    return complain({{Severity::Error, "", "there is no display; --screenshot OUT.png draws without one", {}, {}}}),
           exit_machine;
  }
  // A picture is made without words, unless something is wrong with it.
  if (parser.isSet("screenshot"))
    qInstallMessageHandler([](QtMsgType type, const QMessageLogContext&, const QString& message) {
      if (type == QtCriticalMsg || type == QtFatalMsg) std::fprintf(stderr, "%s\n", qPrintable(message));
    });
  QApplication application(argc, argv);
  QApplication::setOrganizationName("stave");
  QApplication::setApplicationName("stave-gui");
  QApplication::setApplicationVersion(STAVE_VERSION);
  if (parser.isSet("screenshot")) {
    const Result<void> taken = gui::take_screenshot(shot);
    return taken ? exit_ok : complain(taken.problems());
  }
  gui::WindowOptions options;
  if (shot.dark) options.theme = gui::ThemeChoice::Dark;
  if (parser.isSet("light")) options.theme = gui::ThemeChoice::Light;
  gui::MainWindow window(options);
  window.show();
  if (!shot.files.isEmpty()) {
    window.open(shot.files, shot.as_ranks);
  } else {
    window.open_tour_once();
  }
  for (const QString& view : shot.views) window.show_view(view.toStdString());
  return QApplication::exec();
}
