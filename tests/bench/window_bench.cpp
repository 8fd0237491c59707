// How long the window's thread is held up by a single event while runs are opened and compared, and a schedule is
// changed. Budget of a release build: 16 ms. STAVE_BENCH_RUNS names two traces or run files, with a colon between.
#include <benchmark/benchmark.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QMetaEnum>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "gui/main_window.h"
#include "gui/screenshot.h"
#include "gui/view/timeline_view.h"

namespace stave::gui {
namespace {

class TimedApplication : public QApplication {
 public:
  using QApplication::QApplication;

  bool notify(QObject* receiver, QEvent* event) override {
    if (inside_) return QApplication::notify(receiver, event);
    bool done = false;
    const QString what = QString("event %1 of %2").arg(event->type()).arg(receiver->metaObject()->className());
    time(what, [&] { done = QApplication::notify(receiver, event); });
    return done;
  }

  // What a person's key or click would call.
  template <class Work>
  void time(const QString& what, Work work) {
    inside_ = true;
    QElapsedTimer timer;
    timer.start();
    work();
    const double ms = static_cast<double>(timer.nsecsElapsed()) / 1e6;
    inside_ = false;
    if (ms > 16) {
      ++late;
      if (std::getenv("STAVE_BENCH_TELL")) std::fprintf(stderr, "%.1f ms: %s\n", ms, qPrintable(what));
    }
    longest = std::max(longest, ms);
  }

  double longest = 0;
  int late = 0;  // longer than 16 ms

 private:
  bool inside_ = false;
};

TimedApplication& application() {
  if (!std::getenv("DISPLAY")) qputenv("QT_QPA_PLATFORM", "offscreen");
  static int argc = 1;
  static char name[] = "window_bench";
  static char* argv[] = {name, nullptr};
  // Never destroyed: at the end of the program Qt has already let go of what it needs for that.
  static auto* made = new TimedApplication(argc, argv);
  return *made;
}

constexpr int patience_ms = 120'000;

void report(benchmark::State& state) {
  state.counters["longest_ms"] = application().longest;
  state.counters["late"] = application().late;
}

void begin() {
  QCoreApplication::processEvents();
  application().longest = 0;
  application().late = 0;
}

QStringList runs_to_open() { return QString(qgetenv("STAVE_BENCH_RUNS")).split(':', Qt::SkipEmptyParts); }

MainWindow& shown_window() {
  application();
  auto* window = new MainWindow({.remember = false, .theme = ThemeChoice::Light, .size = {1920, 1080}});
  window->show();
  wait_until_idle(window->session(), patience_ms);
  return *window;
}

void BM_open_and_compare(benchmark::State& state) {
  const QStringList files = runs_to_open();
  if (files.size() != 2) return state.SkipWithError("STAVE_BENCH_RUNS names no two runs");
  for (auto _ : state) {
    MainWindow& window = shown_window();
    begin();
    for (const QString& file : files) {
      window.open({file});
      wait_until_idle(window.session(), patience_ms);
    }
    if (state.range(0) == 1)
      for (const char* panel : {"difference", "collectives", "critical-path", "problems", "overview"}) {
        application().time(panel, [&] { window.show_view(panel); });
        wait_until_idle(window.session(), patience_ms);
      }
    if (state.range(0) == 2) {
      application().time("search", [&] { window.session().search("kernel"); });
      wait_until_idle(window.session(), patience_ms);
      for (int i = 0; i < 20; ++i) {
        application().time("next hit", [&] { window.session().next_mark(true); });
        wait_until_idle(window.session(), patience_ms);
        application().time("zoom", [&] { window.view().zoom(0.8); });
        QCoreApplication::processEvents();
      }
      state.counters["hits"] = static_cast<double>(window.session().marks().size());
      application().time("select all hits", [&] { window.session().select(window.session().marks()); });
      application().time("colours", [&] { window.show_view("by-command"); });
      application().time("critical path", [&] { window.show_view("path"); });
      application().time("stacked", [&] { window.show_view("stacked"); });
      wait_until_idle(window.session(), patience_ms);
    }
    report(state);
    delete &window;
  }
}
// Without more; with each panel in front; with a search and a walk through its hits.
BENCHMARK(BM_open_and_compare)->DenseRange(0, 2)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void BM_slide(benchmark::State& state) {
  for (auto _ : state) {
    MainWindow& window = shown_window();
    begin();
    window.open({STAVE_SOURCE_DIR "/examples/ring_matmul_8.stave"});
    wait_until_idle(window.session(), patience_ms);
    for (int i = 1; i <= 20; ++i) {
      const MachineEdit edit{"link.*.bandwidth_bytes_per_s", 1 - i * 0.02, true};
      application().time("edit", [&] { window.session().edit(edit, i > 1); });
      wait_until_idle(window.session(), patience_ms);
    }
    report(state);
    delete &window;
  }
}
BENCHMARK(BM_slide)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace stave::gui
