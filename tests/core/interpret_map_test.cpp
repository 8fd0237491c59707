#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "core/ir/interpret/compute.h"
#include "tests/core/interpret_support.h"

namespace stave {
namespace {

using NodeOp = LambdaNode::Op;

// Builds a lambda node by node.
struct Nodes {
  Lambda f;

  std::uint32_t argument(Dtype dtype) { return add({NodeOp::Argument, dtype, f.arity++, 0, 0, {}}); }
  std::uint32_t constant(Dtype dtype, double v) {
    return add({NodeOp::Constant, dtype, 0, 0, 0, {dtype, static_cast<std::int64_t>(v), v}});
  }
  std::uint32_t op(NodeOp o, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0,
                   std::optional<Dtype> dtype = std::nullopt) {
    const bool compares = o >= NodeOp::Lt && o <= NodeOp::Ge;
    const Dtype of = compares ? Dtype::Bool : f.nodes[o == NodeOp::Select ? b : a].dtype;
    return add({o, dtype.value_or(of), a, b, c, {}});
  }
  std::uint32_t add(LambdaNode node) {
    f.nodes.push_back(node);
    return static_cast<std::uint32_t>(f.nodes.size() - 1);
  }
  const Lambda& gives(std::vector<std::uint32_t> results) {
    f.results = std::move(results);
    return f;
  }
};

std::vector<double> binary(NodeOp op, Dtype dtype, const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(a.size())};
  Nodes n;
  const auto x = n.argument(dtype);
  const auto y = n.argument(dtype);
  const auto z = n.op(op, x, y);
  TestBuffer left(dtype, shape, a), right(dtype, shape, b), out(n.f.nodes[z].dtype, shape);
  const auto result = interpret_map(n.gives({z}), std::vector{left.in(), right.in()}, std::vector{out.out()});
  EXPECT_TRUE(result.has_value());
  return out.values();
}

std::vector<double> unary(NodeOp op, Dtype dtype, const std::vector<double>& a) {
  const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(a.size())};
  Nodes n;
  const auto z = n.op(op, n.argument(dtype));
  TestBuffer in(dtype, shape, a), out(dtype, shape);
  EXPECT_TRUE(interpret_map(n.gives({z}), std::vector{in.in()}, std::vector{out.out()}).has_value());
  return out.values();
}

using Values = std::vector<double>;

TEST(InterpretMap, ArithmeticInEveryDtype) {
  for (const Dtype d : all_dtypes) {
    if (d == Dtype::Bool) continue;
    SCOPED_TRACE(name_of(d));
    EXPECT_EQ(binary(NodeOp::Add, d, {1, 2, 3}, {2, 3, 4}), (Values{3, 5, 7}));
    EXPECT_EQ(binary(NodeOp::Sub, d, {5, 4, 3}, {2, 3, 3}), (Values{3, 1, 0}));
    EXPECT_EQ(binary(NodeOp::Mul, d, {1, 2, 3}, {2, 3, 2}), (Values{2, 6, 6}));
    EXPECT_EQ(binary(NodeOp::Div, d, {4, 6, 2}, {2, 3, 2}), (Values{2, 2, 1}));
    EXPECT_EQ(binary(NodeOp::FloorDiv, d, {5, 7, 2}, {2, 3, 4}), (Values{2, 2, 0}));
    EXPECT_EQ(binary(NodeOp::Mod, d, {5, 7, 2}, {2, 4, 4}), (Values{1, 3, 2}));
    EXPECT_EQ(binary(NodeOp::Min, d, {1, 5}, {2, 4}), (Values{1, 4}));
    EXPECT_EQ(binary(NodeOp::Max, d, {1, 5}, {2, 4}), (Values{2, 5}));
    EXPECT_EQ(binary(NodeOp::Lt, d, {1, 2, 3}, {2, 2, 2}), (Values{1, 0, 0}));
    EXPECT_EQ(binary(NodeOp::Le, d, {1, 2, 3}, {2, 2, 2}), (Values{1, 1, 0}));
    EXPECT_EQ(binary(NodeOp::Eq, d, {1, 2, 3}, {2, 2, 2}), (Values{0, 1, 0}));
    EXPECT_EQ(binary(NodeOp::Ne, d, {1, 2, 3}, {2, 2, 2}), (Values{1, 0, 1}));
    EXPECT_EQ(binary(NodeOp::Gt, d, {1, 2, 3}, {2, 2, 2}), (Values{0, 0, 1}));
    EXPECT_EQ(binary(NodeOp::Ge, d, {1, 2, 3}, {2, 2, 2}), (Values{0, 1, 1}));
  }
}

