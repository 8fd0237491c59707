#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QDropEvent>
#include <QFileInfo>
#include <QFrame>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QMimeData>
#include <QPushButton>
#include <QSettings>
#include <QSlider>
#include <QTest>
#include <QToolBar>
#include <QUrl>

#include "gui/command_palette.h"
#include "gui/panels/panels.h"
#include "gui/panels/schedule_panel.h"
#include "gui/panels/table_panel.h"
#include "gui/panels/what_if_panel.h"
#include "gui/schedule_editor.h"
#include "gui/tour.h"
#include "gui/view/timeline_view.h"
#include "tests/gui/gui_support.h"

namespace stave::gui {
namespace {

const WindowOptions forgetful{.remember = false, .theme = ThemeChoice::Light, .size = {1280, 720}};

// The middle of a slice, in the view's own pixels.
QPoint middle_of(const TimelineView& view, SliceRef slice) {
  const std::optional<Box> box = box_of(view.scene(), view.layout_of_rows(), view.viewport(), slice);
  EXPECT_TRUE(box);
  return box ? QPointF(box->x + box->width / 2, box->y + box->height / 2).toPoint() / view.devicePixelRatioF()
             : QPoint();
}

QLineEdit* search_field(MainWindow& window) { return window.findChild<QToolBar*>("tools")->findChild<QLineEdit*>(); }

TEST(Window, IsNotEmptyAtFirstAndPanelsHaveWords) {
  MainWindow window(forgetful);
  window.show();
  EXPECT_TRUE(wait_until_idle(window.session(), 60'000));
  for (const Panel& panel : panels()) {
    ASSERT_NE(window.dock(panel.name), nullptr);
    EXPECT_TRUE(window.show_view(panel.name));
    QCoreApplication::processEvents();
  }
  EXPECT_FALSE(window.show_view("wings"));
}

TEST(Window, GivesATraceWithoutAScheduleTheRoom) {
  MainWindow window(forgetful);
  window.show();
  EXPECT_TRUE(window.dock("schedule")->isVisible());
  open_and_wait(window.session(), {STAVE_SOURCE_DIR "/examples/trace.json"});
  EXPECT_FALSE(window.dock("schedule")->isVisible());
  open_and_wait(window.session(), {ring_file});
  EXPECT_TRUE(window.dock("schedule")->isVisible());
}

TEST(Window, AClickSelectsASliceItsLineAndItsDetails) {
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(), {ring_file});
  window.show_view("details");
  const SliceRef gemm = slice_named(window.session(), "gemm");
  window.view().reveal(gemm);
  QTest::mouseClick(&window.view(), Qt::LeftButton, {}, middle_of(window.view(), gemm));
  ASSERT_EQ(window.session().current(), gemm);
  EXPECT_EQ(window.view().scene().selection, window.session().selection());
  auto* details = window.dock("details")->findChild<TablePanel*>();
  EXPECT_TRUE(details->table()->selected_text().contains("gemm"));
  // The cursor of the schedule is on its line.
  auto* editor = window.dock("schedule")->findChild<ScheduleEditor*>();
  EXPECT_EQ(editor->textCursor().blockNumber() + 1, static_cast<int>(window.session().selected_lines().at(0)));
  // Next slice by key, copy as text.
  QTest::keyClick(&window.view(), Qt::Key_Period);
  EXPECT_NE(window.session().current(), gemm);
  window.action("Copy selection as text")->trigger();
  EXPECT_TRUE(QApplication::clipboard()->text().contains("gemm"));
  QTest::keyClick(&window.view(), Qt::Key_Escape);
  EXPECT_FALSE(window.session().current());
}

TEST(Window, SearchesWhileTyping) {
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(), {ring_file});
  QLineEdit* field = search_field(window);
  QTest::keyClicks(field, "permute");
  QTest::keyClick(field, Qt::Key_Return);
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  QTest::keyClick(field, Qt::Key_Return);
  EXPECT_GE(window.session().marks().size(), 2u);
  ASSERT_TRUE(window.session().mark());
  EXPECT_EQ(window.view().scene().marks, window.session().marks());
  window.action("Find next")->trigger();
  EXPECT_EQ(window.session().current(), window.session().marks()[*window.session().mark()]);
}

TEST(Window, ASliderPredictsAgainAndTheGhostStays) {
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(), {ring_file});
  window.show_view("what-if");
  auto* panel = window.dock("what-if")->findChild<WhatIfPanel*>();
  Knob* link = panel->knob("link.device.bandwidth_bytes_per_s");
  ASSERT_NE(link, nullptr);
  EXPECT_NEAR(link->field()->value(), 396.8, 0.01);
  const Picoseconds before = window.session().outcome().summary.makespan;
  link->slider()->setValue(-200);
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_NEAR(link->field()->value(), 39.68, 0.05);
  EXPECT_GT(window.session().outcome().summary.makespan, before);
  ASSERT_EQ(window.view().scene().runs.size(), 2u);
  EXPECT_TRUE(window.view().scene().runs[1].ghost);
  // A field says the same.
  link->field()->setValue(396.8);
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_EQ(window.session().outcome().summary.makespan, before);
  window.action("Undo")->trigger();
  window.action("Undo")->trigger();
  EXPECT_FALSE(window.action("Undo")->isEnabled());
  EXPECT_TRUE(window.session().draft().edits.empty());
}

TEST(Window, TheClockThatDevicesKeepIsAWhatIf) {
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(), {ring_file});
  window.show_view("what-if");
  const Picoseconds before = window.session().outcome().summary.makespan;
  const auto boxes = window.dock("what-if")->findChildren<QComboBox*>();
  const auto box_with = [&](const char* text) {
    return *std::ranges::find_if(boxes, [&](const QComboBox* box) { return box->findText(text) >= 0; });
  };
  QComboBox* clock = box_with("sustained: at the power limit");
  ASSERT_TRUE(clock->isEnabled());
  clock->setCurrentIndex(1);
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_LT(window.session().outcome().clock, 0.9);
  EXPECT_GT(window.session().outcome().summary.makespan, before);
  // A machine that does not say what work draws has one clock.
  box_with("h100-x8")->setCurrentText("h100-x8");
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_FALSE(clock->isEnabled());
  EXPECT_EQ(window.session().outcome().clock, 1);
  while (window.action("Undo")->isEnabled()) window.action("Undo")->trigger();
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_TRUE(clock->isEnabled());
  EXPECT_EQ(clock->currentIndex(), 0);
}

