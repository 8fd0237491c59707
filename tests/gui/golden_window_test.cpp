// The window and panels of it as pixels, light and dark.
#include <QApplication>
#include <QDockWidget>

#include "gui/view/timeline_view.h"
#include "tests/gui/golden.h"
#include "tests/gui/gui_support.h"

namespace stave::gui {
namespace {

const std::string golden_trace = STAVE_SOURCE_DIR "/examples/trace.json";

class GoldenWindow : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_text(); !reason.empty()) GTEST_SKIP() << reason;
    font_ = QApplication::font();
    flash_ = QApplication::cursorFlashTime();
    QApplication::setFont(golden_font());
    QApplication::setCursorFlashTime(0);
  }
  void TearDown() override {
    if (flash_ < 0) return;
    QApplication::setFont(font_);
    QApplication::setCursorFlashTime(flash_);
  }

  static std::unique_ptr<MainWindow> window_of_files(const std::vector<std::string>& files, ThemeChoice theme) {
    auto window =
        std::make_unique<MainWindow>(WindowOptions{.remember = false, .theme = theme, .size = QSize(960, 540)});
    window->show();
    open_and_wait(window->session(), files);
    return window;
  }

  static QImage seen(QWidget& widget, Session& session) {
    EXPECT_TRUE(wait_until_idle(session, 60'000));
    return widget.grab().toImage();
  }

 private:
  QFont font_;
  int flash_ = -1;
};

TEST_F(GoldenWindow, TheStartPage) {
  const auto window = window_of_files({}, ThemeChoice::Light);
  expect_golden("window_start", seen(*window, window->session()));
}

TEST_F(GoldenWindow, ATraceWithASelectedSlice) {
  const auto window = window_of_files({golden_trace}, ThemeChoice::Light);
  Session& session = window->session();
  session.search("gemm|kernel");
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  ASSERT_FALSE(session.marks().empty());
  session.next_mark(true);
  window->show_view("details");
  expect_golden("window_trace", seen(*window, session));
}

TEST_F(GoldenWindow, ASchedulesWhatIfInTheDark) {
  const auto window = window_of_files({ring_file}, ThemeChoice::Dark);
  window->show_view("what-if");
  window->session().edit(MachineEdit{"link.device.bandwidth_bytes_per_s", 0.1, true});
  expect_golden("window_what_if_dark", seen(*window, window->session()));
}

TEST_F(GoldenWindow, PanelsOfATrace) {
  for (const auto& [theme, panel, name] : {std::tuple{ThemeChoice::Light, "critical-path", "panel_critical_path"},
                                           std::tuple{ThemeChoice::Dark, "overview", "panel_overview_dark"}}) {
    const auto window = window_of_files({golden_trace}, theme);
    ASSERT_TRUE(window->show_view(panel));
    QCoreApplication::processEvents();
    expect_golden(name, seen(*window->dock(panel)->widget(), window->session()));
  }
}

}  // namespace
}  // namespace stave::gui
