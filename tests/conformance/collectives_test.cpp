// Groups, axes and large meshes; launches of several collectives; what hangs.
#include <memory>

#include "tests/conformance/harness.h"

namespace stave::conformance {
namespace {

class Collectives : public EveryMode {};
STAVE_IN_EVERY_MODE(Collectives);

// The members of the group of `rank` in the first collective of a program.
std::vector<Rank> group_of_first(const std::string& mesh, const std::string& attributes, Rank rank) {
  const Program program{"groups", "stave 1\nmesh " + mesh +
                                      "\nfunc @f(%s: in f32[2], %d: out f32[2]) {\n  collective_permute %s -> %d (" +
                                      attributes + ")\n}\n"};
  const Result<Expansion> expansion = expansion_of(program);
  if (!expansion) {
    ADD_FAILURE() << problems_of(program);
    return {};
  }
  const Expanded& expanded = expansion->classes[0];
  for (const Command& command : expanded.commands)
    if (const auto* permute = std::get_if<CollectivePermute>(&command.payload))
      return expanded.group_of(*permute, rank).members;
  ADD_FAILURE() << "no collective";
  return {};
}

using Ranks = std::vector<Rank>;

TEST(CollectiveGroups, a_rank_without_a_pair_stays_in_the_group) {
  for (const Rank rank : {0U, 1U, 2U, 3U})
    EXPECT_EQ(group_of_first("x = 4", "axis = x, pairs = [0 -> 1]", rank), (Ranks{0, 1, 2, 3}));
}

TEST(CollectiveGroups, an_axis_of_two_dimensions) {
  EXPECT_EQ(group_of_first("a = 2, b = 2", "axis = a, shift = 1", 0), (Ranks{0, 2}));
  EXPECT_EQ(group_of_first("a = 2, b = 2", "axis = a, shift = 1", 2), (Ranks{0, 2}));
  EXPECT_EQ(group_of_first("a = 2, b = 2", "axis = a, shift = 1", 3), (Ranks{1, 3}));
  EXPECT_EQ(group_of_first("a = 2, b = 2", "axis = b, shift = 1", 3), (Ranks{2, 3}));
}

TEST(CollectiveGroups, axes_together_are_flattened_in_the_order_written) {
  EXPECT_EQ(group_of_first("a = 2, b = 2", "axis = [a, b], shift = 1", 1), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(group_of_first("a = 2, b = 2", "axis = [b, a], shift = 1", 1), (Ranks{0, 2, 1, 3}));
}

TEST(CollectiveGroups, index_groups) {
  EXPECT_EQ(group_of_first("x = 4", "axis = x, groups = [[0, 1], [2, 3]], shift = 1", 1), (Ranks{0, 1}));
  EXPECT_EQ(group_of_first("x = 4", "axis = x, groups = [[0, 1], [2, 3]], shift = 1", 2), (Ranks{2, 3}));
  EXPECT_EQ(group_of_first("x = 4", "axis = x, groups = [[3, 1], [0, 2]], shift = 1", 1), (Ranks{3, 1}));
}

TEST_P(Collectives, pairs_are_positions_inside_the_group) {
  const Program program{"pairs_in_groups", R"(stave 1
mesh x = 4
func @f(%s: in f32[1], %d: out f32[1]) {
  collective_permute %s -> %d (axis = x, groups = [[0, 1], [3, 2]], pairs = [0 -> 1])
}
)"};
  const Outcome run = run_here(program, {{"s", {1}, 0}, {"s", {2}, 1}, {"s", {3}, 2}, {"s", {4}, 3}});
  EXPECT_EQ(run.of(0, "d"), Numbers{0});
  EXPECT_EQ(run.of(1, "d"), Numbers{1});
  EXPECT_EQ(run.of(2, "d"), Numbers{4});  // position 1 of the group [3, 2]
  EXPECT_EQ(run.of(3, "d"), Numbers{0});
}

TEST_P(Collectives, along_each_axis_of_two) {
  const Program program{"two_axes", R"(stave 1
mesh a = 2, b = 3
func @f(%s: in f32[1], %along_a: out f32[1], %along_b: out f32[1], %all: out f32[1]) {
  all_reduce %s -> %along_a (axis = a, reduction = sum)
  all_reduce %s -> %along_b (axis = b, reduction = max)
  all_reduce %s -> %all (axis = [a, b], reduction = sum)
}
)"};
  std::vector<Input> inputs;
  for (Rank rank = 0; rank < 6; ++rank) inputs.push_back({"s", Numbers{static_cast<double>(rank + 1)}, rank});
  const Outcome run = run_here(program, inputs);
  for (Rank rank = 0; rank < 6; ++rank) {
    const double a = rank / 3;
    const double b = rank % 3;
    EXPECT_EQ(run.of(rank, "along_a"), Numbers{(1 + b) + (4 + b)});
    EXPECT_EQ(run.of(rank, "along_b"), Numbers{3 * a + 3});
    EXPECT_EQ(run.of(rank, "all"), Numbers{21});
  }
}

TEST_P(Collectives, a_large_mesh_needs_no_devices) {
  const Program program{"large_mesh", R"(stave 1
mesh a = 4, b = 4
func @f(%s: in f32[1], %d: out f32[16]) {
  all_gather %s -> %d (axis = [a, b])
  map %d -> %d (f = |v| v + 1.0)
}
)"};
  const Result<Plan> plan = plan_of(program, GetParam());
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->ranks(), 16U);
  EXPECT_EQ(plan->classes.size(), 1U);  // one program for all
  std::vector<Input> inputs;
  Numbers expected;
  for (Rank rank = 0; rank < 16; ++rank) {
    inputs.push_back({"s", Numbers{static_cast<double>(rank * rank)}, rank});
    expected.push_back(static_cast<double>(rank * rank) + 1);
  }
  const Outcome run = run_here(program, inputs);
  for (Rank rank = 0; rank < 16; ++rank) EXPECT_EQ(run.of(rank, "d"), expected);
}

// ---- several collectives in one launch ----

const Program two_permutes{"two_permutes", R"(stave 1
mesh x = 2
func @f(%s0: in f32[2], %s1: in f32[2], %d0: out f32[2], %d1: out f32[2]) {
  collective_group {
    collective_permute %s0 -> %d0 (axis = x, pairs = [0 -> 1, 1 -> 0])
    collective_permute %s1 -> %d1 (axis = x, pairs = [1 -> 0])
  }
}
)"};

TEST_P(Collectives, two_permutes_are_two_commands_of_one_launch) {
  const Outcome run =
      run_here(two_permutes, {{"s0", {1, 2}, 0}, {"s0", {3, 4}, 1}, {"s1", {5, 6}, 0}, {"s1", {7, 8}, 1}});
  EXPECT_EQ(run.of(0, "d0"), (Numbers{3, 4}));
  EXPECT_EQ(run.of(1, "d0"), (Numbers{1, 2}));
  EXPECT_EQ(run.of(0, "d1"), (Numbers{7, 8}));
  EXPECT_EQ(run.of(1, "d1"), (Numbers{0, 0}));
  const Result<Plan> plan = plan_of(two_permutes, Mode::Eager);
  ASSERT_TRUE(plan);
  int launches = 0;
  for (const Action& action : plan->classes[0].program.actions) launches += action.kind == Action::Kind::Launch;
  EXPECT_EQ(launches, 1);
  EXPECT_EQ(plan->classes[0].expanded.commands.size(), 3U);  // the group and its two
}

TEST_P(Collectives, all_to_all_over_one_buffer_a_peer) {
  const Program program{"a_buffer_a_peer", R"(stave 1
mesh x = 3
func @f(%a: in f32[2], %b: in f32[2], %c: in f32[2], %u: out f32[2], %v: out f32[2], %w: out f32[2]) {
  all_to_all %a, %b, %c -> %u, %v, %w (axis = x)
}
)"};
  std::vector<Input> inputs;
  const std::string sources[] = {"a", "b", "c"};
  const std::string targets[] = {"u", "v", "w"};
  const auto value = [](Rank from, Rank to) { return Numbers{100.0 * from + 10.0 * to, 100.0 * from + 10.0 * to + 1}; };
  for (Rank from = 0; from < 3; ++from)
    for (Rank to = 0; to < 3; ++to) inputs.push_back({sources[to], value(from, to), from});
  const Outcome run = run_here(program, inputs);
  for (Rank to = 0; to < 3; ++to)
    for (Rank from = 0; from < 3; ++from) EXPECT_EQ(run.of(to, targets[from]), value(from, to));
}

TEST_P(Collectives, reductions) {
  for (const std::string reduction : {"sum", "prod", "min", "max"}) {
    const Program program{"reductions", R"(stave 1
mesh x = 3
func @f(%s: in s32[3], %d: out s32[3], %shard: out s32[1]) {
  all_reduce %s -> %d (axis = x, reduction = )" +
                                            reduction + R"()
  reduce_scatter %s -> %shard (axis = x, reduction = )" +
                                            reduction + R"()
}
)"};
    const Numbers s[] = {{2, -3, 5}, {7, 4, -1}, {-6, 8, 9}};
    const Outcome run = run_here(program, {{"s", s[0], 0}, {"s", s[1], 1}, {"s", s[2], 2}});
    for (Rank rank = 0; rank < 3; ++rank) {
      Numbers expected = s[0];
      for (int other : {1, 2})
        for (int i = 0; i < 3; ++i) {
          const double b = s[other][i];
          double& v = expected[i];
          if (reduction == "sum") v += b;
          if (reduction == "prod") v *= b;
          if (reduction == "min") v = std::min(v, b);
          if (reduction == "max") v = std::max(v, b);
        }
      EXPECT_EQ(run.of(rank, "d"), expected) << reduction;
      EXPECT_EQ(run.of(rank, "shard"), Numbers{expected[rank]}) << reduction;
    }
  }
}

// ---- what can never end says where it stands ----

// Large: NCCL keeps what is short in buffers of its own, and its send ends before the recv begins.
TEST_P(Collectives, ranks_in_different_order_hang_and_are_named) {
  const Program program{"different_order", R"(stave 1
mesh x = 2
param bytes = 268435456
func @first() {
  %a = scratch u8[bytes]
  %b = scratch u8[bytes]
  send %a (axis = x, peer = 1)
  recv -> %b (axis = x, peer = 1)
}

func @second() {
  %a = scratch u8[bytes]
  %b = scratch u8[bytes]
  send %a (axis = x, peer = 0)
  recv -> %b (axis = x, peer = 0)
}

entry @first on 0
entry @second on 1
)"};
  const Outcome run = conformance::run(program, {.mode = GetParam(), .params = {}, .name_hangs = true}, {});
  EXPECT_TRUE(run.hangs) << run.failed;
  EXPECT_NE(run.failed.find("first/send#1"), std::string::npos) << run.failed;
}

TEST_P(Collectives, a_rank_that_leaves_a_collective_out_hangs_the_others) {
  const Program program{"left_out", R"(stave 1
mesh x = 2
func @f(%p: in bool[], %a: inout f32[2]) {
  cond %p then {
    all_reduce %a -> %a (axis = x, reduction = sum)
  }
}
)"};
  const Outcome both = run_here(program, {{"p", {1}}, {"a", {1, 2}}});
  EXPECT_EQ(both.of(1, "a"), (Numbers{2, 4}));
  const Outcome one = conformance::run(program, {.mode = GetParam(), .params = {}, .name_hangs = true},
                                       {{"p", {1}, 0}, {"p", {0}, 1}, {"a", {1, 2}}});
  EXPECT_TRUE(one.hangs) << one.failed;
  EXPECT_NE(one.failed.find("all_reduce"), std::string::npos) << one.failed;
}

}  // namespace
}  // namespace stave::conformance
