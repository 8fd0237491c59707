#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "core/ir/interpret/compute.h"
#include "tests/core/interpret_support.h"

namespace stave {
namespace {

using Values = std::vector<double>;
using Axes64 = std::vector<std::int64_t>;

Values reduced(Reduction reduction, Axes64 axes, const TestBuffer& in, std::vector<std::int64_t> shape) {
  TestBuffer out(in.dtype, std::move(shape));
  const auto result = interpret_reduce(reduction, axes, std::vector{in.in()}, std::vector{out.out()});
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.problems()[0].message);
  return out.values();
}

TEST(InterpretReduce, EachAxisByHandInEveryDtype) {
  for (const Dtype d : all_dtypes) {
    if (d == Dtype::Bool) continue;
    SCOPED_TRACE(name_of(d));
    const TestBuffer x(d, {2, 3}, {1, 2, 0, 3, 1, 1});
    EXPECT_EQ(reduced(Reduction::Sum, {1}, x, {2}), (Values{3, 5}));
    EXPECT_EQ(reduced(Reduction::Sum, {0}, x, {3}), (Values{4, 3, 1}));
    EXPECT_EQ(reduced(Reduction::Prod, {1}, x, {2}), (Values{0, 3}));
    EXPECT_EQ(reduced(Reduction::Min, {0}, x, {3}), (Values{1, 1, 0}));
    EXPECT_EQ(reduced(Reduction::Max, {0, 1}, x, {}), (Values{3}));
    EXPECT_EQ(reduced(Reduction::Sum, {}, x, {2, 3}), x.values());
  }
  const TestBuffer flags(Dtype::Bool, {2, 2}, {1, 1, 0, 1});
  EXPECT_EQ(reduced(Reduction::Sum, {1}, flags, {2}), (Values{1, 1}));
  EXPECT_EQ(reduced(Reduction::Prod, {1}, flags, {2}), (Values{1, 0}));
  EXPECT_EQ(reduced(Reduction::Min, {1}, flags, {2}), (Values{1, 0}));
}

RC_GTEST_PROP(InterpretReduceLaw, EqualsTheNaiveOne, ()) {
  const auto rank = *rc::gen::inRange<std::size_t>(0, 5);
  std::vector<std::int64_t> shape, kept;
  Axes64 axes;
  for (std::size_t d = 0; d < rank; ++d) {
    shape.push_back(*rc::gen::inRange<std::int64_t>(1, 5));
    if (*rc::gen::arbitrary<bool>()) {
      axes.push_back(static_cast<std::int64_t>(d));
    } else {
      kept.push_back(shape.back());
    }
  }
  const Reduction reduction = *rc::gen::element(Reduction::Sum, Reduction::Prod, Reduction::Min, Reduction::Max);
  TestBuffer x(Dtype::S32, shape);
  for (std::size_t i = 0; i < x.size(); ++i) store_signed(x.bytes, x.dtype, i, *rc::gen::inRange(-20, 20));
  const auto out_size = static_cast<std::size_t>(elements_of(kept));
  std::vector<std::int32_t> expected(out_size);
  std::vector<bool> seen(out_size);
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::size_t rest = i, at = 0, step = 1;
    for (std::size_t d = rank; d-- > 0;) {
      const auto size = static_cast<std::size_t>(shape[d]);
      if (std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(d)) == axes.end()) {
        at += rest % size * step;
        step *= size;
      }
      rest /= size;
    }
    const auto v = static_cast<std::int32_t>(load_signed(x.bytes, x.dtype, i));
    const std::int32_t e = expected[at];
    const auto product = static_cast<std::int32_t>(static_cast<std::uint32_t>(e) * static_cast<std::uint32_t>(v));
    expected[at] = !seen[at]                      ? v
                   : reduction == Reduction::Sum  ? e + v
                   : reduction == Reduction::Prod ? product
                   : reduction == Reduction::Min  ? std::min(e, v)
                                                  : std::max(e, v);
    seen[at] = true;
  }
  RC_ASSERT(reduced(reduction, axes, x, kept) == Values(expected.begin(), expected.end()));
}

