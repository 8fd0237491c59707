#include <gtest/gtest.h>

#include "tests/gui/gui_support.h"

namespace stave::gui {
namespace {

constexpr const char* small_schedule = R"(stave 1
mesh x = 2
func @f(%a: in f32[4], %b: out f32[4]) {
  all_reduce %a -> %b (axis = x, reduction = sum)
}
)";

TEST(Session, RunsOnTheCpu) {
  const TempFolder folder;
  put(folder / "small.stave", small_schedule);
  Session session;
  Told told(session);
  open_and_wait(session, {folder / "small.stave"});
  session.execute();
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  ASSERT_TRUE(told.problems.empty()) << to_text(told.problems[0]);
  EXPECT_TRUE(session.output().contains("b")) << session.output().toStdString();
}

TEST(Session, RunsOnGpusOrSaysWhyNot) {
  const TempFolder folder;
  put(folder / "small.stave", small_schedule);
  Session session;
  Told told(session);
  open_and_wait(session, {folder / "small.stave"});
  session.execute_on_gpus();
  ASSERT_TRUE(wait_until_idle(session, 300'000));
  // With GPUs there is a run, without them a reason, and what to do.
  EXPECT_NE(session.runs().size() == 2, !told.problems.empty());
  if (told.problems.empty()) return;
  EXPECT_FALSE(told.problems[0].message.empty());
  EXPECT_TRUE(session.output().contains("see the problems")) << session.output().toStdString();
  // All else goes on.
  session.execute();
  ASSERT_TRUE(wait_until_idle(session, 300'000));
  EXPECT_TRUE(session.output().contains("b")) << session.output().toStdString();
}

}  // namespace
}  // namespace stave::gui
