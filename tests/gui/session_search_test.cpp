#include "gui/search.h"

#include <gtest/gtest.h>

#include "gui/panels/tables.h"
#include "tests/gui/gui_support.h"

namespace stave::gui {
namespace {

TEST(Session, FindsProblemsAndTheSlicesOfTheirLines) {
  const TempFolder folder;
  put(folder / "unwritten.stave", R"(stave 1
func @f(%a: in f32[64, 64], %c: out f32[64, 64]) {
  %b = scratch f32[64, 64]
  gemm %a, %b -> %c
}
)");
  Session session;
  open_and_wait(session, {folder / "unwritten.stave"});
  const Problems problems = session.problems();
  ASSERT_FALSE(problems.empty());
  ASSERT_GT(problems[0].place.line, 0u) << to_text(problems[0]);
  session.search(qt("^" + problems[0].code + "$"));
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_GE(session.found_problems(), 1u);
  ASSERT_FALSE(session.marks().empty());
  for (const SliceRef mark : session.marks()) {
    const Timeline& timeline = *session.run(mark.run)->timeline;
    EXPECT_EQ(timeline.command(timeline.slice(mark.slice).command).line, problems[0].place.line);
  }
  EXPECT_GT(problems_table(session).table.rows.at(0).cells.at(1).shade, 0);
  session.search("no such thing");
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.found_problems(), 0u);
  EXPECT_TRUE(session.marks().empty());
}

TEST(Session, FindsKernelsByTheirFullNames) {
  const TempFolder folder;
  Timeline timeline;
  timeline.add(Track{.name = "stream 7"});
  for (int i = 0; i < 3; ++i) {
    const SliceId slice = timeline.add(
        Slice{.start = Time{i * 1'000}, .duration = 500_ps, .track = TrackId{0u}, .name = timeline.intern("kernel")});
    const StringId full = timeline.intern(fmt::format("void kernel<{}>(float*)", i));
    EXPECT_TRUE(timeline.on_kernels(std::vector<KernelDetail>{{.slice = slice, .demangled_name = full}}));
  }
  const RunPtr run = make_run({}, std::move(timeline));
  const Progress progress;
  const auto found = [&](const char* pattern) {
    return search_runs({{run, 0, {}}}, QRegularExpression(pattern), {}, progress);
  };
  EXPECT_EQ(found("kernel<1>"), (std::vector<SliceRef>{{0, SliceId{2}}}));
  EXPECT_EQ(found("^kernel$").size(), 3u);
}

TEST(Session, SlackComesAfterThePicture) {
  Session session;
  open_and_wait(session, {ring_file});
  const RunPtr run = session.chosen_run();
  const std::shared_ptr<const RunStudy> study = session.study(*run);
  ASSERT_NE(study, nullptr);
  for (const PathPart& part : run->report.critical_path)
    if (part.slice && part.kind == PathPart::Kind::Work) {
      EXPECT_EQ(study->slack[part.slice.row()], 0_ps);
    }
  EXPECT_FALSE(study->beside.empty());
  EXPECT_GT(study->meetings.count, 0u);
  // Of the next prediction there is another one, and the first one's is let go of with it.
  session.edit(ParamEdit{"k", "4096"});
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  ASSERT_NE(session.chosen_run(), run);
  EXPECT_NE(session.study(*session.chosen_run()), nullptr);
}

}  // namespace
}  // namespace stave::gui