TEST(InterpretReduce, LongRowsCloseForm) {
  const std::size_t n = 3000;  // several blocks
  TestBuffer x(Dtype::S64, {2, static_cast<std::int64_t>(n)});
  for (std::size_t i = 0; i < 2 * n; ++i) store_signed(x.bytes, x.dtype, i, static_cast<std::int64_t>(i));
  const double first = n * (n - 1) / 2.0;
  EXPECT_EQ(reduced(Reduction::Sum, {1}, x, {2}), (Values{first, first + static_cast<double>(n * n)}));
}

TEST(InterpretReduce, HalvesAccumulateInF32AndF32InF64) {
  EXPECT_EQ(reduced(Reduction::Sum, {0}, TestBuffer(Dtype::BF16, {512}, Values(512, 1)), {}), (Values{512}));
  EXPECT_EQ(reduced(Reduction::Sum, {0}, TestBuffer(Dtype::F16, {4096}, Values(4096, 1)), {}), (Values{4096}));
  EXPECT_EQ(reduced(Reduction::Sum, {0}, TestBuffer(Dtype::F8E4M3, {64}, Values(64, 1)), {}), (Values{64}));
  const Values f32 = {0x1p24, 1, 1};  // in f32 each 1 would be lost
  EXPECT_EQ(reduced(Reduction::Sum, {0}, TestBuffer(Dtype::F32, {3}, f32), {}), (Values{0x1p24 + 2}));
  EXPECT_EQ(reduced(Reduction::Sum, {0}, TestBuffer(Dtype::BF16, {3}, {0x1p24, 1, 1}), {}), (Values{0x1p24}));
}

TEST(InterpretReduce, IntegersWrapOnce) {
  EXPECT_EQ(reduced(Reduction::Sum, {0}, TestBuffer(Dtype::U8, {3}, {200, 100, 3}), {}), (Values{47}));
  EXPECT_EQ(reduced(Reduction::Prod, {0}, TestBuffer(Dtype::S8, {2}, {100, 2}), {}), (Values{-56}));
  EXPECT_EQ(reduced(Reduction::Min, {0}, TestBuffer(Dtype::S8, {3}, {5, -3, 2}), {}), (Values{-3}));
  EXPECT_EQ(reduced(Reduction::Max, {0}, TestBuffer(Dtype::U64, {2}, {0x1p63, 1}), {}), (Values{0x1p63}));
}

TEST(InterpretReduce, NothingAndNan) {
  const double infinity = std::numeric_limits<double>::infinity();
  const TestBuffer none(Dtype::F32, {2, 0});
  EXPECT_EQ(reduced(Reduction::Sum, {1}, none, {2}), (Values{0, 0}));
  EXPECT_EQ(reduced(Reduction::Prod, {1}, none, {2}), (Values{1, 1}));
  EXPECT_EQ(reduced(Reduction::Min, {1}, none, {2}), (Values{infinity, infinity}));
  EXPECT_EQ(reduced(Reduction::Max, {1}, TestBuffer(Dtype::S8, {1, 0}), {1}), (Values{-128}));
  EXPECT_EQ(reduced(Reduction::Min, {1}, TestBuffer(Dtype::U4, {1, 0}), {1}), (Values{15}));
  const TestBuffer nan(Dtype::F16, {3}, {1, std::nan(""), 0});
  for (const Reduction r : {Reduction::Sum, Reduction::Prod, Reduction::Min, Reduction::Max})
    EXPECT_TRUE(std::isnan(reduced(r, {0}, nan, {})[0]));
  EXPECT_TRUE(std::signbit(reduced(Reduction::Sum, {0}, TestBuffer(Dtype::F32, {1}, {-0.0}), {})[0]));
}

TEST(InterpretReduce, Problems) {
  const TestBuffer x(Dtype::F32, {2, 3});
  TestBuffer out(Dtype::F32, {3});
  for (const Axes64& axes : {Axes64{2}, Axes64{-1}, Axes64{1}}) {
    const auto r = interpret_reduce(Reduction::Sum, axes, std::vector{x.in()}, std::vector{out.out()});
    ASSERT_FALSE(r.has_value());
    EXPECT_EQ(r.problems()[0].code, "STV0652");
  }
}

}  // namespace
}  // namespace stave
