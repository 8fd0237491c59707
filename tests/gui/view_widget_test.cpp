// The timeline view under keys, wheel and pointer.
#include <gtest/gtest.h>

#include <QApplication>
#include <QMouseEvent>
#include <QTest>
#include <QWheelEvent>

#include "gui/view/timeline_view.h"
#include "tests/gui/view_scene.h"

namespace stave::gui {
namespace {

class ViewTest : public testing::Test {
 protected:
  ViewTest() {
    view.resize(1020, 400);
    view.set_scene(scene_with({timeline_with(
        {{.name = "a"}, {.name = "b"}},
        {{0, 100'000}, {200'000, 100'000}, {900'000, 100'000}, {500'000, 50, Family::Memory, "thin", 1}})}));
    view.show();
    QObject::connect(&view, &TimelineView::slice_selected,
                     [this](std::optional<SliceRef> slice) { selected.push_back(slice); });
    QObject::connect(&view, &TimelineView::range_selected,
                     [this](std::optional<RangeSelection> range) { ranges.push_back(range); });
    QObject::connect(&view, &TimelineView::measured,
                     [this](std::optional<TimeSpan> span) { measured.push_back(span); });
    QObject::connect(&view, &TimelineView::rows_changed, [this] { ++rows_changed; });
  }

  QPoint middle_of(SliceRef slice) const {
    const Box box = *box_of(view.scene(), view.layout_of_rows(), view.viewport(), slice);
    return {static_cast<int>(box.x + box.width / 2), static_cast<int>(box.y + box.height / 2)};
  }
  QPoint at(Time time, int y) const {
    return {view.layout_of_rows().names + static_cast<int>(view.viewport().time.x(time)), y};
  }
  void drag(QPoint from, QPoint to, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mousePress(&view, Qt::LeftButton, modifiers, from);
    for (int i = 1; i <= 4; ++i) {  // QTest::mouseMove says no buttons
      const QPoint now = from + (to - from) * i / 4;
      QMouseEvent move(QEvent::MouseMove, now, view.mapToGlobal(now), Qt::NoButton, Qt::LeftButton, modifiers);
      QApplication::sendEvent(&view, &move);
    }
    QTest::mouseRelease(&view, Qt::LeftButton, modifiers, to);
  }
  void wheel(QPoint position, int notches, Qt::KeyboardModifiers modifiers = {}) {
    QWheelEvent event(position, view.mapToGlobal(position), {}, {0, notches * 120}, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&view, &event);
  }
  static std::int64_t length(TimeSpan span) { return (span.end - span.start).count(); }

