// Kernels with a reference, handlers by name, gemm in place and in batches, programs made
// of several parts, and texts that say the same after a round trip.
#include <cmath>

#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/conformance/harness.h"

namespace stave::conformance {
namespace {

class Compute : public EveryMode {};
STAVE_IN_EVERY_MODE(Compute);

TEST_P(Compute, map_in_place_is_one_command) {
  const Program program{"in_place", R"(stave 1
func @f(%x: inout f32[4]) {
  map %x -> %x (f = |v| v + 3.0)
}
)"};
  const Outcome run = run_here(program, {{"x", {1, 2, 3, 4}}});
  EXPECT_EQ(run["x"], (Numbers{4, 5, 6, 7}));
  ASSERT_EQ(run.counts.size(), 1U);
  EXPECT_EQ(run.counts[0].size(), 1U);  // no copy beside it
}

TEST_P(Compute, two_functions_around_a_memset) {
  const Program program{"two_functions", R"(stave 1
func @scale(%x: in f32[4], %y: inout f32[4]) {
  map %x, %y -> %y (f = |v, w| v * w)
}

func @f(%x: in f32[4], %y: out f32[4]) {
  memset -> %y (value = f32 3.0)
  call @scale %x, %y
  call @scale %x, %y
}

entry @f
)"};
  EXPECT_EQ(run_here(program, {{"x", {1, 2, 3, 4}}})["y"], (Numbers{3, 12, 27, 48}));
}

TEST_P(Compute, gemm_in_place_adds_to_its_destination) {
  const Program program{"gemm_in_place", R"(stave 1
func @f(%a: in f32[4, 6], %b: in f32[6, 2], %c: inout f32[4, 2]) {
  gemm %a, %b, %c -> %c (alpha = 2.0, beta = 0.5)
}
)"};
  const Numbers a = random_numbers(1, 24);
  const Numbers b = random_numbers(2, 12);
  const Numbers c = random_numbers(3, 8);
  Numbers expected = matmul(a, b, 4, 6, 2);
  for (std::size_t i = 0; i < 8; ++i) expected[i] = 2 * expected[i] + 0.5 * c[i];
  EXPECT_TRUE(near(run_here(program, {{"a", a}, {"b", b}, {"c", c}})["c"], expected, 1e-6));
}

TEST_P(Compute, gemm_of_batches_transposes_and_epilogues) {
  const Program program{"gemm_forms", R"(stave 1
func @f(%a: in f32[2, 3, 4], %b: in f32[2, 5, 4], %bias: in f32[5], %c: out f32[2, 3, 5], %d: out f32[2, 3, 5], %e: out f32[3, 5]) {
  gemm %a, %b -> %c (transpose_b = true)
  gemm %a, %b -> %d (transpose_b = true, epilogue = relu)
  gemm %a[0], %b[0], %bias -> %e (transpose_b = true, epilogue = bias)
}
)"};
  const Numbers a = random_numbers(1, 24);
  const Numbers b = random_numbers(2, 40);
  const Numbers bias{1, 2, 3, 4, 5};
  Numbers c;
  for (std::size_t batch = 0; batch < 2; ++batch) {
    Numbers transposed(20);
    for (std::size_t j = 0; j < 5; ++j)
      for (std::size_t l = 0; l < 4; ++l) transposed[l * 5 + j] = b[batch * 20 + j * 4 + l];
    c = joined(c, matmul(part(a, batch * 12, 12), transposed, 3, 4, 5));
  }
  const Outcome run = run_here(program, {{"a", a}, {"b", b}, {"bias", bias}});
  EXPECT_TRUE(near(run["c"], c, 1e-6));
  EXPECT_TRUE(near(run["d"], each(c, [](double v) { return v > 0 ? v : 0; }), 1e-6));
  Numbers with_bias = part(c, 0, 15);
  for (std::size_t i = 0; i < 15; ++i) with_bias[i] += bias[i % 5];
  EXPECT_TRUE(near(run["e"], with_bias, 1e-6));
}

TEST_P(Compute, a_softmax_of_parts) {
  const Program program{"softmax", R"(stave 1
func @f(%x: in f32[4, 3], %y: out f32[4, 3]) {
  %most = scratch f32[]
  %e = scratch f32[3]
  %sum = scratch f32[]
  repeat (index = i, to = 4) {
    reduce %x[i] -> %most (reduction = max, axes = [0])
    map %x[i], %most -> %e (f = |v, m| exp(v - m))
    reduce %e -> %sum (reduction = sum, axes = [0])
    map %e, %sum -> %y[i] (f = |v, s| v / s)
  }
}
)"};
  const Numbers x = random_numbers(4, 12);
  Numbers expected(12);
  for (std::size_t i = 0; i < 4; ++i) {
    double total = 0;
    for (std::size_t j = 0; j < 3; ++j) total += std::exp(x[3 * i + j]);
    for (std::size_t j = 0; j < 3; ++j) expected[3 * i + j] = std::exp(x[3 * i + j]) / total;
  }
  EXPECT_TRUE(near(run_here(program, {{"x", x}})["y"], expected, 1e-6));
}

const std::string add_one_source = R"(source @p = ptx """
.version 7.8
.target sm_80
.address_size 64
.visible .entry add_one(.param .u64 p_in, .param .u64 p_out) {
  ret;
}
"""
)";

const Program kernels_two_levels_down{"kernels_two_levels_down", "stave 1\n" + add_one_source + R"(
func @meaning(%x: in f32[2], %y: out f32[2]) {
  %one = constant f32[] (value = 1.0)
  map %x, %one -> %y (f = |v, k| v + k)
}

func @inner(%x: in f32[2], %y: out f32[2]) {
  %offset = constant f32[2] (value = [100.0, 200.0])
  %s = scratch f32[2]
  kernel %x -> %s (source = @p, entry = "add_one", grid = [1, 1, 1], block = [2, 1, 1], args = [in 0, out 0], reference = @meaning)
  map %s, %offset -> %y (f = |v, k| v + k)
}

func @middle(%x: in f32[2], %y: out f32[2]) {
  call @inner %x, %y
}

func @f(%x: in f32[4], %y: out f32[4]) {
  call @middle %x[:2], %y[:2]
  call @middle %x[2:], %y[2:]
}

entry @f
)"};

TEST_P(Compute, kernels_and_constants_of_called_functions) {
  const Outcome run = run_here(kernels_two_levels_down, {{"x", {1, 2, 3, 4}}});
  EXPECT_EQ(run["y"], (Numbers{102, 203, 104, 205}));
}

TEST_P(Compute, kernels_between_other_commands) {
  // A clustered kernel with a tensor map, a scalar and dynamic shared memory, then a map.
  const Program program{"kernel_arguments", "stave 1\n" + add_one_source + R"(
func @meaning(%x: in f32[4, 4], %y: out f32[4, 4]) {
  map %x -> %y (f = |v| v + 1.0)
}

func @f(%x: in f32[4, 4], %y: out f32[4, 4]) {
  %s = scratch f32[4, 4]
  map %x -> %s (f = |v| v * 2.0)
  kernel %s -> %y (source = @p, entry = "add_one", grid = [2, 1, 1], block = [128, 1, 1], cluster = [2, 1, 1], shared_memory = 1024, args = [tensor_map 0, out 0, s32 4, f32 1.5], reference = @meaning)
  map %y -> %y (f = |v| v * 10.0)
}

entry @f
)"};
  const Numbers x = random_numbers(6, 16);
  EXPECT_EQ(run_here(program, {{"x", x}})["y"], each(x, [](double v) { return (2 * v + 1) * 10; }));
}

TEST_P(Compute, a_kernel_without_a_reference_does_not_run_on_a_cpu) {
  const Program program = with(example("ptx_add_one"), ", reference = @add_one_meaning", "");
  const Outcome run = run_here(program, {{"x", {1, 2, 3, 4}}});
  EXPECT_FALSE(run.ok());
  EXPECT_NE(run.failed.find("reference"), std::string::npos) << run.failed;
}

TEST_P(Compute, custom_call_with_its_operand_as_result) {
  const Program program{"potrf", R"(stave 1
func @f(%a: inout f64[2, 2], %info: out s32[]) {
  custom_call %a -> %a, %info (target = "cusolver_potrf", attributes = {lower = false})
}
)"};
  const Outcome good = run_here(program, {{"a", {9, 6, 6, 5}}});
  EXPECT_TRUE(near(good["a"], {3, 6, 2, 1}, 1e-12));
  EXPECT_EQ(good["info"], Numbers{0});
  EXPECT_EQ(run_here(program, {{"a", {-1, 6, 6, 5}}})["info"], Numbers{1});  // the first minor is negative
}

TEST_P(Compute, custom_call_of_a_name_that_nobody_registered) {
  const Program program{"unknown_target", R"(stave 1
func @f(%a: inout f32[2]) {
  custom_call %a -> %a (target = "nobody_home")
}
)"};
  const Outcome run = run_here(program, {{"a", {1, 2}}});
  EXPECT_FALSE(run.ok());
  EXPECT_NE(run.failed.find("unknown_target:3:3: error:"), std::string::npos) << run.failed;
  EXPECT_NE(run.failed.find("nobody_home"), std::string::npos) << run.failed;
}

// ---- texts ----

TEST(RoundTrip, kernels_and_their_sources_are_stable) {
  for (const Program& program : {kernels_two_levels_down, example("ptx_add_one")}) {
    const Result<Module> once = parse(program.name, program.text);
    ASSERT_TRUE(once);
    const std::string printed = print(*once);
    const Result<Module> twice = parse(program.name, printed);
    ASSERT_TRUE(twice);
    EXPECT_TRUE(*once == *twice);
    EXPECT_EQ(print(*twice), printed);
    EXPECT_EQ(once->text(once->sources[0].text), twice->text(twice->sources[0].text));
  }
}

// A line of each op's own description, in one program.
TEST(RoundTrip, a_program_of_every_op) {
  std::string text = "stave 1\n\nfunc @every() {\n";
  for (const OpEntry& op : op_table()) text += "  " + std::string(op.info.example) + "\n";
  text += "}\n";
  const Result<Module> once = parse("every_op", text);
  ASSERT_TRUE(once) << to_text(once.problems()[0]);
  EXPECT_EQ(once->ops.size(), op_table().size());
  const std::string printed = print(*once);
  for (const OpEntry& op : op_table()) EXPECT_NE(printed.find(op.info.name), std::string::npos) << op.info.name;
  const Result<Module> twice = parse("every_op", printed);
  ASSERT_TRUE(twice) << printed;
  EXPECT_TRUE(*once == *twice) << printed;
  EXPECT_EQ(print(*twice), printed);
}

}  // namespace
}  // namespace stave::conformance