TEST(InterpretMap, QuotientsOfNegativeNumbers) {
  const Values a = {7, -7, 7, -7}, b = {2, 2, -2, -2};
  for (const Dtype d : {Dtype::S4, Dtype::S8, Dtype::S32, Dtype::S64}) {
    EXPECT_EQ(binary(NodeOp::Div, d, a, b), (Values{3, -3, -3, 3}));
    EXPECT_EQ(binary(NodeOp::FloorDiv, d, a, b), (Values{3, -4, -4, 3}));
    EXPECT_EQ(binary(NodeOp::Mod, d, a, b), (Values{1, 1, -1, -1}));
  }
  for (const Dtype d : {Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}) {
    EXPECT_EQ(binary(NodeOp::Div, d, a, b), (Values{3.5, -3.5, -3.5, 3.5}));
    EXPECT_EQ(binary(NodeOp::FloorDiv, d, a, b), (Values{3, -4, -4, 3}));
    EXPECT_EQ(binary(NodeOp::Mod, d, a, b), (Values{1, 1, -1, -1}));
  }
}

TEST(InterpretMap, IntegerDivisionByZeroIsDefined) {
  EXPECT_EQ(binary(NodeOp::Div, Dtype::S32, {5, -5, 0}, {0, 0, 0}), (Values{-1, -1, -1}));
  EXPECT_EQ(binary(NodeOp::FloorDiv, Dtype::U8, {5, 0}, {0, 0}), (Values{255, 255}));
  EXPECT_EQ(binary(NodeOp::Mod, Dtype::S8, {5, -5}, {0, 0}), (Values{5, -5}));
  EXPECT_EQ(binary(NodeOp::Div, Dtype::S8, {-128}, {-1}), (Values{-128}));
  EXPECT_EQ(binary(NodeOp::Mod, Dtype::S8, {-128}, {-1}), (Values{0}));
  const double lowest = -0x1p63;
  EXPECT_EQ(binary(NodeOp::FloorDiv, Dtype::S64, {lowest}, {-1}), (Values{lowest}));
  EXPECT_TRUE(std::isnan(binary(NodeOp::Mod, Dtype::F32, {5}, {0})[0]));
  EXPECT_EQ(binary(NodeOp::Div, Dtype::F32, {5}, {0})[0], std::numeric_limits<double>::infinity());
}

TEST(InterpretMap, IntegersWrap) {
  EXPECT_EQ(binary(NodeOp::Add, Dtype::U8, {200}, {100}), (Values{44}));
  EXPECT_EQ(binary(NodeOp::Mul, Dtype::S8, {100}, {2}), (Values{-56}));
  EXPECT_EQ(binary(NodeOp::Sub, Dtype::U4, {1}, {2}), (Values{15}));
  EXPECT_EQ(unary(NodeOp::Neg, Dtype::S4, {-8, 3}), (Values{-8, -3}));
  EXPECT_EQ(unary(NodeOp::Abs, Dtype::S8, {-128, -5, 5}), (Values{-128, 5, 5}));
  EXPECT_EQ(unary(NodeOp::Abs, Dtype::U8, {200}), (Values{200}));
}

// 2049 is not an f16 nor 257 a bf16: each node rounds, so (x + 1) - x loses the 1.
TEST(InterpretMap, HalvesRoundAfterEveryNode) {
  const std::pair<Dtype, double> cases[] = {{Dtype::F16, 2048}, {Dtype::BF16, 256},   {Dtype::F8E4M3, 16},
                                            {Dtype::F8E5M2, 8}, {Dtype::F32, 0x1p24}, {Dtype::F64, 0x1p53}};
  for (const auto& [dtype, big] : cases) {
    Nodes n;
    const auto x = n.argument(dtype);
    const auto sum = n.op(NodeOp::Add, x, n.constant(dtype, 1));
    const auto difference = n.op(NodeOp::Sub, sum, x);
    TestBuffer in(dtype, {2}, {big, 3}), out(Dtype::F64, {2});
    ASSERT_TRUE(interpret_map(n.gives({difference}), std::vector{in.in()}, std::vector{out.out()}).has_value());
    EXPECT_EQ(out.values(), (Values{0, 1})) << name_of(dtype);
  }
}

