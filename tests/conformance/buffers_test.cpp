// Views, scratch, constants, memset patterns, steps: what a program does to memory.
#include "tests/conformance/harness.h"

namespace stave::conformance {
namespace {

class Buffers : public EveryMode {};
STAVE_IN_EVERY_MODE(Buffers);

// The byte offsets of all results of memzero in order.
std::vector<std::int64_t> zeroed_offsets(const std::string& type, const std::string& body) {
  const Program program{"views", "stave 1\nfunc @f(%x: out " + type + ") {\n" + body + "}\n"};
  const Result<Expansion> expansion = expansion_of(program);
  if (!expansion) {
    ADD_FAILURE() << problems_of(program);
    return {};
  }
  const Expanded& expanded = expansion->classes[0];
  std::vector<std::int64_t> offsets;
  for (const Command& command : expanded.commands)
    for (const ViewId view : command.results) offsets.push_back(expanded.at(expanded[view].offset, 0));
  return offsets;
}
using Offsets = std::vector<std::int64_t>;

TEST(Views, are_byte_ranges_of_their_buffer) {
  EXPECT_EQ(zeroed_offsets("f32[4, 8]", "  memzero -> %x[0]\n  memzero -> %x[2]\n"), (Offsets{0, 64}));
  EXPECT_EQ(zeroed_offsets("f32[4, 8]", "  memzero -> %x[:2]\n  memzero -> %x[4 - 2:]\n"), (Offsets{0, 64}));
  EXPECT_EQ(zeroed_offsets("f32[4, 8]", "  memzero -> %x[1][3]\n  memzero -> %x[1, 3:5]\n"), (Offsets{44, 44}));
  EXPECT_EQ(zeroed_offsets("bf16[2, 3, 4]", "  memzero -> %x[1][1:]\n"), (Offsets{2 * (12 + 4)}));
}

TEST(Views, of_views_add_their_offsets) {
  EXPECT_EQ(zeroed_offsets("f32[16]", "  %v = view %x[4:12]\n  %w = view %v[2:6]\n  memzero -> %w[1:]\n"),
            (Offsets{28}));
  EXPECT_EQ(zeroed_offsets("f32[16]", "  %v = view %x[4:] as f32[3, 4]\n  memzero -> %v[2]\n"), (Offsets{48}));
}

TEST(Views, of_four_bits_count_two_elements_a_byte) {
  EXPECT_EQ(zeroed_offsets("s4[16]", "  memzero -> %x[8:16]\n"), (Offsets{4}));
  const Result<Expansion> expansion = expansion_of({"s4", "stave 1\nfunc @f(%x: out s4[16]) {\n  memzero -> %x\n}\n"});
  ASSERT_TRUE(expansion);
  EXPECT_EQ(expansion->classes[0].buffers[BufferId{0}].bytes, 8);
}

TEST_P(Buffers, a_view_of_four_bits_leaves_its_neighbours) {
  const Program program{"four_bits", R"(stave 1
func @f(%x: in s4[8], %y: inout s4[16]) {
  copy %x -> %y[4:12]
}
)"};
  const Numbers x{1, -2, 3, -4, 5, -6, 7, -8};
  const Numbers y{0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1};
  EXPECT_EQ(run_here(program, {{"x", x}, {"y", y}})["y"], joined(joined(part(y, 0, 4), x), part(y, 12, 4)));
}

TEST_P(Buffers, writing_a_view_changes_nothing_else) {
  const Program program{"write_a_view", R"(stave 1
func @f(%x: in f32[8], %y: inout f32[4, 8]) {
  copy %x -> %y[2]
  memzero -> %y[0, 6:]
  map %y[3] -> %y[3] (f = |v| -v)
}
)"};
  const Numbers x = random_numbers(1, 8);
  Numbers y = random_numbers(2, 32);
  const Outcome run = run_here(program, {{"x", x}, {"y", y}});
  for (std::size_t i = 0; i < 8; ++i) {
    y[16 + i] = x[i];
    if (i >= 6) y[i] = 0;
    y[24 + i] = -y[24 + i];
  }
  EXPECT_EQ(run["y"], y);
}

TEST_P(Buffers, memset_writes_the_32_bits_of_its_value) {
  const Program program{"patterns", R"(stave 1
func @f(%a: out f32[2], %b: out s32[2], %bits: out u32[2]) {
  memset -> %a (value = f32 3.0)
  memset -> %b (value = s32(-5))
  copy %a as u32[2] -> %bits
}
)"};
  const Outcome run = run_here(program);
  EXPECT_EQ(run["a"], (Numbers{3, 3}));
  EXPECT_EQ(run["b"], (Numbers{-5, -5}));
  EXPECT_EQ(run["bits"], (Numbers{1077936128, 1077936128}));
}

TEST_P(Buffers, memset_on_a_view_of_other_elements) {
  const Program program{"pattern_view", R"(stave 1
func @f(%x: inout u8[12]) {
  memset -> %x[4:8] as u32[1] (value = u32 0x04030201)
}
)"};
  EXPECT_EQ(run_here(program, {{"x", Numbers(12, 9)}})["x"], (Numbers{9, 9, 9, 9, 1, 2, 3, 4, 9, 9, 9, 9}));
}

TEST_P(Buffers, each_call_in_the_text_has_its_own_scratch) {
  // Two calls of @hold run at the same time: one scratch for both would mix them.
  const Program program{"scratch_of_calls", R"(stave 1
func @hold(%x: in f32[2], %y: out f32[2]) {
  %s = scratch f32[2]
  copy %x -> %s
  map %s -> %y (f = |v| v + 1.0)
}

func @twice(%a: in f32[2], %b: in f32[2], %y: out f32[2], %z: out f32[2]) {
  %t = async_start (stream = computation 0) {
    call @hold %a, %y
  }
  call @hold %b, %z
  async_done %t
}

func @f(%a: in f32[2], %b: in f32[2], %y: out f32[2, 2], %z: out f32[2, 2]) {
  call @twice %a, %b, %y[0], %z[0]
  call @twice %b, %a, %y[1], %z[1]
}

entry @f
)"};
  for (std::uint64_t seed = 0; seed <= 10; ++seed) {
    const Outcome run = conformance::run(program, {.mode = GetParam(), .seed = seed}, {{"a", {1, 2}}, {"b", {10, 20}}});
    EXPECT_EQ(run["y"], (Numbers{2, 3, 11, 21}));
    EXPECT_EQ(run["z"], (Numbers{11, 21, 2, 3}));
  }
  const Result<Expansion> expansion = expansion_of(program);
  ASSERT_TRUE(expansion);
  int scratch = 0;
  for (const Buffer& buffer : expansion->classes[0].buffers) scratch += buffer.kind == Buffer::Kind::Scratch;
  EXPECT_EQ(scratch, 4);
}

TEST_P(Buffers, scratch_is_shared_by_iterations) {
  const Program program{"scratch_in_a_loop", R"(stave 1
func @f(%x: in f32[3, 2], %y: out f32[2]) {
  %sum = scratch f32[2]
  memzero -> %sum
  repeat (index = i, to = 3) {
    map %sum, %x[i] -> %sum (f = |s, v| s + v)
  }
  copy %sum -> %y
}
)"};
  EXPECT_EQ(run_here(program, {{"x", {1, 2, 3, 4, 5, 6}}})["y"], (Numbers{9, 12}));
  const Result<Expansion> expansion = expansion_of(program);
  ASSERT_TRUE(expansion);
  EXPECT_EQ(expansion->classes[0].buffers.size(), 3U);
}

TEST_P(Buffers, constants) {
  const Program program{"constants", R"(stave 1
func @f(%x: in f32[3], %y: out f32[3], %z: out s32[2]) {
  %table = constant f32[3] (value = [10.0, 20.0, 30.0])
  %two = constant f32[] (value = 2.0)
  %all = constant s32[2] (value = -7)
  map %x, %table, %two -> %y (f = |v, t, k| v * k + t)
  copy %all -> %z
}
)"};
  const Outcome run = run_here(program, {{"x", {1, 2, 3}}});
  EXPECT_EQ(run["y"], (Numbers{12, 24, 36}));
  EXPECT_EQ(run["z"], (Numbers{-7, -7}));
}

TEST(Constants, stand_only_at_the_commands_that_use_them) {
  const Program program{"constant_operands", R"(stave 1
func @f(%x: inout f32[2]) {
  %c = constant f32[2] (value = [1.0, 2.0])
  map %x -> %x (f = |v| v * 2.0)
  map %x, %c -> %x (f = |v, c| v + c)
}
)"};
  const Result<Expansion> expansion = expansion_of(program);
  ASSERT_TRUE(expansion) << problems_of(program);
  const Expanded& expanded = expansion->classes[0];
  ASSERT_EQ(expanded.commands.size(), 2U);
  EXPECT_EQ(expanded.commands[CommandId{0}].operands.size(), 1U);
  EXPECT_EQ(expanded.commands[CommandId{1}].operands.size(), 2U);
}

TEST_P(Buffers, a_table_is_looked_up_by_views) {
  const Program program{"lookup", R"(stave 1
func @f(%y: out s32[5]) {
  %table = constant s32[5] (value = [7, 11, 13, 17, 19])
  repeat (index = i, to = 5) {
    copy %table[(3 * i + 1) mod 5 : +1] -> %y[i : +1]
  }
}
)"};
  EXPECT_EQ(run_here(program)["y"], (Numbers{11, 19, 13, 7, 17}));
}

TEST_P(Buffers, two_views_of_one_buffer_accumulate) {
  const Program program{"accumulate", R"(stave 1
func @add(%v: in f32[4], %sum: inout f32[4]) {
  map %sum, %v -> %sum (f = |s, v| s + v)
}

func @f(%x: in f32[2, 4], %sum: inout f32[2, 4]) {
  call @add %x[0], %sum[0]
  call @add %x[1], %sum[0]
  call @add %x[1], %sum[1]
}

entry @f
)"};
  const Numbers x{1, 2, 3, 4, 10, 20, 30, 40};
  EXPECT_EQ(run_here(program, {{"x", x}, {"sum", Numbers(8, 100)}})["sum"],
            (Numbers{111, 122, 133, 144, 110, 120, 130, 140}));
}

TEST_P(Buffers, a_program_may_only_read) {
  const Program program{"read_only", R"(stave 1
func @f(%x: in f32[4]) {
  %s = scratch f32[4]
  map %x -> %s (f = |v| v + 1.0)
}
)"};
  const Outcome run = run_here(program, {{"x", {1, 2, 3, 4}}});
  EXPECT_EQ(run["x"], (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(run.count(0, "f/map#1"), 1);
}

TEST_P(Buffers, a_program_may_do_nothing) {
  EXPECT_EQ(run_here({"empty", "stave 1\nfunc @f(%x: inout f32[2]) {\n}\n"}, {{"x", {1, 2}}})["x"], (Numbers{1, 2}));
}

TEST_P(Buffers, a_prepared_plan_runs_again_and_keeps_its_parameters) {
  const Program program{"steps", R"(stave 1
func @f(%x: inout f32[2], %n: inout s32[]) {
  map %x -> %x (f = |v| v * 2.0)
  map %n -> %n (f = |v| v + 1)
}
)"};
  const Outcome run = conformance::run(program, {.mode = GetParam(), .steps = 5}, {{"x", {1, 3}}, {"n", {0}}});
  EXPECT_EQ(run["x"], (Numbers{32, 96}));
  EXPECT_EQ(run["n"], Numbers{5});
  EXPECT_EQ(run.count(0, "f/map#1"), 1);  // of the last step
}

TEST_P(Buffers, host_memory) {
  const Program program{"host", R"(stave 1
func @f(%x: in host f32[4], %y: out host f32[4]) {
  %d = scratch f32[4]
  %h = scratch host f32[4]
  copy %x -> %d
  map %d -> %d (f = |v| v + 1.0)
  copy %d -> %h
  copy %h -> %d
  map %d -> %d (f = |v| v * 2.0)
  copy %d -> %y
}
)"};
  EXPECT_EQ(run_here(program, {{"x", {1, 2, 3, 4}}})["y"], (Numbers{4, 6, 8, 10}));
}

}  // namespace
}  // namespace stave::conformance