  TimelineView view;
  std::vector<std::optional<SliceRef>> selected;
  std::vector<std::optional<RangeSelection>> ranges;
  std::vector<std::optional<TimeSpan>> measured;
  int rows_changed = 0;
};

TEST_F(ViewTest, ShowsAllAtFirst) {
  EXPECT_LE(view.visible().start, Time{0});
  EXPECT_GE(view.visible().end, Time{1'000'000});
  EXPECT_LT(length(view.visible()), 1'100'000);
}

TEST_F(ViewTest, ClickSelectsAndBracketsGoOn) {
  QTest::mouseClick(&view, Qt::LeftButton, {}, middle_of(ref(1)));
  ASSERT_EQ(selected.size(), 1u);
  EXPECT_EQ(selected[0], ref(1));
  QTest::keyClick(&view, Qt::Key_BracketRight);
  EXPECT_EQ(view.scene().selection, (std::vector<SliceRef>{ref(2)}));
  QTest::keyClick(&view, Qt::Key_Comma);
  EXPECT_EQ(selected.back(), ref(1));
  QTest::keyClick(&view, Qt::Key_Escape);
  EXPECT_EQ(selected.back(), std::nullopt);
}

TEST_F(ViewTest, ControlClickAddsAndTakesAway) {
  QTest::mouseClick(&view, Qt::LeftButton, {}, middle_of(ref(1)));
  QTest::mouseClick(&view, Qt::LeftButton, Qt::ControlModifier, middle_of(ref(2)));
  EXPECT_EQ(view.scene().selection, (std::vector<SliceRef>{ref(2), ref(1)}));
  QTest::mouseClick(&view, Qt::LeftButton, Qt::ControlModifier, middle_of(ref(1)));
  EXPECT_EQ(view.scene().selection, (std::vector<SliceRef>{ref(2)}));
}

TEST_F(ViewTest, WheelZoomsAtThePointer) {
  const QPoint point = middle_of(ref(2));
  const Time before = view.viewport().time.time(point.x() - view.layout_of_rows().names);
  const TimeSpan all = view.visible();
  wheel(point, 3);
  EXPECT_LT(length(view.visible()), length(all) * 6 / 10);
  EXPECT_NEAR(view.viewport().time.x(before), point.x() - view.layout_of_rows().names, 1);
  const TimeSpan zoomed = view.visible();
  wheel(point, -1, Qt::ShiftModifier);
  EXPECT_GT(view.visible().start, zoomed.start);
  EXPECT_NEAR(static_cast<double>(length(view.visible())), static_cast<double>(length(zoomed)), 2);
}

TEST_F(ViewTest, KeysZoomPanAndFit) {
  const TimeSpan all = view.visible();
  for (int i = 0; i < 5; ++i) QTest::keyClick(&view, Qt::Key_W);
  EXPECT_LT(length(view.visible()), length(all) / 2);
  const TimeSpan zoomed = view.visible();
  QTest::keyClick(&view, Qt::Key_D);
  EXPECT_GT(view.visible().start, zoomed.start);
  QTest::keyClick(&view, Qt::Key_F);
  EXPECT_EQ(view.visible(), all);
  view.select(ref(2));
  QTest::keyClick(&view, Qt::Key_F);
  EXPECT_LT(length(view.visible()), 300'000);
  QTest::keyClick(&view, Qt::Key_F, Qt::ShiftModifier);
  EXPECT_EQ(view.visible(), all);
}

TEST_F(ViewTest, DragPansAndIsNoClick) {
  view.zoom_to({Time{300'000}, Time{700'000}});
  const Time before = view.visible().start;
  drag({600, 300}, {500, 300});
  EXPECT_GT(view.visible().start, before);
  EXPECT_TRUE(selected.empty());
}

TEST_F(ViewTest, ShiftDragZoomsToTheBox) {
  const QPoint from = at(Time{200'000}, 200), to = at(Time{300'000}, 260);
  drag(from, to, Qt::ShiftModifier);
  EXPECT_NEAR(static_cast<double>(view.visible().start.count()), 200'000, 2'000);
  EXPECT_NEAR(static_cast<double>(view.visible().end.count()), 300'000, 2'000);
}

TEST_F(ViewTest, ControlDragSelectsARangeOfTheRowsItTouches) {
  drag(at(Time{150'000}, middle_of(ref(1)).y()), at(Time{450'000}, middle_of(ref(1)).y()), Qt::ControlModifier);
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(ranges[0]->rows, (std::vector<std::size_t>{1}));
  EXPECT_NEAR(static_cast<double>(length(ranges[0]->span)), 300'000, 3'000);
  QTest::keyClick(&view, Qt::Key_F);
  EXPECT_LT(length(view.visible()), 400'000);
  QTest::keyClick(&view, Qt::Key_Escape);
  EXPECT_EQ(ranges.back(), std::nullopt);
}

TEST_F(ViewTest, TheRulerMeasuresFromEdgeToEdge) {
  QTest::keyClick(&view, Qt::Key_M);
  EXPECT_TRUE(view.measuring());
  const int y = middle_of(ref(1)).y();
  drag(at(Time{100'000}, y) + QPoint(3, 0), at(Time{200'000}, y) - QPoint(3, 0));
  ASSERT_FALSE(measured.empty());
  EXPECT_EQ(measured.back(), (TimeSpan{Time{100'000}, Time{200'000}})) << "the gap, exactly";
  QTest::keyClick(&view, Qt::Key_Escape);
  EXPECT_FALSE(view.measuring());
  EXPECT_EQ(measured.back(), std::nullopt);
}

TEST_F(ViewTest, NamesFoldAndMove) {
  const auto y_of = [&](std::size_t row) {
    const PlacedRow& placed = view.layout_of_rows().rows[row];
    return top_of(view.layout_of_rows(), view.viewport(), placed) + placed.height / 2;
  };
  drag({30, y_of(1)}, {30, y_of(2) + 5});
  EXPECT_EQ(view.scene().rows[1].name, "b");
  EXPECT_EQ(rows_changed, 1);
  QTest::mouseClick(&view, Qt::LeftButton, {}, {30, y_of(0)});
  EXPECT_TRUE(view.scene().rows[0].folded);
  EXPECT_EQ(view.layout_of_rows().rows.size(), 1u);
  EXPECT_EQ(rows_changed, 2);
}

TEST_F(ViewTest, AClickInAFoldedTrackSelectsTheSliceUnderThePointer) {
  view.set_scene(one_stream({{0, 1'000'000, Family::Gemm, "long"},
                             {100'000, 100'000, Family::Memory, "short", 0, 1},
                             {600'000, 100'000, Family::Memory, "later", 0, 2}}));
  const auto row = row_of(view.scene(), ref(1));
  ASSERT_EQ(view.scene().runs[0].lod->track(TrackId{0}).lanes.size(), 3u);
  view.toggle_fold(*row);
  const Box box = *box_of(view.scene(), view.layout_of_rows(), view.viewport(), ref(1));
  const int y = static_cast<int>(box.y + box.height / 2);
  // Of several at the pointer the shortest: the long one has room elsewhere.
  for (const auto& [time, slice] : {std::pair{150'000, 2u}, {650'000, 3u}, {400'000, 1u}}) {
    QTest::mouseClick(&view, Qt::LeftButton, {}, at(Time{time}, y));
    ASSERT_FALSE(selected.empty());
    EXPECT_EQ(selected.back(), ref(slice)) << time;
    // Its outline is where it is drawn.
    EXPECT_EQ(box_of(view.scene(), view.layout_of_rows(), view.viewport(), ref(slice))->y, box.y);
  }
}

TEST_F(ViewTest, RevealUnfoldsAndZoomsToWhatIsTooThin) {
  view.fold_all(true);
  view.reveal(ref(4));
  EXPECT_FALSE(view.scene().rows[0].folded);
  const Box box = *box_of(view.scene(), view.layout_of_rows(), view.viewport(), ref(4));
  EXPECT_GT(box.width, 20);
  EXPECT_GE(box.x, view.layout_of_rows().names);
  EXPECT_LE(box.x + box.width, view.viewport().width);
}

TEST_F(ViewTest, HoverTells) {
  std::vector<std::optional<SliceRef>> hovered;
  QObject::connect(&view, &TimelineView::slice_hovered,
                   [&](std::optional<SliceRef> slice) { hovered.push_back(slice); });
  QTest::mouseMove(&view, middle_of(ref(3)));
  QTest::mouseMove(&view, middle_of(ref(3)) + QPoint(1, 0));
  QTest::mouseMove(&view, {600, 390});
  EXPECT_EQ(hovered, (std::vector<std::optional<SliceRef>>{ref(3), std::nullopt}));
}

TEST_F(ViewTest, ANewSceneKeepsTheView) {
  view.zoom_to({Time{200'000}, Time{300'000}});
  const TimeSpan before = view.visible();
  view.set_scene(view.scene());
  EXPECT_EQ(view.visible(), before);
  view.set_scene(one_stream({{50'000'000, 1'000'000}}));
  EXPECT_GE(view.visible().end, Time{51'000'000}) << "but not where nothing is";
}

TEST_F(ViewTest, NothingToShowIsNoProblem) {
  view.set_scene({});
  view.set_empty_text("Open a run");
  for (const int key : {Qt::Key_W, Qt::Key_A, Qt::Key_F, Qt::Key_M, Qt::Key_BracketLeft}) QTest::keyClick(&view, key);
  wheel({500, 200}, 1);
  QTest::mouseClick(&view, Qt::LeftButton, {}, {500, 200});
  QTest::mouseDClick(&view, Qt::LeftButton, {}, {500, 200});
  EXPECT_FALSE(view.grab().isNull());
  view.set_scene(one_stream({}));
  EXPECT_FALSE(view.grab().isNull());
}

}  // namespace
}  // namespace stave::gui
