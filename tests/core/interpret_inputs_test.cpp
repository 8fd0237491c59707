#include "core/ir/interpret/inputs.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/ir/interpret/compare.h"
#include "tests/core/interpret_support.h"
#include "tests/temp_folder.h"

namespace stave {
namespace {

using Values = std::vector<double>;

TEST(InputSpec, Forms) {
  const auto parsed = [](std::string_view text) { return *parse_input_spec(text); };
  EXPECT_EQ(parsed("a=random:7"), (InputSpec{"a", InputSpec::Kind::Random, 7, {}}));
  EXPECT_EQ(parsed("a=random"), (InputSpec{"a", InputSpec::Kind::Random, 0, {}}));
  EXPECT_EQ(parsed("%w1=iota"), (InputSpec{"w1", InputSpec::Kind::Iota, 0, {}}));
  EXPECT_EQ(parsed("b=zeros"), (InputSpec{"b", InputSpec::Kind::Zeros, 0, {}}));
  EXPECT_EQ(parsed("b=x=y/c.npy"), (InputSpec{"b", InputSpec::Kind::File, 0, "x=y/c.npy"}));
  for (const char* bad :
       {"", "a", "=zeros", "%=zeros", "a=", "a=ones", "a=random:", "a=random:-1", "a=random:7x", "a=.npy"}) {
    const auto result = parse_input_spec(bad);
    ASSERT_FALSE(result.has_value()) << bad;
    EXPECT_EQ(result.problems()[0].code, "STV0680");
  }
}

TestBuffer filled(std::string_view spec, Dtype dtype, std::vector<std::int64_t> shape, Rank rank = 0, Rank uniform = 0,
                  std::string_view parameter = "a") {
  TestBuffer b(dtype, std::move(shape));
  const Input input = *load_input(*parse_input_spec(spec));
  b.bytes = *fill_input(input, {parameter, dtype, b.shape, rank, 4, uniform});
  return b;
}

TEST(Inputs, RandomValuesAreSmallAndExactInEveryDtype) {
  for (const Dtype d : all_dtypes) {
    SCOPED_TRACE(name_of(d));
    const Values v = filled("a=random:1", d, {2000}).values();
    std::set<double> seen(v.begin(), v.end());
    const double low = *seen.begin(), high = *seen.rbegin();
    double sum = 0;
    for (const double x : v) sum += x;
    if (d == Dtype::Bool) {
      EXPECT_EQ(seen, (std::set<double>{0, 1}));
    } else if (is_float(d)) {
      EXPECT_EQ(low, -1);
      const double step = d == Dtype::F8E4M3 ? 0x1p-3 : d == Dtype::F8E5M2 ? 0x1p-2 : 0x1p-7;
      EXPECT_EQ(high, 1 - step);
      for (const double x : seen) ASSERT_EQ(x / step, std::round(x / step));
      EXPECT_NEAR(sum / 2000, 0, 0.2);
    } else {
      EXPECT_EQ(low, is_signed(d) ? -8 : 0);
      EXPECT_EQ(high, is_signed(d) ? 7 : 15);
      EXPECT_EQ(seen.size(), 16U);
    }
  }
}

// These bytes are part of the contract: stored results are compared across versions.
// Worked out apart from this code from the formula in docs/numerics.md.
TEST(Inputs, RandomIsTheSameOnEveryMachine) {
  EXPECT_EQ(filled("a=random:7", Dtype::S8, {12}).values(), (Values{6, -2, 4, 6, 3, 4, -6, 1, 0, 0, 3, -4}));
  EXPECT_EQ(filled("a=random:7", Dtype::F32, {4}, 3, 3, "weights").values(),
            (Values{0.1953125, -0.2890625, -0.640625, 0.8984375}));
}

TEST(Inputs, RandomDependsOnSeedParameterAndRank) {
  const auto base = filled("a=random:7", Dtype::F32, {64}).bytes;
  EXPECT_EQ(filled("a=random:7", Dtype::F32, {64}).bytes, base);
  EXPECT_NE(filled("a=random:8", Dtype::F32, {64}).bytes, base);
  EXPECT_NE(filled("a=random:7", Dtype::F32, {64}, 1, 1).bytes, base);
  EXPECT_NE(filled("a=random:7", Dtype::F32, {64}, 0, 0, "b").bytes, base);
  EXPECT_EQ(filled("a=random:7", Dtype::F32, {64}, 3, 0).bytes, base);  // uniform with rank 0
}

TEST(Inputs, UniformAxes) {
  const std::vector<std::int64_t> mesh = {2, 3};  // rank = 3 y + x
  const auto all = [&](const Axes& uniform) {
    std::vector<Rank> first;
    for (Rank r = 0; r < 6; ++r) first.push_back(uniform_rank(mesh, uniform, r));
    return first;
  };
  EXPECT_EQ(all({}), (std::vector<Rank>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(all({1}), (std::vector<Rank>{0, 0, 0, 3, 3, 3}));
  EXPECT_EQ(all({0}), (std::vector<Rank>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(all({0, 1}), (std::vector<Rank>{0, 0, 0, 0, 0, 0}));
}

TEST(Inputs, IotaAndZeros) {
  EXPECT_EQ(filled("a=iota", Dtype::S32, {2, 3}).values(), (Values{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(filled("a=iota", Dtype::U8, {300}).values()[299], 43);
  EXPECT_EQ(filled("a=iota", Dtype::BF16, {300}).values()[255], 255);
  EXPECT_EQ(filled("a=iota", Dtype::BF16, {300}).values()[256], 0);
  EXPECT_EQ(filled("a=iota", Dtype::F8E4M3, {20}).values()[17], 1);
  EXPECT_EQ(filled("a=iota", Dtype::Bool, {3}).values(), (Values{0, 1, 0}));
  EXPECT_EQ(filled("a=zeros", Dtype::F64, {2}).values(), (Values{0, 0}));
}

TEST(Inputs, FilesForAllRanksOrOnePartARank) {
  const TempFolder folder;
  const std::string path = folder / "a.npy";
  const TestBuffer whole(Dtype::BF16, {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  ASSERT_TRUE(write_npy(path, Dtype::BF16, whole.shape, whole.bytes).has_value());
  EXPECT_EQ(filled("a=" + path, Dtype::BF16, {4, 2}, 3).values(), whole.values());
  EXPECT_EQ(filled("a=" + path, Dtype::BF16, {2}, 3).values(), (Values{6, 7}));
  const Input input = *load_input(*parse_input_spec("a=" + path));
  const std::vector<std::int64_t> two = {2}, three = {3};
  const auto code = [&](InputTarget target) { return fill_input(input, target).problems()[0].code; };
  EXPECT_EQ(code({"a", Dtype::F16, two, 0, 4, 0}), "STV0681");
  EXPECT_EQ(code({"a", Dtype::BF16, three, 0, 4, 0}), "STV0682");
  EXPECT_EQ(code({"a", Dtype::BF16, two, 0, 3, 0}), "STV0682");
  EXPECT_FALSE(load_input(*parse_input_spec("a=" + (folder / "none.npy"))).has_value());
  const TestBuffer nibbles(Dtype::S4, {2, 3}, {1, 2, 3, 4, 5, 6});
  ASSERT_TRUE(write_npy(path, Dtype::S4, nibbles.shape, nibbles.bytes).has_value());
  const Input packed = *load_input(*parse_input_spec("a=" + path));
  EXPECT_EQ(fill_input(packed, {"a", Dtype::S4, three, 1, 2, 1}).problems()[0].code, "STV0683");
}

BufferComparison compared(Dtype dtype, const Values& expected, const Values& actual,
                          std::optional<double> tolerance = std::nullopt) {
  const auto n = static_cast<std::int64_t>(expected.size());
  return *compare_buffers(TestBuffer(dtype, {n}, expected).bytes, TestBuffer(dtype, {n}, actual).bytes, dtype,
                          expected.size(), tolerance);
}

TEST(Compare, EqualAndDifferent) {
  for (const Dtype d : all_dtypes) {
    EXPECT_TRUE(compared(d, {0, 1, 1}, {0, 1, 1}).equal()) << name_of(d);
    const BufferComparison c = compared(d, {0, 1, 0}, {0, 1, 1});
    EXPECT_EQ(c.mismatches, 1U) << name_of(d);
    EXPECT_EQ(c.first, 2U);
    EXPECT_EQ(c.expected_at_first, 0);
    EXPECT_EQ(c.actual_at_first, 1);
    EXPECT_EQ(c.max_abs, 1);
  }
}

TEST(Compare, ToleranceIsOfTheMagnitude) {
  EXPECT_TRUE(compared(Dtype::F32, {1000, 1000}, {1000.005, 1000}).equal());
  EXPECT_FALSE(compared(Dtype::F32, {1000, 1000}, {1000.05, 1000}).equal());
  // An element that cancelled to near 0 is judged by its neighbours' size.
  EXPECT_TRUE(compared(Dtype::F32, {1000, 0, 1000}, {1000, 0.005, 1000}).equal());
  EXPECT_FALSE(compared(Dtype::F32, {0, 0, 1000}, {0, 0.005, 1000}).equal());
  EXPECT_TRUE(compared(Dtype::F32, {1}, {1.5}, 0.6).equal());
  EXPECT_TRUE(compared(Dtype::BF16, {1, 1}, {1.0078125, 1}).equal());
  EXPECT_FALSE(compared(Dtype::BF16, {1, 1}, {1.03125, 1}).equal());
  EXPECT_FALSE(compared(Dtype::F64, {1}, {1 + 1e-11}).equal());
}

TEST(Compare, NotFinite) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(compared(Dtype::F16, {nan, infinity, -0.0}, {nan, infinity, 0}).equal());
  const BufferComparison c = compared(Dtype::F32, {nan, infinity, 1, 1}, {1, -infinity, nan, 1});
  EXPECT_EQ(c.mismatches, 3U);
  EXPECT_EQ(c.max_abs, infinity);
}

TEST(Compare, LargeIntegersAreExact) {
  TestBuffer a(Dtype::U64, {1}), b(Dtype::U64, {1});
  store_unsigned(a.bytes, Dtype::U64, 0, ~0ULL);
  store_unsigned(b.bytes, Dtype::U64, 0, ~0ULL - 1);
  const BufferComparison c = *compare_buffers(a.bytes, b.bytes, Dtype::U64, 1);
  EXPECT_EQ(c.mismatches, 1U);
  EXPECT_EQ(c.max_abs, 1);
  EXPECT_EQ(compare_buffers(a.bytes, {}, Dtype::U64, 1).problems()[0].code, "STV0690");
}

TEST(Compare, Text) {
  EXPECT_EQ(to_text(compared(Dtype::S32, {1, 2}, {1, 2})),
            "2 elements equal; largest difference 0, relative 0, tolerance 0");
  EXPECT_EQ(to_text(compared(Dtype::S32, {1, 2, 4}, {1, 3, 4})),
            "1 of 3 elements differ; first at 1: expected 2, got 3; largest difference 1, relative 0.5, tolerance 0");
}

}  // namespace
}  // namespace stave