TEST(Window, TypingInTheScheduleChecksAndPredicts) {
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(), {ring_file});
  const Picoseconds before = window.session().outcome().summary.makespan;
  auto* editor = window.dock("schedule")->findChild<ScheduleEditor*>();
  const QString before_text = editor->toPlainText();
  QString text = before_text;
  editor->setPlainText(text.replace("param k = 8192", "param k = 4096"));
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_LT(window.session().outcome().summary.makespan, before);
  EXPECT_TRUE(window.windowTitle().contains('*'));
  editor->setPlainText("stave 1\nnonsense");
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_FALSE(editor->extraSelections().empty());
  // In one step or in two, as fast as it was typed.
  while (window.action("Undo")->isEnabled()) window.action("Undo")->trigger();
  EXPECT_EQ(editor->toPlainText(), before_text);
}

TEST(Window, ComparesTwoRunsAndJumps) {
  const TempFolder folder;
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(),
                {stored_ring(folder, "eager.sqlite"), stored_ring(folder, "captured.sqlite", Mode::Captured)});
  window.show_view("difference");
  auto* panel = window.dock("difference")->findChild<TablePanel*>();
  ASSERT_GT(panel->table()->model()->rowCount(), 0);
  panel->table()->setCurrentIndex(panel->table()->model()->index(0, 0));
  QTest::keyClick(panel->table(), Qt::Key_Return);
  ASSERT_TRUE(window.session().current());
  const SliceRef from = *window.session().current();
  if (const auto partner = window.session().partner_of(from)) {
    window.action("Partner in the other run")->trigger();
    EXPECT_EQ(window.session().current(), partner);
  }
  EXPECT_TRUE(std::ranges::any_of(window.view().scene().rows,
                                  [](const Row& row) { return row.kind == Row::Kind::Difference; }));
  window.action("Hide difference tracks")->trigger();
  EXPECT_FALSE(std::ranges::any_of(window.view().scene().rows,
                                   [](const Row& row) { return row.kind == Row::Kind::Difference; }));
}