TEST(InterpretMap, FunctionsAreRoundedFromDouble) {
  const std::pair<NodeOp, double (*)(double)> functions[] = {
      {NodeOp::Exp, [](double v) { return std::exp(v); }},        {NodeOp::Log, [](double v) { return std::log(v); }},
      {NodeOp::Sin, [](double v) { return std::sin(v); }},        {NodeOp::Cos, [](double v) { return std::cos(v); }},
      {NodeOp::Tanh, [](double v) { return std::tanh(v); }},      {NodeOp::Sqrt, [](double v) { return std::sqrt(v); }},
      {NodeOp::Rsqrt, [](double v) { return 1 / std::sqrt(v); }}, {NodeOp::Erf, [](double v) { return std::erf(v); }},
      {NodeOp::Abs, [](double v) { return std::fabs(v); }},       {NodeOp::Neg, [](double v) { return -v; }}};
  for (const auto& [op, f] : functions)
    for (const Dtype d : {Dtype::F8E4M3, Dtype::F8E5M2, Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64}) {
      const Values in = {0.25, 0.5, 1, 1.5, 2};
      const Values out = unary(op, d, in);
      for (std::size_t i = 0; i < in.size(); ++i) {
        const double exact = f(in[i]);
        EXPECT_EQ(out[i], d == Dtype::F64 ? exact : round_to(d, static_cast<float>(exact))) << name_of(d);
      }
    }
}

TEST(InterpretMap, MinAndMaxKeepNan) {
  const double nan = std::nan("");
  for (const NodeOp op : {NodeOp::Min, NodeOp::Max}) {
    const Values out = binary(op, Dtype::F32, {nan, 1, nan}, {1, nan, nan});
    for (const double v : out) EXPECT_TRUE(std::isnan(v));
  }
  EXPECT_EQ(binary(NodeOp::Lt, Dtype::F32, {nan}, {1}), (Values{0}));
  EXPECT_EQ(binary(NodeOp::Ge, Dtype::F32, {nan}, {1}), (Values{0}));
  EXPECT_EQ(binary(NodeOp::Ne, Dtype::F32, {nan}, {nan}), (Values{1}));
}

TEST(InterpretMap, CastsBetweenAllDtypes) {
  for (const Dtype from : all_dtypes)
    for (const Dtype to : all_dtypes) {
      Nodes n;
      const auto c = n.op(NodeOp::Cast, n.argument(from), 0, 0, to);
      TestBuffer in(from, {3}, {0, 1, 1}), explicitly(to, {3}), by_destination(to, {3});
      ASSERT_TRUE(interpret_map(n.gives({c}), std::vector{in.in()}, std::vector{explicitly.out()}).has_value());
      ASSERT_TRUE(interpret_map(n.gives({0}), std::vector{in.in()}, std::vector{by_destination.out()}).has_value());
      EXPECT_EQ(explicitly.values(), (Values{0, 1, 1})) << name_of(from) << " " << name_of(to);
      EXPECT_EQ(by_destination.values(), (Values{0, 1, 1}));
    }
  Nodes n;
  const auto x = n.argument(Dtype::F32);
  TestBuffer in(Dtype::F32, {4}, {-1.5, 300, 2.9, std::nan("")}), u8(Dtype::U8, {4});
  ASSERT_TRUE(interpret_map(n.gives({x}), std::vector{in.in()}, std::vector{u8.out()}).has_value());
  EXPECT_EQ(u8.values(), (Values{0, 255, 2, 0}));
}

TEST(InterpretMap, SelectAndSeveralResults) {
  Nodes n;
  const auto x = n.argument(Dtype::S32);
  const auto y = n.argument(Dtype::S32);
  const auto less = n.op(NodeOp::Lt, x, y);
  const auto smaller = n.op(NodeOp::Select, less, x, y);
  const auto sum = n.op(NodeOp::Add, x, y);
  TestBuffer a(Dtype::S32, {2, 2}, {1, -5, 3, 9}), b(Dtype::S32, {2, 2}, {2, -6, 3, 0});
  TestBuffer low(Dtype::S32, {2, 2}), total(Dtype::F32, {2, 2}), flag(Dtype::Bool, {2, 2});
  ASSERT_TRUE(interpret_map(n.gives({smaller, sum, less}), std::vector{a.in(), b.in()},
                            std::vector{low.out(), total.out(), flag.out()})
                  .has_value());
  EXPECT_EQ(low.values(), (Values{1, -6, 3, 0}));
  EXPECT_EQ(total.values(), (Values{3, -11, 6, 9}));
  EXPECT_EQ(flag.values(), (Values{1, 0, 0, 0}));
}

