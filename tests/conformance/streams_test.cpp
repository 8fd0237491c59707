// Work on several streams: in the open, in loops and in branches, in any order that the
// rules allow; the three modes give the same numbers.
#include "tests/conformance/harness.h"

namespace stave::conformance {
namespace {

class Streams : public EveryMode {};
STAVE_IN_EVERY_MODE(Streams);

const Program two_streams{"two_streams", R"(stave 1
func @f(%x: in f32[4], %y: out f32[4], %z: out f32[4], %total: out f32[4]) {
  %left = async_start (stream = computation 0) {
    map %x -> %y (f = |v| v + 1.0)
  }
  %right = async_start (stream = computation 1) {
    map %x -> %z (f = |v| v * 2.0)
  }
  async_done %left
  async_done %right
  map %y, %z -> %total (f = |a, b| a + b)
}
)"};

TEST_P(Streams, two_pieces_of_work_and_their_join) {
  const Outcome run = run_here(two_streams, {{"x", {1, 2, 3, 4}}});
  EXPECT_EQ(run["y"], (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(run["z"], (Numbers{2, 4, 6, 8}));
  EXPECT_EQ(run["total"], (Numbers{4, 7, 10, 13}));
}

// Each stream i adds i + 1 to its own part; then the parts are summed around a chain of
// streams: each waits for the one before.
const Program six_streams{"six_streams", R"(stave 1
func @f(%x: in f32[6, 4], %sum: out f32[4]) {
  %work = scratch f32[6, 4]
  memzero -> %sum
  repeat (index = i, to = 6) {
    %made[i] = async_start (stream = computation(i)) {
      map %x[i] -> %work[i] (f = |v| v + 1.0)
      repeat (index = again, to = i) {
        map %work[i] -> %work[i] (f = |v| v + 1.0)
      }
    }
  }
  %chain[0] = async_start (stream = computation 0) {
    map %sum, %work[0] -> %sum (f = |s, v| s + v)
  }
  repeat (index = i, from = 1, to = 6) {
    %chain[i] = async_start (stream = computation(i)) {
      async_done %chain[i - 1]
      map %sum, %work[i] -> %sum (f = |s, v| s + v)
    }
  }
  repeat (index = i, to = 6) {
    async_done %made[i]
  }
  async_done %chain[5]
}
)"};

TEST_P(Streams, six_streams_in_every_order) {
  Numbers x(24);
  Numbers expected(4);
  for (std::size_t i = 0; i < 24; ++i) {
    x[i] = static_cast<double>(i * i);
    expected[i % 4] += x[i] + static_cast<double>(i / 4) + 1;
  }
  for (std::uint64_t seed = 0; seed <= 40; ++seed) {
    const Outcome run = conformance::run(six_streams, {.mode = GetParam(), .seed = seed}, {{"x", x}});
    ASSERT_EQ(run["sum"], expected) << seed;
  }
}

const Program streams_in_a_loop{"streams_in_a_loop", R"(stave 1
func @f(%left: inout s32[], %x: inout f32[4], %y: inout f32[4]) {
  %more = scratch bool[]
  while %more (cost = {trips = 3}) condition {
    map %left -> %more (f = |n| n > 0)
  } body {
    %a = async_start (stream = computation 0) {
      map %x -> %x (f = |v| v + 1.0)
    }
    %b = async_start (stream = computation 1) {
      map %y -> %y (f = |v| v * 2.0)
    }
    map %left -> %left (f = |n| n - 1)
    async_done %a
    async_done %b
    map %x, %y -> %x (f = |u, v| u + v)
  }
}
)"};

TEST_P(Streams, async_in_a_loop) {
  Numbers x{0, 1, 2, 3};
  Numbers y{1, 1, 2, 5};
  const Outcome run = run_here(streams_in_a_loop, {{"left", {3}}, {"x", x}, {"y", y}});
  for (int round = 0; round < 3; ++round) {
    y = each(y, [](double v) { return v * 2; });
    x = sum(each(x, [](double v) { return v + 1; }), y);
  }
  EXPECT_EQ(run["x"], x);
  EXPECT_EQ(run["y"], y);
  EXPECT_EQ(run.count(0, "f/map#2"), 3);
}

const Program streams_in_a_branch{"streams_in_a_branch", R"(stave 1
func @f(%p: in bool[], %i: in s32[], %x: inout f32[4], %y: inout f32[4]) {
  cond %p then {
    %a = async_start (stream = computation 0) {
      map %x -> %x (f = |v| v + 1.0)
    }
    map %y -> %y (f = |v| v + 10.0)
    async_done %a
  } else {
    %b = async_start (stream = computation 0) {
      map %y -> %y (f = |v| v * 3.0)
    }
    async_done %b
  }
  switch %i branch {
    memzero -> %x
  } branch {
    %c = async_start (stream = computation 1) {
      map %x -> %x (f = |v| v - 100.0)
    }
    async_done %c
    map %x, %y -> %y (f = |u, v| u + v)
  }
}
)"};

TEST_P(Streams, async_in_a_branch) {
  const Numbers x{0, 1, 2, 3};
  const Numbers y{10, 10, 20, 50};
  for (const int p : {0, 1})
    for (const int i : {0, 1}) {
      const Outcome run =
          run_here(streams_in_a_branch, {{"p", Numbers{double(p)}}, {"i", Numbers{double(i)}}, {"x", x}, {"y", y}});
      Numbers want_x = p ? each(x, [](double v) { return v + 1; }) : x;
      Numbers want_y = each(y, [&](double v) { return p ? v + 10 : v * 3; });
      want_x = each(want_x, [&](double v) { return i ? v - 100 : 0; });
      if (i) want_y = sum(want_x, want_y);
      EXPECT_EQ(run["x"], want_x) << p << i;
      EXPECT_EQ(run["y"], want_y) << p << i;
    }
}

TEST_P(Streams, control_flow_in_an_async_body) {
  const Program program{"control_flow_in_an_async_body", R"(stave 1
func @f(%left: inout s32[], %x: inout f32[4], %y: inout f32[4]) {
  %more = scratch bool[]
  %t = async_start (stream = computation 0) {
    while %more (cost = {trips = 4}) condition {
      map %left -> %more (f = |n| n > 0)
    } body {
      map %x -> %x (f = |v| v * 2.0)
      map %left -> %left (f = |n| n - 1)
    }
  }
  map %y -> %y (f = |v| v + 1.0)
  async_done %t
  map %x, %y -> %y (f = |u, v| u + v)
}
)"};
  const Outcome run = run_here(program, {{"left", {4}}, {"x", {1, 2, 3, 4}}, {"y", {0, 0, 0, 0}}});
  EXPECT_EQ(run["x"], (Numbers{16, 32, 48, 64}));
  EXPECT_EQ(run["y"], (Numbers{17, 33, 49, 65}));
}

TEST_P(Streams, nested_async_bodies) {
  const Program program{"nested_async_bodies", R"(stave 1
func @f(%x: in f32[4], %y: out f32[4], %z: out f32[4]) {
  %outer = async_start (stream = computation 0) {
    map %x -> %y (f = |v| v + 1.0)
    %inner = async_start (stream = communication 0) {
      map %y -> %z (f = |v| v * 2.0)
    }
    async_done %inner
    map %z -> %z (f = |v| v + 5.0)
  }
  async_done %outer
}
)"};
  EXPECT_EQ(run_here(program, {{"x", {1, 2, 3, 4}}})["z"], (Numbers{9, 11, 13, 15}));
}

TEST_P(Streams, communication_behind_computation) {
  const Program program{"communication_behind_computation", R"(stave 1
mesh x = 2
func @f(%a: in f32[4], %w: in f32[4, 4], %sum: out f32[4], %product: out f32[4, 4]) {
  %t = async_start (stream = communication 0) {
    all_reduce %a -> %sum (axis = x, reduction = sum)
  }
  gemm %w, %w -> %product
  async_done %t
  map %product, %sum -> %product (f = |p, s| p + s)
}
)"};
  const Numbers w = random_numbers(1, 16);
  const Outcome run = run_here(program, {{"a", {1, 2, 3, 4}, 0}, {"a", {5, 6, 7, 8}, 1}, {"w", w}});
  Numbers expected = matmul(w, w, 4, 4, 4);
  for (std::size_t i = 0; i < 16; ++i) expected[i] += Numbers{6, 8, 10, 12}[i % 4];
  for (const Rank rank : {0U, 1U}) EXPECT_TRUE(near(run.of(rank, "product"), expected, 1e-6));
}

TEST_P(Streams, collectives_in_a_loop) {
  const Program program{"collectives_in_a_loop", R"(stave 1
mesh x = 3
func @f(%left: inout s32[] (uniform = [x]), %a: inout f32[2]) {
  %more = scratch bool[]
  %next = scratch f32[2]
  while %more (cost = {trips = 4}) condition {
    map %left -> %more (f = |n| n > 0)
  } body {
    %t = async_start (stream = communication 0) {
      collective_permute %a -> %next (axis = x, shift = 1)
    }
    map %left -> %left (f = |n| n - 1)
    async_done %t
    copy %next -> %a
  }
}
)"};
  const Outcome run = run_here(program, {{"left", {4}}, {"a", {0, 1}, 0}, {"a", {2, 3}, 1}, {"a", {4, 5}, 2}});
  EXPECT_EQ(run.of(1, "a"), (Numbers{0, 1}));  // four shifts are one
  EXPECT_EQ(run.of(2, "a"), (Numbers{2, 3}));
  EXPECT_EQ(run.of(0, "a"), (Numbers{4, 5}));
}

TEST(StreamsAndModes, all_give_the_same_numbers_and_counts) {
  const struct {
    Program program;
    std::vector<Input> inputs;
  } cases[] = {
      {two_streams, {{"x", {1, 2, 3, 4}}}},
      {six_streams, {{"x", random_numbers(5, 24)}}},
      {streams_in_a_loop, {{"left", {5}}, {"x", {1, 2, 3, 4}}, {"y", {1, 0, -1, 2}}}},
      {streams_in_a_branch, {{"p", {1}}, {"i", {1}}, {"x", {1, 2, 3, 4}}, {"y", {1, 0, -1, 2}}}},
      {streams_in_a_branch, {{"p", {0}}, {"i", {0}}, {"x", {1, 2, 3, 4}}, {"y", {1, 0, -1, 2}}}},
  };
  for (const auto& [program, inputs] : cases) {
    const Outcome eager = run(program, {.mode = Mode::Eager}, inputs);
    ASSERT_TRUE(eager.ok()) << eager.failed;
    for (const Mode mode : {Mode::Captured, Mode::CapturedSerial})
      for (const std::uint64_t seed : {0U, 1U, 2U, 3U})
        EXPECT_EQ(run(program, {.mode = mode, .seed = seed}, inputs), eager) << program.name << " " << name_of(mode);
  }
}

}  // namespace
}  // namespace stave::conformance
