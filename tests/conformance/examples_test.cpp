// Every program in examples/ against what it says it does, in every mode.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/conformance/harness.h"

namespace stave::conformance {
namespace {

class Examples : public EveryMode {};
STAVE_IN_EVERY_MODE(Examples);

const Numbers eight{1, -2, 3, -4, 5, -6, 7, -8};
const Numbers other_eight{0.5, 0.25, -1, 2, 4, -0.75, 8, 16};
const Numbers four{1, 2, 3, 4};
const Numbers other_four{10, 20, 30, 40};

// One rounding to f32 of a function that the libraries compute to about an ulp.
constexpr double f32_function = 1e-6;

TEST_P(Examples, init_and_copy) {
  EXPECT_EQ(run_here(example("init_and_copy"), {{"src", eight}})["dst"], (Numbers{1, -2, 3, -4, 1, 1, 1, 1}));
}

TEST_P(Examples, copy_slices) {
  const Outcome run = run_here(example("copy_slices"), {{"src", eight}, {"dst", other_eight}});
  EXPECT_EQ(run["dst"], joined(part(eight, 4, 4), part(other_eight, 4, 4)));
  EXPECT_EQ(run["src"], eight);
}

TEST_P(Examples, swap_halves) {
  EXPECT_EQ(run_here(example("swap_halves"), {{"x", eight}})["x"], joined(part(eight, 4, 4), part(eight, 0, 4)));
}

TEST_P(Examples, nested_scratch) {
  EXPECT_EQ(run_here(example("nested_scratch"), {{"x", eight}})["x"], each(eight, [](double v) { return 2 * v; }));
}

TEST_P(Examples, pipeline) {
  Numbers expected;
  for (std::size_t i = 0; i < 8; ++i) expected.push_back(2 * std::sin(eight[i]) + other_eight[i]);
  EXPECT_TRUE(near(run_here(example("pipeline"), {{"x", eight}, {"y", other_eight}})["out"], expected, f32_function,
                   f32_function));
}

TEST_P(Examples, matmul_and_bias) {
  const Numbers a = random_numbers(1, 8 * 16);
  const Numbers b = random_numbers(2, 16 * 8);
  const Numbers expected = each(matmul(a, b, 8, 16, 8), [](double v) { return v + 5; });
  EXPECT_TRUE(near(run_here(example("matmul_and_bias"), {{"a", a}, {"b", b}})["out"], expected, f32_function));
}

TEST_P(Examples, matmul_and_bias_of_another_size) {
  const Numbers a = random_numbers(3, 2 * 5);
  const Numbers b = random_numbers(4, 5 * 3);
  const Numbers expected = each(matmul(a, b, 2, 5, 3), [](double v) { return v + 5; });
  const Outcome run = run_here(example("matmul_and_bias"), {{"a", a}, {"b", b}}, {{"m", "2"}, {"k", "5"}, {"n", "3"}});
  EXPECT_TRUE(near(run["out"], expected, f32_function));
}

TEST_P(Examples, tiled_gemm) {
  const Numbers a = random_numbers(5, 64);
  const Numbers b = random_numbers(6, 64);
  EXPECT_TRUE(near(run_here(example("tiled_gemm"), {{"a", a}, {"b", b}})["out"], matmul(a, b, 8, 8, 8), f32_function));
}

TEST_P(Examples, ptx_add_one) {
  EXPECT_EQ(run_here(example("ptx_add_one"), {{"x", four}})["y"], (Numbers{2, 3, 4, 5}));
}

TEST_P(Examples, cholesky) {
  // L = [[2, 0, 0], [6, 1, 0], [-8, 5, 3]]; above the diagonal nothing is written.
  const Numbers a{4, 12, -16, 12, 37, -43, -16, -43, 98};
  EXPECT_TRUE(near(run_here(example("cholesky"), {{"a", a}})["a"], {2, 12, -16, 6, 1, -43, -8, 5, 3}, f32_function));
}

TEST_P(Examples, maybe_negate) {
  EXPECT_EQ(run_here(example("maybe_negate"), {{"negate", {1}}, {"x", four}})["x"], (Numbers{-1, -2, -3, -4}));
  EXPECT_EQ(run_here(example("maybe_negate"), {{"negate", {0}}, {"x", four}})["x"], four);
}

TEST_P(Examples, switch_) {
  const auto choose = [&](double which) { return run_here(example("switch"), {{"which", {which}}, {"x", four}})["x"]; };
  EXPECT_EQ(choose(0), (Numbers{2, 3, 4, 5}));
  EXPECT_EQ(choose(1), (Numbers{10, 20, 30, 40}));
  EXPECT_EQ(choose(2), (Numbers{0, 0, 0, 0}));
  for (const double outside : {3.0, 1000.0, -1.0, -2147483648.0})
    EXPECT_EQ(choose(outside), (Numbers{0, 0, 0, 0})) << outside;
}

TEST_P(Examples, collatz) {
  const auto steps = [&](double start) { return run_here(example("collatz"), {{"start", {start}}})["steps"]; };
  for (const int start : {1, 2, 6, 8, 19, 27, 97}) {
    int expected = 0;
    for (int n = start; n > 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) ++expected;
    EXPECT_EQ(steps(start), Numbers{static_cast<double>(expected)}) << start;
  }
  EXPECT_EQ(steps(1), Numbers{0});
  EXPECT_EQ(steps(6), Numbers{8});
  EXPECT_EQ(steps(19), Numbers{20});
  EXPECT_EQ(steps(27), Numbers{111});
}

TEST_P(Examples, power_of_two_loop) {
  const auto run_from = [&](double left) {
    return run_here(example("power_of_two_loop"), {{"left", {left}}, {"value", {3}}});
  };
  EXPECT_EQ(run_from(5)["value"], Numbers{96});
  EXPECT_EQ(run_from(5)["left"], Numbers{0});
  EXPECT_EQ(run_from(0)["value"], Numbers{3});
  EXPECT_EQ(run_from(-2)["left"], Numbers{-2});
}

TEST_P(Examples, concurrent_branches) {
  const Outcome run = run_here(example("concurrent_branches"), {{"a", other_eight}, {"b", eight}});
  EXPECT_TRUE(near(run["exp_a"], each(other_eight, [](double v) { return std::exp(v); }), f32_function));
  EXPECT_TRUE(near(run["cos_b"], each(eight, [](double v) { return std::cos(v); }), f32_function, f32_function));
}

TEST_P(Examples, all_reduce) {
  const Outcome run = run_here(example("all_reduce"), {{"x", four, 0}, {"x", other_four, 1}});
  for (const Rank rank : {0U, 1U}) EXPECT_EQ(run.of(rank, "sum"), (Numbers{11, 22, 33, 44}));
}

TEST_P(Examples, all_gather) {
  const Outcome run = run_here(example("all_gather"), {{"shard", four, 0}, {"shard", other_four, 1}});
  for (const Rank rank : {0U, 1U}) EXPECT_EQ(run.of(rank, "whole"), joined(four, other_four));
}

TEST_P(Examples, reduce_scatter) {
  const Outcome run = run_here(example("reduce_scatter"), {{"whole", eight, 0}, {"whole", other_eight, 1}});
  for (const Rank rank : {0U, 1U}) EXPECT_EQ(run.of(rank, "shard"), part(sum(eight, other_eight), 4 * rank, 4));
}

TEST_P(Examples, all_to_all) {
  const Outcome run = run_here(example("all_to_all"), {{"x", eight, 0}, {"x", other_eight, 1}});
  for (const Rank rank : {0U, 1U}) {
    const Numbers expected = joined(part(eight, 4 * rank, 4), part(other_eight, 4 * rank, 4));
    EXPECT_EQ(run.of(rank, "y"), expected);
    EXPECT_EQ(run.of(rank, "z"), expected);
  }
}

TEST_P(Examples, collective_permute) {
  const Outcome run = run_here(example("collective_permute"), {{"x", four, 0}, {"x", other_four, 1}});
  EXPECT_EQ(run.of(0, "swapped"), other_four);
  EXPECT_EQ(run.of(1, "swapped"), four);
  EXPECT_EQ(run.of(0, "moved"), Numbers(4, 0));  // no source
  EXPECT_EQ(run.of(1, "moved"), four);
}

TEST_P(Examples, broadcast) {
  const Outcome run = run_here(example("broadcast"), {{"x", four, 0}, {"x", other_four, 1}});
  for (const Rank rank : {0U, 1U}) EXPECT_EQ(run.of(rank, "y"), other_four);
}

TEST_P(Examples, send_recv) {
  const Outcome run = run_here(example("send_recv"), {{"x", four, 0}, {"x", other_four, 1}});
  EXPECT_EQ(run.of(0, "y"), other_four);
  EXPECT_EQ(run.of(1, "y"), four);
}

TEST_P(Examples, grouped_exchange) {
  const Outcome run =
      run_here(example("grouped_exchange"),
               {{"a", four, 0}, {"a", other_four, 1}, {"b", part(eight, 0, 4), 0}, {"b", part(eight, 4, 4), 1}});
  for (const Rank rank : {0U, 1U}) EXPECT_EQ(run.of(rank, "sum"), (Numbers{11, 22, 33, 44}));
  EXPECT_EQ(run.of(0, "swapped"), part(eight, 4, 4));
  EXPECT_EQ(run.of(1, "swapped"), part(eight, 0, 4));
}

TEST_P(Examples, spliced_collective) {
  const Outcome run = run_here(example("spliced_collective"), {{"x", four, 0}, {"x", other_four, 1}});
  for (const Rank rank : {0U, 1U}) EXPECT_EQ(run.of(rank, "out"), (Numbers{22, 44, 66, 88}));
}

TEST_P(Examples, pipeline_parallel) {
  const Numbers x = random_numbers(7, 16);
  const Numbers first = random_numbers(8, 16);
  const Numbers second = random_numbers(9, 16);
  const Outcome run =
      run_here(example("pipeline_parallel"), {{"x", x, 0}, {"w", first, 0}, {"w", second, 1}}, {{"m", "4"}});
  const Numbers expected = matmul(matmul(x, first, 4, 4, 4), second, 4, 4, 4);
  EXPECT_TRUE(near(run.of(1, "z"), expected, f32_function, f32_function));
}

// Which of the tests above or of ring_test.cpp runs an example.
TEST(ExampleFiles, all_have_a_test) {
  const std::set<std::string> tested{"all_gather",       "all_reduce",     "all_to_all",        "broadcast",
                                     "cholesky",         "collatz",        "copy_slices",       "collective_permute",
                                     "grouped_exchange", "init_and_copy",  "matmul_and_bias",   "maybe_negate",
                                     "nested_scratch",   "pipeline",       "pipeline_parallel", "power_of_two_loop",
                                     "ptx_add_one",      "reduce_scatter", "send_recv",         "spliced_collective",
                                     "swap_halves",      "switch",         "tiled_gemm",        "concurrent_branches"};
  for (const std::string& name : example_names()) {
    const bool ring = name.find("matmul_") != std::string::npos && name != "matmul_and_bias";
    EXPECT_TRUE(ring || tested.contains(name)) << name << " has no test here";
  }
}

TEST(ExampleFiles, are_formatted) {
  for (const std::string& name : example_names()) {
    const Program program = example(name);
    const Result<Module> module = parse(program.name, program.text);
    ASSERT_TRUE(module) << to_text(module.problems()[0]);
    EXPECT_EQ(print(*module), program.text);
  }
}

TEST(ExampleFiles, start_with_what_they_show) {
  for (const std::string& name : example_names())
    EXPECT_NE(example(name).text.find("\n// "), std::string::npos) << name << " has no comment";
}

}  // namespace
}  // namespace stave::conformance
