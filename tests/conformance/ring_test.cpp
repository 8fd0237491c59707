// AllGather(A) x B in all its forms, against a plain product of the gathered A.
#include <string>

#include "tests/conformance/harness.h"

namespace stave::conformance {
namespace {

struct Ring {
  std::string example;
  std::size_t ranks;
};

std::vector<Ring> rings() {
  std::vector<Ring> all;
  for (const std::string& name : example_names()) {
    const std::size_t digits = name.find_last_not_of("0123456789") + 1;
    if (name.find("matmul_") != std::string::npos && digits < name.size())
      all.push_back({name, std::stoul(name.substr(digits))});
  }
  return all;
}

struct Sizes {
  std::size_t m, k, n;
};

// What a dtype's rounding of an exact sum may cost.
constexpr double bf16_ulp = 1.0 / 256;
constexpr double f32_ulp = 1.0 / (1 << 23);

void expect_product(const Program& program, std::size_t ranks, Sizes sizes, double relative, RunOptions options) {
  const auto [m, k, n] = sizes;
  options.params = {{"m", std::to_string(m)}, {"k", std::to_string(k)}, {"n", std::to_string(n)}};
  std::vector<Input> inputs;
  Numbers gathered;
  for (Rank rank = 0; rank < ranks; ++rank) {
    inputs.push_back({"a", random_numbers(10 + rank, m * k), rank});
    inputs.push_back({"b", random_numbers(100 + rank, k * n), rank});
    gathered = joined(gathered, inputs[2 * rank].values);
  }
  const Outcome run = conformance::run(program, options, inputs);
  ASSERT_TRUE(run.ok()) << run.failed;
  for (Rank rank = 0; rank < ranks; ++rank)
    EXPECT_TRUE(near(run.of(rank, "c"), matmul(gathered, inputs[2 * rank + 1].values, m * ranks, k, n), relative))
        << program.name << " rank " << rank;
}

using RingCase = std::tuple<Ring, Mode>;
class Rings : public testing::TestWithParam<RingCase> {
 public:
  const Ring& ring() const { return std::get<0>(GetParam()); }
  Mode mode() const { return std::get<1>(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Examples, Rings,
                         testing::Combine(testing::ValuesIn(rings()),
                                          testing::Values(Mode::Eager, Mode::Captured, Mode::CapturedSerial)),
                         [](const testing::TestParamInfo<RingCase>& chosen) {
                           return std::get<0>(chosen.param).example + "_" +
                                  std::string(name_of(std::get<1>(chosen.param)));
                         });

TEST_P(Rings, multiply_the_gathered_matrix) {
  expect_product(example(ring().example), ring().ranks, {8, 16, 8}, bf16_ulp, {.mode = mode()});
}

TEST_P(Rings, multiply_matrices_that_are_not_square) {
  expect_product(example(ring().example), ring().ranks, {2, 6, 10}, bf16_ulp, {.mode = mode()});
}

TEST_P(Rings, multiply_in_f32) {
  expect_product(with(example(ring().example), "bf16", "f32"), ring().ranks, {4, 32, 8}, f32_ulp, {.mode = mode()});
}

TEST_P(Rings, do_not_depend_on_the_order_of_what_may_run_now) {
  if (driver_under_test != "reference") GTEST_SKIP() << "which order is the device's own choice";
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    expect_product(example(ring().example), ring().ranks, {2, 4, 2}, bf16_ulp, {.mode = mode(), .seed = seed});
}

TEST(RingExamples, are_the_ones_that_the_table_names) {
  std::string names;
  for (const Ring& ring : rings()) names += ring.example + " ";
  EXPECT_EQ(names,
            "all_gather_matmul_2 bidirectional_ring_matmul_2 bidirectional_ring_matmul_3 bidirectional_ring_matmul_4 "
            "bidirectional_ring_matmul_8 ring_matmul_2 ring_matmul_3 ring_matmul_4 ring_matmul_8 "
            "ring_matmul_copy_engine_2 ");
}

// One text for any mesh: only the line of the mesh differs.
TEST(RingExamples, differ_only_in_the_mesh) {
  for (const std::string kind : {"ring_matmul_", "bidirectional_ring_matmul_"})
    for (const std::string n : {"3", "4", "8"})
      EXPECT_EQ(with(example(kind + "2"), "mesh x = 2", "mesh x = " + n).text, example(kind + n).text);
}

TEST(RingExamples, run_on_rings_without_a_file) {
  for (const std::size_t ranks : {1, 5, 6, 7})
    for (const std::string kind : {"ring_matmul_2", "bidirectional_ring_matmul_2"}) {
      // One rank shifts to nobody: the bidirectional ring starts its first step without a test.
      if (ranks == 1 && kind != "ring_matmul_2") continue;
      expect_product(with(example(kind), "mesh x = 2", "mesh x = " + std::to_string(ranks)), ranks, {4, 8, 4}, bf16_ulp,
                     {});
    }
}

// The same product with two compute streams, each with its own piece of the ring buffer.
const Program ring_on_two_streams{"two_streams", R"(stave 1
mesh x = 4
param m = 4
param k = 8
param n = 4

func @ring(%a: in bf16[m, k], %b: in bf16[k, n], %c: out bf16[m * axis_size(x), n]) {
  %ring = scratch bf16[axis_size(x), m, k]
  copy %a -> %ring[0]
  repeat (index = s, from = 1, to = axis_size(x)) {
    %shift[s] = async_start (stream = communication 0) {
      collective_permute %ring[s - 1] -> %ring[s] (axis = x, shift = 1)
    }
  }
  gemm %a, %b -> %c[axis_index(x) * m : +m]
  repeat (index = s, from = 1, to = axis_size(x)) {
    %product[s] = async_start (stream = computation(s mod 2)) {
      async_done %shift[s]
      gemm %ring[s], %b -> %c[((axis_index(x) - s) mod axis_size(x)) * m : +m]
    }
  }
  repeat (index = s, from = 1, to = axis_size(x)) {
    async_done %product[s]
  }
}
)"};

// The same product, with the block's place chosen by a switch on the rank in device memory.
const Program switched{"switched", R"(stave 1
mesh x = 2
param m = 4
param k = 8
param n = 4

func @ring(%me: in s32[], %a: in bf16[m, k], %b: in bf16[k, n], %c: out bf16[2 * m, n]) {
  %other = scratch bf16[m, k]
  %shift = async_start (stream = communication 0) {
    collective_permute %a -> %other (axis = x, shift = 1)
  }
  switch %me branch {
    gemm %a, %b -> %c[:m]
  } branch {
    gemm %a, %b -> %c[m:]
  }
  async_done %shift
  switch %me branch {
    gemm %other, %b -> %c[m:]
  } branch {
    gemm %other, %b -> %c[:m]
  }
}
)"};

class RingForms : public EveryMode {};
STAVE_IN_EVERY_MODE(RingForms);

TEST_P(RingForms, two_compute_streams) {
  expect_product(ring_on_two_streams, 4, {4, 8, 4}, bf16_ulp, {.mode = GetParam()});
  expect_product(with(ring_on_two_streams, "bf16", "f32"), 4, {4, 8, 4}, f32_ulp, {.mode = GetParam()});
}

TEST_P(RingForms, a_switch_chooses_the_block) {
  const Numbers a0 = random_numbers(1, 32);
  const Numbers a1 = random_numbers(2, 32);
  const Numbers b = random_numbers(3, 32);
  const Outcome run = run_here(switched, {{"me", {0}, 0}, {"me", {1}, 1}, {"a", a0, 0}, {"a", a1, 1}, {"b", b}});
  for (const Rank rank : {0U, 1U}) EXPECT_TRUE(near(run.of(rank, "c"), matmul(joined(a0, a1), b, 8, 8, 4), bf16_ulp));
}

}  // namespace
}  // namespace stave::conformance