TEST(Window, AStretchIsSummed) {
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(), {ring_file});
  TimelineView& view = window.view();
  const int y = view.layout_of_rows().minimap + view.layout_of_rows().ruler / 2;
  QTest::mousePress(&view, Qt::LeftButton, {}, QPoint(300, y));
  QTest::mouseMove(&view, QPoint(350, y));
  QTest::mouseMove(&view, QPoint(500, y));
  QTest::mouseRelease(&view, Qt::LeftButton, {}, QPoint(500, y));
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  ASSERT_TRUE(window.session().range());
  EXPECT_GT(window.session().statistics().durations.count, 0);
}

// From one end to the other, by hand: two runs of the ring, zoom, search, select, compare, a slider, a picture.
TEST(Window, FromTwoRunsToAPicture) {
  const TempFolder folder;
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(), {stored_ring(folder, "eager.sqlite"), ring_file});
  TimelineView& view = window.view();
  ASSERT_TRUE(window.session().compared());
  EXPECT_EQ(window.session().compared()->comparison.delta, 0_ps);

  const TimeSpan all = view.visible();
  QTest::keyClick(&view, Qt::Key_W);
  QTest::keyClick(&view, Qt::Key_W);
  EXPECT_LT(view.visible().end - view.visible().start, all.end - all.start);
  QLineEdit* field = search_field(window);
  QTest::keyClicks(field, "gemm#2");
  QTest::keyClick(field, Qt::Key_Return);
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  QTest::keyClick(field, Qt::Key_Return);
  ASSERT_TRUE(window.session().current());
  const SliceRef found = *window.session().current();
  QTest::mouseClick(&view, Qt::LeftButton, {}, middle_of(view, found));
  EXPECT_EQ(window.session().current(), found);
  EXPECT_TRUE(window.session().partner_of(found));

  window.show_view("what-if");
  Knob* link = window.dock("what-if")->findChild<WhatIfPanel*>()->knob("link.device.bandwidth_bytes_per_s");
  ASSERT_NE(link, nullptr);
  link->slider()->setValue(-200);
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  window.show_view("difference");
  ASSERT_TRUE(window.session().compared());
  EXPECT_NE(window.session().compared()->comparison.delta, 0_ps);
  for (const char* name : {"ring.png", "ring.svg"}) {
    ASSERT_TRUE(window.write_picture(qt(folder / name), true));
    EXPECT_GT(QFileInfo(qt(folder / name)).size(), 10'000);
  }
  EXPECT_EQ(QImage(qt(folder / "ring.png")).size(), window.size() * window.devicePixelRatioF());
}

TEST(Window, IsUsableAt1024) {
  MainWindow window({.remember = false, .theme = ThemeChoice::Light, .size = {1024, 640}});
  window.show();
  open_and_wait(window.session(), {ring_file, STAVE_SOURCE_DIR "/examples/trace.json"});
  QCoreApplication::processEvents();
  EXPECT_LE(window.minimumSizeHint().width(), 1024);
  EXPECT_EQ(window.width(), 1024);
  EXPECT_GT(window.view().width(), 500);
  QLineEdit* field = search_field(window);
  EXPECT_TRUE(field->isVisible()) << "not in the tool bar's overflow";
}

