#include "gui/table.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include "gui/command_palette.h"
#include "gui/panels/panels.h"
#include "gui/panels/tables.h"
#include "tests/gui/gui_support.h"

namespace stave::gui {
namespace {

Table durations() {
  Table table;
  table.headers = {"Name", "Time"};
  for (const std::int64_t us : {9, 10, 2}) {
    TableRow row;
    row.cells = {{QString("slice, \"%1\"").arg(us), {}, {}, 0, false}, time_cell(Picoseconds{us * 1'000'000})};
    row.slice = SliceRef{0, SliceId{static_cast<std::uint32_t>(us)}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

TEST(Table, IsAProperModel) {
  TableModel model;
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_table(durations());
  EXPECT_EQ(model.rowCount(), 3);
  EXPECT_EQ(model.index(1, 1).data().toString(), "10.000 us");
  model.set_table({});
  EXPECT_EQ(model.rowCount(), 0);
  // A row may have fewer cells than there are columns.
  Table ragged = durations();
  ragged.rows[0].cells.pop_back();
  model.set_table(std::move(ragged));
  EXPECT_FALSE(model.index(0, 1).data().isValid());
}

TEST(Table, SortsByWhatIsMeantCopiesAndWritesCsv) {
  TableView view;
  view.set_table(durations());
  EXPECT_EQ(
      view.csv(),
      "Name,Time\n\"slice, \"\"9\"\"\",9.000 us\n\"slice, \"\"10\"\"\",10.000 us\n\"slice, \"\"2\"\"\",2.000 us\n");
  // By duration, not by letters.
  view.sortByColumn(1, Qt::AscendingOrder);
  EXPECT_EQ(view.selected_text(), "slice, \"2\"\t2.000 us\nslice, \"9\"\t9.000 us\nslice, \"10\"\t10.000 us");
  view.setCurrentIndex(view.model()->index(1, 0));
  EXPECT_EQ(view.selected_text(), "slice, \"9\"\t9.000 us");
}

TEST(Table, LeadsToASlice) {
  TableView view;
  view.set_table(durations());
  view.resize(400, 200);
  view.show();
  std::vector<SliceRef> chosen;
  QObject::connect(&view, &TableView::slice_chosen, &view, [&](SliceRef slice) { chosen.push_back(slice); });
  view.sortByColumn(1, Qt::DescendingOrder);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(view.model()->index(0, 0)).center());
  QTest::keyClick(&view, Qt::Key_Down);
  QTest::keyClick(&view, Qt::Key_Return);
  EXPECT_EQ(chosen, (std::vector<SliceRef>{{0, SliceId{10}}, {0, SliceId{9}}}));
}

// Empty, with a run, and with two.
TEST(Panels, AreProperModelsAndSayWhatToDo) {
  const TempFolder folder;
  Session session;
  std::vector<std::unique_ptr<QWidget>> widgets;
  std::vector<std::unique_ptr<QAbstractItemModelTester>> testers;
  for (const Panel& panel : panels()) {
    widgets.emplace_back(panel.create(session, nullptr));
    if (const auto* table = widgets.back()->findChild<TableView*>())
      testers.push_back(std::make_unique<QAbstractItemModelTester>(
          table->model(), QAbstractItemModelTester::FailureReportingMode::Fatal));
    widgets.back()->show();
  }
  EXPECT_GE(testers.size(), 6u);
  for (const auto& fill : {overview_table, details_of, statistics_table, difference_table, collectives_table,
                           critical_path_table, problems_table}) {
    const TablePanel::Content content = fill(session);
    EXPECT_TRUE(content.table.rows.empty());
    EXPECT_FALSE(content.empty.isEmpty());
  }
  open_and_wait(session, {stored_ring(folder, "eager.sqlite"), ring_file});
  session.select(slice_named(session, "collective_permute"));
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  for (const auto& fill : {overview_table, details_of, statistics_table, collectives_table, critical_path_table}) {
    const TablePanel::Content content = fill(session);
    EXPECT_FALSE(content.table.rows.empty());
    for (const TableRow& row : content.table.rows)
      EXPECT_EQ(row.cells.size(), static_cast<std::size_t>(content.table.headers.size()));
  }
  while (!session.runs().empty()) session.close_run(0);
}

TEST(Collectives, TellWhoIsLateAndWhy) {
  const TempFolder folder;
  // Rank 1 multiplies first: it comes late to the reduction.
  put(folder / "late.stave", R"(stave 1
mesh x = 2
func @f(%a: in bf16[4096, 4096], %b: out bf16[4096, 4096], %c: out bf16[4096, 4096]) {
  gemm %a, %a -> %b
  all_reduce %b -> %c (axis = x, reduction = sum)
}
func @g(%a: in bf16[4096, 4096], %b: out bf16[4096, 4096], %c: out bf16[4096, 4096]) {
  gemm %a, %a -> %b
  gemm %a, %a -> %b
  all_reduce %b -> %c (axis = x, reduction = sum)
}
entry @f on 0
entry @g on 1
)");
  Session session;
  open_and_wait(session, {folder / "late.stave"});
  ASSERT_FALSE(session.runs().empty()) << to_text(session.problems().at(0));
  const TablePanel::Content content = collectives_table(session);
  ASSERT_EQ(content.table.rows.size(), 1u);
  EXPECT_TRUE(content.summary.contains("Rank 1")) << content.summary.toStdString();
  EXPECT_TRUE(content.summary.contains("compute")) << content.summary.toStdString();
}

TEST(CommandPalette, FindsByLettersInOrder) {
  EXPECT_GT(fit_of("zoom", "Zoom in"), fit_of("zoom", "Do not zoom"));
  EXPECT_GT(fit_of("crit", "Critical path"), 0);
  EXPECT_GE(fit_of("cpath", "Critical path"), 0);
  EXPECT_LT(fit_of("xyz", "Critical path"), 0);
}

}  // namespace
}  // namespace stave::gui