TEST(InterpretMap, ScalarsAndSuffixShapesBroadcast) {
  Nodes n;
  const auto x = n.argument(Dtype::F32);
  const auto row = n.argument(Dtype::F32);
  const auto scalar = n.argument(Dtype::F32);
  const auto z = n.op(NodeOp::Add, n.op(NodeOp::Mul, x, row), scalar);
  TestBuffer a(Dtype::F32, {2, 3}, {1, 2, 3, 4, 5, 6}), b(Dtype::F32, {3}, {1, 10, 100}), c(Dtype::F32, {}, {0.5});
  TestBuffer out(Dtype::F32, {2, 3});
  ASSERT_TRUE(interpret_map(n.gives({z}), std::vector{a.in(), b.in(), c.in()}, std::vector{out.out()}).has_value());
  EXPECT_EQ(out.values(), (Values{1.5, 20.5, 300.5, 4.5, 50.5, 600.5}));
  TestBuffer column(Dtype::F32, {2});
  const auto result = interpret_map(n.f, std::vector{a.in(), column.in(), c.in()}, std::vector{out.out()});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(codes_of(result.problems()), std::vector<std::string>{"STV0652"});
}

// More than one block of 256, in place, with an odd number of packed elements.
TEST(InterpretMap, InPlaceOverManyElements) {
  for (const Dtype d : {Dtype::U4, Dtype::BF16, Dtype::S64}) {
    Nodes n;
    const auto z = n.op(NodeOp::Add, n.argument(d), n.constant(d, 1));
    TestBuffer b(d, {1001});
    for (std::size_t i = 0; i < 1001; ++i) store_signed(b.bytes, d, i, static_cast<std::int64_t>(i % 10));
    const std::byte last = b.bytes.back();
    ASSERT_TRUE(interpret_map(n.gives({z}), std::vector{b.in()}, std::vector{b.out()}).has_value());
    for (std::size_t i = 0; i < 1001; ++i) ASSERT_EQ(load_double(b.bytes, d, i), static_cast<double>(i % 10 + 1));
    if (d == Dtype::U4) {
      EXPECT_EQ(b.bytes.back() & std::byte{0xf0}, last & std::byte{0xf0});
    }
  }
}

TEST(InterpretMap, NoOperandsAndNoElements) {
  Nodes n;
  const auto one = n.constant(Dtype::F16, 1.5);
  TestBuffer out(Dtype::F16, {300}), none(Dtype::F16, {0, 4});
  ASSERT_TRUE(interpret_map(n.gives({one}), {}, std::vector{out.out()}).has_value());
  EXPECT_EQ(out.values(), Values(300, 1.5));
  EXPECT_TRUE(interpret_map(n.f, {}, std::vector{none.out()}).has_value());
}

TEST(InterpretMap, MalformedLambdasAreProblems) {
  TestBuffer f(Dtype::F32, {2}), i(Dtype::S32, {2});
  const auto code = [&](const Lambda& lambda, std::vector<ConstOperand> operands) {
    const auto result = interpret_map(lambda, operands, std::vector{f.out()});
    return result ? std::string("none") : result.problems()[0].code;
  };
  Nodes later;
  later.argument(Dtype::F32);
  later.add({NodeOp::Neg, Dtype::F32, 1, 0, 0, {}});
  EXPECT_EQ(code(later.gives({1}), {f.in()}), "STV0654");
  Nodes integers;
  EXPECT_EQ(code(integers.gives({integers.op(NodeOp::Exp, integers.argument(Dtype::S32))}), {i.in()}), "STV0653");
  Nodes mixed;
  const auto a = mixed.argument(Dtype::F32);
  const auto b = mixed.argument(Dtype::S32);
  EXPECT_EQ(code(mixed.gives({mixed.op(NodeOp::Add, a, b)}), {f.in(), i.in()}), "STV0653");
  Nodes wrong;
  EXPECT_EQ(code(wrong.gives({wrong.argument(Dtype::F32)}), {i.in()}), "STV0653");
  EXPECT_EQ(code(wrong.f, {}), "STV0651");
  EXPECT_EQ(code(wrong.gives({7}), {f.in()}), "STV0654");
}

}  // namespace
}  // namespace stave