TEST(Window, TheTourShowsWhatItSpeaksOf) {
  MainWindow window(forgetful);
  window.show();
  window.open_tour();
  auto* banner = window.findChild<QFrame*>("banner");
  const auto button = [&](const QString& text) {
    for (QPushButton* one : banner->findChildren<QPushButton*>())
      if (one->text() == text && one->isVisible()) return one;
    return static_cast<QPushButton*>(nullptr);
  };
  for (std::size_t at = 0; at < tour().size(); ++at) {
    ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
    ASSERT_TRUE(banner->isVisible()) << at;
    EXPECT_TRUE(banner->findChild<QLabel*>()->text().startsWith(QString("%1 of %2.").arg(at + 1).arg(tour().size())));
    if (at == 2) {
      EXPECT_TRUE(window.session().current());
    }
    if (at == 3) {
      EXPECT_EQ(window.view().scene().paths.size(), 1u);
    }
    if (at == 4) {
      EXPECT_TRUE(window.session().runs().back().ghost);
    }
    QPushButton* next = button(at + 1 < tour().size() ? "Next" : "Done");
    ASSERT_NE(next, nullptr) << at;
    next->click();
  }
  EXPECT_FALSE(banner->isVisible());
  EXPECT_TRUE(window.session().compared());
}

TEST(Window, RunsActionsFromThePalette) {
  MainWindow window(forgetful);
  window.show();
  open_and_wait(window.session(), {ring_file});
  window.action("Command palette")->trigger();
  auto* palette = window.findChild<CommandPalette*>();
  ASSERT_NE(palette, nullptr);
  auto* field = palette->findChild<QLineEdit*>();
  QTest::keyClicks(field, "critical");
  ASSERT_GT(palette->findChild<QListWidget*>()->count(), 0);
  QTest::keyClick(field, Qt::Key_Return);
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_EQ(window.view().scene().paths.size(), 1u);
}

TEST(Window, OpensWhatIsDroppedAndShowsWhatFailed) {
  const TempFolder folder;
  put(folder / "foreign.txt", "hello");
  MainWindow window(forgetful);
  window.show();
  QMimeData dropped;
  dropped.setUrls({QUrl::fromLocalFile(qt(ring_file)), QUrl::fromLocalFile(qt(folder / "foreign.txt"))});
  QDragEnterEvent enter(QPoint(100, 100), Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop(QPointF(100, 100), Qt::CopyAction, &dropped, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(&window, &drop);
  ASSERT_TRUE(wait_until_idle(window.session(), 60'000));
  EXPECT_EQ(window.session().runs().size(), 1u);
  EXPECT_TRUE(window.findChild<QFrame*>("banner")->isVisible());
}

TEST(Window, RemembersBookmarksPinsAndLayout) {
  const WindowOptions remembering{.remember = true, .theme = ThemeChoice::Light, .size = {1280, 720}};
  std::size_t pinned = 0;
  {
    MainWindow window(remembering);
    window.show();
    open_and_wait(window.session(), {ring_file});
    window.session().select(slice_named(window.session(), "gemm"));
    window.action("Add bookmark")->trigger();
    pinned = *row_of(window.view().scene(), *window.session().current());
    window.view().toggle_pin(pinned);
    window.close();
  }
  MainWindow window(remembering);
  window.show();
  open_and_wait(window.session(), {ring_file});
  ASSERT_EQ(window.session().bookmarks().size(), 1u);
  EXPECT_EQ(window.view().scene().bookmarks, window.session().bookmarks());
  EXPECT_TRUE(std::ranges::any_of(window.view().scene().rows, &Row::pinned));
  EXPECT_EQ(QSettings().value("recent").toStringList(), QStringList{qt(ring_file)});
  QSettings().clear();
}

}  // namespace
}  // namespace stave::gui
