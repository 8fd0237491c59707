#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "core/ir/interpret/compute.h"
#include "core/ir/interpret/inputs.h"
#include "tests/core/interpret_support.h"

namespace stave {
namespace {

using Values = std::vector<double>;
using Shape = std::vector<std::int64_t>;

// Multiples of 2^-7 (f8: coarser): all sums here are exact in f32, so that any order of
// adding gives the same and results can be compared bit for bit.
TestBuffer random(Dtype dtype, Shape shape, std::string_view name, std::uint64_t seed = 1) {
  TestBuffer b(dtype, std::move(shape));
  const Input input{{std::string(name), InputSpec::Kind::Random, seed, {}}, {}};
  b.bytes = *fill_input(input, {name, dtype, b.shape, 0, 1, 0});
  return b;
}

double gelu(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

struct Case {
  Gemm gemm;
  std::int64_t batch, m, n, k;
  Dtype in, out;
};

Shape matrix(const Case& c, std::int64_t rows, std::int64_t columns, bool transposed) {
  if (transposed) std::swap(rows, columns);
  return c.batch == 0 ? Shape{rows, columns} : Shape{c.batch, rows, columns};
}

void check_against_naive(const Case& c) {
  const TestBuffer a = random(c.in, matrix(c, c.m, c.k, c.gemm.transpose_a), "a");
  const TestBuffer b = random(c.in, matrix(c, c.k, c.n, c.gemm.transpose_b), "b");
  TestBuffer out = random(c.out, matrix(c, c.m, c.n, false), "c");
  const TestBuffer bias = random(c.out, {c.n}, "bias");
  const Values x = a.values(), y = b.values(), before = out.values(), add = bias.values();
  std::vector<ConstOperand> operands = {a.in(), b.in()};
  if (c.gemm.beta != 0) operands.push_back(out.in());  // in place
  if (c.gemm.epilogue == Epilogue::Bias) operands.push_back(bias.in());
  const auto result = interpret_gemm(c.gemm, operands, std::vector{out.out()});
  ASSERT_TRUE(result.has_value()) << result.problems()[0].message;
  const Values got = out.values();
  const std::int64_t batches = c.batch == 0 ? 1 : c.batch;
  for (std::int64_t z = 0; z < batches; ++z)
    for (std::int64_t i = 0; i < c.m; ++i)
      for (std::int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (std::int64_t k = 0; k < c.k; ++k) {
          const std::int64_t at_a = z * c.m * c.k + (c.gemm.transpose_a ? k * c.m + i : i * c.k + k);
          const std::int64_t at_b = z * c.k * c.n + (c.gemm.transpose_b ? j * c.k + k : k * c.n + j);
          sum += x[static_cast<std::size_t>(at_a)] * y[static_cast<std::size_t>(at_b)];
        }
        const auto at = static_cast<std::size_t>((z * c.m + i) * c.n + j);
        double v = c.gemm.alpha * sum;
        if (c.gemm.beta != 0) v += c.gemm.beta * before[at];
        if (c.gemm.epilogue == Epilogue::Bias) v += add[static_cast<std::size_t>(j)];
        if (c.gemm.epilogue == Epilogue::Relu) v = std::max(v, 0.0);
        if (c.gemm.epilogue == Epilogue::Gelu) v = c.in == Dtype::F64 ? gelu(v) : static_cast<float>(gelu(v));
        if (is_float(c.out)) v = round_to(c.out, v);
        ASSERT_EQ(got[at], v) << name_of(c.in) << " at " << z << " " << i << " " << j;
      }
}

TEST(InterpretGemm, ByHand) {
  TestBuffer a(Dtype::F32, {2, 3}, {1, 2, 3, 4, 5, 6}), b(Dtype::F32, {3, 2}, {7, 8, 9, 10, 11, 12});
  TestBuffer c(Dtype::F32, {2, 2});
  ASSERT_TRUE(interpret_gemm({}, std::vector{a.in(), b.in()}, std::vector{c.out()}).has_value());
  EXPECT_EQ(c.values(), (Values{58, 64, 139, 154}));
  Gemm gemm;
  gemm.alpha = 0.5;
  gemm.beta = -1;
  ASSERT_TRUE(interpret_gemm(gemm, std::vector{a.in(), b.in(), c.in()}, std::vector{c.out()}).has_value());
  EXPECT_EQ(c.values(), (Values{-29, -32, -69.5, -77}));
}

TEST(InterpretGemm, EveryDtypeAndTranspose) {
  const std::pair<Dtype, Dtype> dtypes[] = {
      {Dtype::F32, Dtype::F32},    {Dtype::F64, Dtype::F64},       {Dtype::F16, Dtype::F16},
      {Dtype::BF16, Dtype::BF16},  {Dtype::BF16, Dtype::F32},      {Dtype::F8E4M3, Dtype::BF16},
      {Dtype::F8E5M2, Dtype::F16}, {Dtype::F8E4M3, Dtype::F8E4M3}, {Dtype::S8, Dtype::S32},
      {Dtype::U8, Dtype::S32},     {Dtype::S4, Dtype::S32},        {Dtype::S32, Dtype::S32},
      {Dtype::S64, Dtype::S64}};
  for (const auto& [in, out] : dtypes)
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        Gemm gemm;
        gemm.transpose_a = transpose_a;
        gemm.transpose_b = transpose_b;
        check_against_naive({gemm, 2, 5, 11, 7, in, out});
      }
}

TEST(InterpretGemm, BeyondOneBlock) { check_against_naive({{}, 0, 70, 133, 40, Dtype::F32, Dtype::F32}); }

TEST(InterpretGemm, Epilogues) {
  for (const Epilogue e : {Epilogue::None, Epilogue::Relu, Epilogue::Gelu, Epilogue::Bias})
    for (const Dtype d : {Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}) {
      Gemm gemm;
      gemm.epilogue = e;
      gemm.alpha = 0.5;
      gemm.beta = 2;
      check_against_naive({gemm, 0, 9, 13, 4, d, d});
    }
}

RC_GTEST_PROP(InterpretGemmLaw, EqualsTheNaiveSum, ()) {
  Gemm gemm;
  gemm.transpose_a = *rc::gen::arbitrary<bool>();
  gemm.transpose_b = *rc::gen::arbitrary<bool>();
  gemm.alpha = *rc::gen::element(1.0, 0.5, -2.0);
  gemm.beta = *rc::gen::element(0.0, 1.0, 0.25);
  gemm.epilogue = *rc::gen::element(Epilogue::None, Epilogue::Relu, Epilogue::Bias);
  const Dtype d = *rc::gen::element(Dtype::F32, Dtype::BF16, Dtype::F16, Dtype::F64);
  const auto size = [] { return *rc::gen::inRange<std::int64_t>(1, 24); };
  check_against_naive({gemm, *rc::gen::inRange<std::int64_t>(0, 4), size(), size(), size(), d, d});
  RC_ASSERT(!::testing::Test::HasFatalFailure());
}

TEST(InterpretGemm, HalvesAccumulateInF32) {
  // 300 ones: a bf16 sum would stop at 256.
  TestBuffer a(Dtype::BF16, {1, 300}, Values(300, 1)), b(Dtype::BF16, {300, 1}, Values(300, 1));
  TestBuffer c(Dtype::F32, {1, 1}), half(Dtype::BF16, {1, 1});
  ASSERT_TRUE(interpret_gemm({}, std::vector{a.in(), b.in()}, std::vector{c.out()}).has_value());
  EXPECT_EQ(c.values(), (Values{300}));
  ASSERT_TRUE(interpret_gemm({}, std::vector{a.in(), b.in()}, std::vector{half.out()}).has_value());
  EXPECT_EQ(half.values(), (Values{300}));
}

TEST(InterpretGemm, IntegersWrapAt32Bits) {
  TestBuffer a(Dtype::S32, {1, 2}, {65536, 1}), b(Dtype::S32, {2, 1}, {65536, 7}), c(Dtype::S32, {1, 1});
  ASSERT_TRUE(interpret_gemm({}, std::vector{a.in(), b.in()}, std::vector{c.out()}).has_value());
  EXPECT_EQ(c.values(), (Values{7}));
  Gemm gemm;
  gemm.epilogue = Epilogue::Relu;
  gemm.alpha = -1;
  ASSERT_TRUE(interpret_gemm(gemm, std::vector{a.in(), b.in()}, std::vector{c.out()}).has_value());
  EXPECT_EQ(c.values(), (Values{0}));
}

TEST(InterpretGemm, NothingToSumIsZeroAndCIsNotReadWithoutBeta) {
  TestBuffer a(Dtype::F32, {2, 0}), b(Dtype::F32, {0, 3}), c(Dtype::F32, {2, 3}, Values(6, std::nan("")));
  ASSERT_TRUE(interpret_gemm({}, std::vector{a.in(), b.in()}, std::vector{c.out()}).has_value());
  EXPECT_EQ(c.values(), Values(6, 0));
}

TEST(InterpretGemm, Problems) {
  TestBuffer a(Dtype::F32, {2, 3}), b(Dtype::F32, {3, 4}), c(Dtype::F32, {2, 4}), wrong(Dtype::F32, {2, 5});
  TestBuffer s(Dtype::S8, {3, 4}), s8(Dtype::S8, {2, 3}), s32(Dtype::S32, {2, 4});
  const auto code = [](const Gemm& gemm, std::vector<ConstOperand> operands, Operand result) {
    const auto r = interpret_gemm(gemm, operands, std::vector{result});
    return r ? std::string("none") : r.problems()[0].code;
  };
  EXPECT_EQ(code({}, {a.in(), b.in()}, wrong.out()), "STV0652");
  EXPECT_EQ(code({}, {a.in(), a.in()}, c.out()), "STV0652");
  EXPECT_EQ(code({}, {a.in()}, c.out()), "STV0651");
  EXPECT_EQ(code({}, {a.in(), s.in()}, c.out()), "STV0653");
  Gemm half;
  half.alpha = 0.5;
  EXPECT_EQ(code(half, {s8.in(), s.in()}, s32.out()), "STV0656");
  Gemm gelu;
  gelu.epilogue = Epilogue::Gelu;
  EXPECT_EQ(code(gelu, {s8.in(), s.in()}, s32.out()), "STV0653");
  Gemm with_c;
  with_c.beta = 1;
  EXPECT_EQ(code(with_c, {a.in(), b.in()}, c.out()), "STV0651");
}

}  // namespace
}  // namespace stave
