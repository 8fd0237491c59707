// Branches and loops in device memory, nested in each other, in calls and in async bodies.
#include "tests/conformance/harness.h"

namespace stave::conformance {
namespace {

class ControlFlow : public EveryMode {};
STAVE_IN_EVERY_MODE(ControlFlow);

Numbers one(double v) { return {v}; }

const Program three_iterations{"three_iterations", R"(stave 1
func @f(%left: inout s32[], %sum: inout f32[4]) {
  %more = scratch bool[]
  while %more (cost = {trips = 3}) condition {
    map %left -> %more (f = |n| n > 0)
  } body {
    map %sum -> %sum (f = |v| v + 2.0)
    map %left -> %left (f = |n| n - 1)
  }
}
)"};

TEST_P(ControlFlow, while_runs_while_its_predicate_holds) {
  const Outcome run = run_here(three_iterations, {{"left", one(3)}, {"sum", {1, 2, 3, 4}}});
  EXPECT_EQ(run["sum"], (Numbers{7, 8, 9, 10}));
  EXPECT_EQ(run.count(0, "f/map#1"), 4);  // the condition runs once more than the body
  EXPECT_EQ(run.count(0, "f/map#2"), 3);
}

TEST_P(ControlFlow, while_may_run_its_body_never) {
  const Outcome run = run_here(three_iterations, {{"left", one(0)}, {"sum", {1, 2, 3, 4}}});
  EXPECT_EQ(run["sum"], (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(run.count(0, "f/map#1"), 1);
  EXPECT_EQ(run.count(0, "f/map#2"), 0);
}

const Program branches{"branches", R"(stave 1
func @f(%p: in bool[], %q: in bool[], %x: inout f32[4]) {
  cond %p then {
    cond %q then {
      map %x -> %x (f = |v| v + 1.0)
    } else {
      map %x -> %x (f = |v| v + 2.0)
    }
  } else {
    cond %q then {
      map %x -> %x (f = |v| v + 3.0)
    } else {
      map %x -> %x (f = |v| v + 4.0)
    }
  }
}
)"};

TEST_P(ControlFlow, cond_in_cond) {
  for (const int p : {0, 1})
    for (const int q : {0, 1}) {
      const Outcome run = run_here(branches, {{"p", one(p)}, {"q", one(q)}, {"x", {0, 10, 20, 30}}});
      const double added = p ? (q ? 1 : 2) : (q ? 3 : 4);
      EXPECT_EQ(run["x"], each({0, 10, 20, 30}, [&](double v) { return v + added; })) << p << q;
      for (int branch = 1; branch <= 4; ++branch)
        EXPECT_EQ(run.count(0, "f/map#" + std::to_string(branch)), branch == static_cast<int>(added));
    }
}

TEST_P(ControlFlow, one_way_cond) {
  const Program program{"one_way", R"(stave 1
func @f(%p: in bool[], %x: inout s32[]) {
  cond %p then {
    memset -> %x (value = s32 7)
  }
}
)"};
  EXPECT_EQ(run_here(program, {{"p", one(1)}, {"x", one(1)}})["x"], one(7));
  EXPECT_EQ(run_here(program, {{"p", one(0)}, {"x", one(1)}})["x"], one(1));
}

TEST_P(ControlFlow, while_in_while) {
  const Program program{"while_in_while", R"(stave 1
func @f(%outer: inout s32[], %sum: inout s32[]) {
  %more = scratch bool[]
  %inner = scratch s32[]
  %inner_more = scratch bool[]
  while %more (cost = {trips = 2}) condition {
    map %outer -> %more (f = |n| n > 0)
  } body {
    memset -> %inner (value = s32 3)
    while %inner_more (cost = {trips = 3}) condition {
      map %inner -> %inner_more (f = |n| n > 0)
    } body {
      map %sum -> %sum (f = |v| v + 3)
      map %inner -> %inner (f = |n| n - 1)
    }
    map %outer -> %outer (f = |n| n - 1)
  }
}
)"};
  const Outcome run = run_here(program, {{"outer", one(2)}, {"sum", one(0)}});
  EXPECT_EQ(run["sum"], one(18));           // 2 x 3 times 3
  EXPECT_EQ(run.count(0, "f/while#2"), 8);  // each condition that was decided: 2 x (3 + 1)
  EXPECT_EQ(run.count(0, "f/map#3"), 6);
}

TEST_P(ControlFlow, cond_in_while) {
  // Adds x + 5 in even rounds, x + 4 in odd ones: 4 x + 18 after four rounds from 0.
  const Program program{"cond_in_while", R"(stave 1
func @f(%x: in s32[], %sum: out s32[]) {
  %round = scratch s32[]
  %more = scratch bool[]
  %even = scratch bool[]
  memzero -> %sum
  memzero -> %round
  while %more (cost = {trips = 4}) condition {
    map %round -> %more (f = |n| n < 4)
  } body {
    map %round -> %even (f = |n| n mod 2 == 0)
    cond %even (cost = {taken = 0}) then {
      map %sum, %x -> %sum (f = |s, x| s + x + 5)
    } else {
      map %sum, %x -> %sum (f = |s, x| s + x + 4)
    }
    map %round -> %round (f = |n| n + 1)
  }
}
)"};
  for (const double x : {0.0, 3.0, -11.0}) EXPECT_EQ(run_here(program, {{"x", one(x)}})["sum"], one(4 * x + 18));
}

const Program while_in_cond{"while_in_cond", R"(stave 1
func @grow(%x: inout s32[]) {
  %left = scratch s32[]
  %more = scratch bool[]
  memset -> %left (value = s32 2)
  while %more (cost = {trips = 2}) condition {
    map %left -> %more (f = |n| n > 0)
  } body {
    map %x -> %x (f = |v| 2 * (v + 10))
    map %left -> %left (f = |n| n - 1)
  }
}

func @shrink(%x: inout s32[]) {
  %left = scratch s32[]
  %more = scratch bool[]
  memset -> %left (value = s32 3)
  while %more (cost = {trips = 3}) condition {
    map %left -> %more (f = |n| n > 0)
  } body {
    map %x -> %x (f = |v| v - 5)
    map %left -> %left (f = |n| n - 1)
  }
}

func @f(%p: in bool[], %x: inout s32[]) {
  cond %p (cost = {taken = 0}) then {
    call @grow %x
  } else {
    call @shrink %x
  }
}

entry @f
)"};

TEST_P(ControlFlow, while_in_cond_through_calls) {
  // Twice 2 (v + 10) is 4 v + 60; three times v - 5 is v - 15.
  for (const double x : {0.0, 1.0, -7.0}) {
    EXPECT_EQ(run_here(while_in_cond, {{"p", one(1)}, {"x", one(x)}})["x"], one(4 * x + 60));
    EXPECT_EQ(run_here(while_in_cond, {{"p", one(0)}, {"x", one(x)}})["x"], one(x - 15));
  }
}

TEST_P(ControlFlow, switch_of_three) {
  const Program program{"switch_of_three", R"(stave 1
func @f(%i: in s32[], %x: inout f32[2]) {
  switch %i branch {
    map %x -> %x (f = |v| v + 1.0)
  } branch {
    map %x -> %x (f = |v| v * 2.0)
  } branch {
    map %x -> %x (f = |v| -v)
  }
}
)"};
  const Numbers x{3, 5};
  const auto choose = [&](double i) { return run_here(program, {{"i", one(i)}, {"x", x}})["x"]; };
  EXPECT_EQ(choose(0), (Numbers{4, 6}));
  EXPECT_EQ(choose(1), (Numbers{6, 10}));
  EXPECT_EQ(choose(2), (Numbers{-3, -5}));
}

TEST_P(ControlFlow, switch_out_of_range_runs_the_last_branch) {
  // More branches than the eight that one conditional kernel of XLA serves.
  std::string text = "stave 1\nfunc @f(%i: in s32[], %x: inout s32[]) {\n  switch %i";
  for (int i = 0; i < 11; ++i) text += " branch {\n    memset -> %x (value = s32 " + std::to_string(100 + i) + ")\n  }";
  text += "\n}\n";
  for (const int i : {0, 7, 8, 10, 11, 12, 2147483647, -1, -2147483647}) {
    const Outcome run = run_here({"eleven_branches", text}, {{"i", one(i)}, {"x", one(0)}});
    EXPECT_EQ(run["x"], one(i >= 0 && i < 11 ? 100 + i : 110)) << i;
  }
}

TEST_P(ControlFlow, switch_of_one_branch_always_runs_it) {
  const Program program{"one_branch", R"(stave 1
func @f(%i: in s32[], %x: inout s32[]) {
  switch %i branch {
    map %x -> %x (f = |v| v + 1)
  }
}
)"};
  for (const double i : {0.0, 5.0, -5.0}) EXPECT_EQ(run_here(program, {{"i", one(i)}, {"x", one(1)}})["x"], one(2));
}

TEST_P(ControlFlow, calls_in_branches_loops_and_streams) {
  // x + 3 twice on each half: in a branch, then in a loop, then on another stream.
  const Program program{"calls_everywhere", R"(stave 1
func @add(%amount: in f32[], %x: inout f32[2]) {
  %held = scratch f32[2]
  copy %x -> %held
  map %held, %amount -> %x (f = |v, a| v + a)
}

func @add_to_both(%amount: in f32[], %x: inout f32[4]) {
  call @add %amount, %x[:2]
  call @add %amount, %x[2:]
}

func @f(%p: in bool[], %left: inout s32[], %x: inout f32[4], %y: inout f32[4]) {
  %three = constant f32[] (value = 3.0)
  %more = scratch bool[]
  cond %p then {
    call @add_to_both %three, %x
  }
  while %more (cost = {trips = 2}) condition {
    map %left -> %more (f = |n| n > 0)
  } body {
    call @add_to_both %three, %x
    map %left -> %left (f = |n| n - 1)
  }
  %t = async_start (stream = computation 1) {
    call @add_to_both %three, %y
  }
  call @add_to_both %three, %x
  async_done %t
}

entry @f
)"};
  const Outcome run = run_here(program, {{"p", one(1)}, {"left", one(2)}, {"x", {0, 1, 2, 3}}, {"y", {5, 6, 7, 8}}});
  EXPECT_EQ(run["x"], (Numbers{12, 13, 14, 15}));
  EXPECT_EQ(run["y"], (Numbers{8, 9, 10, 11}));
}

TEST(ControlFlowCost, trips_and_taken_are_for_prediction_only) {
  const Program wrong_cost = with(three_iterations, "trips = 3", "trips = 1000");
  EXPECT_EQ(run(wrong_cost, {}, {{"left", one(2)}, {"sum", {0, 0, 0, 0}}})["sum"], (Numbers{4, 4, 4, 4}));
}

}  // namespace
}  // namespace stave::conformance
