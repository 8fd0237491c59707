#include "core/ir/interpret/collective.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "core/ir/interpret/inputs.h"
#include "tests/core/interpret_support.h"

namespace stave {
namespace {

using Values = std::vector<double>;
using Buffers = std::vector<TestBuffer>;

const Dtype reducible[] = {Dtype::S8,     Dtype::U8,     Dtype::S32, Dtype::U32,  Dtype::S64, Dtype::U64,
                           Dtype::F8E4M3, Dtype::F8E5M2, Dtype::F16, Dtype::BF16, Dtype::F32, Dtype::F64};
const Reduction reductions[] = {Reduction::Sum, Reduction::Prod, Reduction::Min, Reduction::Max};

// One operand and one result a rank.
std::vector<Participant> group_of(const Buffers& from, Buffers& to) {
  std::vector<Participant> group;
  for (std::size_t p = 0; p < from.size(); ++p) {
    Participant& member = group.emplace_back();
    member.rank = static_cast<Rank>(p);
    member.operands.push_back(from[p].in());
    member.results.push_back(to[p].out());
  }
  return group;
}

Buffers fresh(std::size_t n, Dtype dtype, std::int64_t size) { return Buffers(n, TestBuffer(dtype, {size})); }

Buffers random(std::size_t n, Dtype dtype, std::int64_t size, std::uint64_t seed) {
  Buffers buffers = fresh(n, dtype, size);
  for (std::size_t p = 0; p < n; ++p) {
    const auto rank = static_cast<Rank>(p);
    buffers[p].bytes =
        *fill_input({{"x", InputSpec::Kind::Random, seed, {}}, {}}, {"x", dtype, buffers[p].shape, rank, n, rank});
  }
  return buffers;
}

bool same(const Buffers& a, const Buffers& b) {
  for (std::size_t p = 0; p < a.size(); ++p)
    if (a[p].bytes != b[p].bytes) return false;
  return a.size() == b.size();
}

TEST(Collective, AllReduceByHandInEveryDtype) {
  for (const Dtype d : reducible) {
    SCOPED_TRACE(name_of(d));
    const Buffers x = {TestBuffer(d, {2}, {1, 4}), TestBuffer(d, {2}, {2, 2}), TestBuffer(d, {2}, {3, 1})};
    const Values expected[] = {{6, 7}, {6, 8}, {1, 1}, {3, 4}};
    for (std::size_t r = 0; r < 4; ++r) {
      Buffers y = fresh(3, d, 2);
      ASSERT_TRUE(collectives::all_reduce(reductions[r], group_of(x, y)).has_value());
      for (const TestBuffer& b : y) EXPECT_EQ(b.values(), expected[r]);
    }
  }
}

TEST(Collective, ReductionsRoundOnce) {
  // In bf16 256 + 1 + 1 would stay 256; in f32 it is 258, a bf16.
  const Buffers x = {TestBuffer(Dtype::BF16, {1}, {256}), TestBuffer(Dtype::BF16, {1}, {1}),
                     TestBuffer(Dtype::BF16, {1}, {1})};
  Buffers y = fresh(3, Dtype::BF16, 1);
  ASSERT_TRUE(collectives::all_reduce(Reduction::Sum, group_of(x, y)).has_value());
  EXPECT_EQ(y[2].values(), (Values{258}));
}

TEST(Collective, F32AddsInF32InPositionOrder) {
  const auto sum = [](Dtype d, const Values& of) {
    Buffers x, y = fresh(of.size(), d, 1);
    for (const double v : of) x.emplace_back(d, std::vector<std::int64_t>{1}, Values{v});
    EXPECT_TRUE(collectives::all_reduce(Reduction::Sum, group_of(x, y)).has_value());
    return y[0].values()[0];
  };
  EXPECT_EQ(sum(Dtype::F32, {0x1p24, 1, 1}), 0x1p24);
  EXPECT_EQ(sum(Dtype::F32, {1, 1, 0x1p24}), 0x1p24 + 2);
  EXPECT_EQ(sum(Dtype::F64, {0x1p24, 1, 1}), 0x1p24 + 2);
}

RC_GTEST_PROP(CollectiveLaw, ReduceScatterThenAllGatherIsAllReduce, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 7);
  const auto part = *rc::gen::inRange<std::int64_t>(0, 600);
  const Dtype d = *rc::gen::elementOf(std::vector(std::begin(reducible), std::end(reducible)));
  const Reduction r = *rc::gen::elementOf(std::vector(std::begin(reductions), std::end(reductions)));
  const auto size = part * static_cast<std::int64_t>(n);
  const Buffers x = random(n, d, size, *rc::gen::arbitrary<std::uint64_t>());
  Buffers scattered = fresh(n, d, part), gathered = fresh(n, d, size), reduced = fresh(n, d, size);
  RC_ASSERT(collectives::reduce_scatter(r, group_of(x, scattered)).has_value());
  RC_ASSERT(collectives::all_gather(group_of(scattered, gathered)).has_value());
  RC_ASSERT(collectives::all_reduce(r, group_of(x, reduced)).has_value());
  RC_ASSERT(same(gathered, reduced));
}

RC_GTEST_PROP(CollectiveLaw, AllReduceIsTheReductionOfAll, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 9);
  const Buffers x = random(n, Dtype::F32, 5, *rc::gen::arbitrary<std::uint64_t>());
  Buffers y = fresh(n, Dtype::F32, 5);
  RC_ASSERT(collectives::all_reduce(Reduction::Sum, group_of(x, y)).has_value());
  Values expected(5, 0);
  for (const TestBuffer& b : x)
    for (std::size_t i = 0; i < 5; ++i) expected[i] += b.values()[i];
  for (const TestBuffer& b : y) RC_ASSERT(b.values() == expected);  // multiples of 2^-7: exact
}

RC_GTEST_PROP(CollectiveLaw, APermutationAndItsInverseAreNothing, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 9);
  std::vector<std::uint32_t> target(n);
  for (std::size_t i = 0; i < n; ++i) target[i] = static_cast<std::uint32_t>(i);
  for (std::size_t i = n; i > 1; --i) std::swap(target[i - 1], target[*rc::gen::inRange<std::size_t>(0, i)]);
  Pairs pairs, inverse;
  for (std::uint32_t i = 0; i < n; ++i) {
    pairs.push_back({i, target[i]});
    inverse.push_back({target[i], i});
  }
  const Dtype d = *rc::gen::elementOf(std::vector(std::begin(all_dtypes), std::end(all_dtypes)));
  const Buffers x = random(n, d, 8, 3);
  Buffers there = fresh(n, d, 8), back = fresh(n, d, 8);
  RC_ASSERT(collectives::permute(pairs, group_of(x, there)).has_value());
  RC_ASSERT(collectives::permute(inverse, group_of(there, back)).has_value());
  RC_ASSERT(same(x, back));
}

RC_GTEST_PROP(CollectiveLaw, AllToAllTwiceIsNothing, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 7);
  const Dtype d = *rc::gen::elementOf(std::vector(std::begin(all_dtypes), std::end(all_dtypes)));
  const Buffers x = random(n, d, static_cast<std::int64_t>(n) * 6, 5);
  Buffers y = fresh(n, d, static_cast<std::int64_t>(n) * 6), z = y;
  RC_ASSERT(collectives::all_to_all(group_of(x, y)).has_value());
  RC_ASSERT(collectives::all_to_all(group_of(y, z)).has_value());
  RC_ASSERT(same(x, z));
}

TEST(Collective, BytesMoveInEveryDtype) {
  for (const Dtype d : all_dtypes) {
    SCOPED_TRACE(name_of(d));
    const Buffers x = {TestBuffer(d, {4}, {0, 1, 1, 0}), TestBuffer(d, {4}, {1, 1, 0, 0})};
    Buffers gathered = fresh(2, d, 8), swapped = fresh(2, d, 4), sent = fresh(2, d, 4);
    ASSERT_TRUE(collectives::all_gather(group_of(x, gathered)).has_value());
    EXPECT_EQ(gathered[1].values(), (Values{0, 1, 1, 0, 1, 1, 0, 0}));
    ASSERT_TRUE(collectives::all_to_all(group_of(x, swapped)).has_value());
    EXPECT_EQ(swapped[0].values(), (Values{0, 1, 1, 1}));
    EXPECT_EQ(swapped[1].values(), (Values{1, 0, 0, 0}));
    ASSERT_TRUE(collectives::broadcast(1, group_of(x, sent)).has_value());
    EXPECT_EQ(sent[0].values(), x[1].values());
    EXPECT_EQ(sent[1].values(), x[1].values());
    ASSERT_TRUE(collectives::permute({{1, 0}}, group_of(x, sent)).has_value());
    EXPECT_EQ(sent[0].values(), x[1].values());
    EXPECT_EQ(sent[1].values(), (Values{0, 0, 0, 0}));  // no source
  }
}

TEST(Collective, ABufferAPeer) {
  Buffers in = {TestBuffer(Dtype::S32, {1}, {10}), TestBuffer(Dtype::S32, {2}, {11, 12}),
                TestBuffer(Dtype::S32, {3}, {20, 21, 22}), TestBuffer(Dtype::S32, {1}, {23})};
  Buffers out = {TestBuffer(Dtype::S32, {1}), TestBuffer(Dtype::S32, {3}), TestBuffer(Dtype::S32, {2}),
                 TestBuffer(Dtype::S32, {1})};
  const std::vector<Participant> group = {{0, {in[0].in(), in[1].in()}, {out[0].out(), out[1].out()}},
                                          {1, {in[2].in(), in[3].in()}, {out[2].out(), out[3].out()}}};
  ASSERT_TRUE(collectives::all_to_all(group).has_value());
  EXPECT_EQ(out[0].values(), (Values{10}));
  EXPECT_EQ(out[1].values(), (Values{20, 21, 22}));
  EXPECT_EQ(out[2].values(), (Values{11, 12}));
  EXPECT_EQ(out[3].values(), (Values{23}));
}

// Rule 10: all_reduce and broadcast on the same view; the shard of all_gather and
// reduce_scatter at position r of the whole.
TEST(Collective, InPlace) {
  Buffers x = {TestBuffer(Dtype::F16, {4}, {1, 2, 3, 4}), TestBuffer(Dtype::F16, {4}, {10, 20, 30, 40})};
  ASSERT_TRUE(collectives::all_reduce(Reduction::Sum, group_of(x, x)).has_value());
  EXPECT_EQ(x[0].values(), (Values{11, 22, 33, 44}));
  EXPECT_EQ(x[1].values(), (Values{11, 22, 33, 44}));
  x[0] = TestBuffer(Dtype::F16, {4}, {1, 2, 3, 4});
  ASSERT_TRUE(collectives::broadcast(0, group_of(x, x)).has_value());
  EXPECT_EQ(x[1].values(), (Values{1, 2, 3, 4}));
  x[1] = TestBuffer(Dtype::F16, {4}, {10, 20, 30, 40});
  const std::vector<std::int64_t> half = {2};
  const auto shards = [&](bool gather) {
    std::vector<Participant> group;
    for (std::size_t p = 0; p < 2; ++p) {
      const Operand shard{std::span(x[p].bytes).subspan(p * 4, 4), Dtype::F16, half};
      Participant& member = group.emplace_back();
      member.operands.push_back(gather ? ConstOperand(shard) : x[p].in());
      member.results.push_back(gather ? x[p].out() : shard);
    }
    return group;
  };
  ASSERT_TRUE(collectives::reduce_scatter(Reduction::Sum, shards(false)).has_value());
  EXPECT_EQ(x[0].values(), (Values{11, 22, 3, 4}));
  EXPECT_EQ(x[1].values(), (Values{10, 20, 33, 44}));
  ASSERT_TRUE(collectives::all_gather(shards(true)).has_value());
  EXPECT_EQ(x[0].values(), (Values{11, 22, 33, 44}));
  EXPECT_EQ(x[1].values(), (Values{11, 22, 33, 44}));
}

// What a result overlaps is read as it was before.
TEST(Collective, OverlappingOperandsAreReadBefore) {
  Buffers x = {TestBuffer(Dtype::S32, {2}, {1, 2}), TestBuffer(Dtype::S32, {2}, {3, 4})};
  ASSERT_TRUE(collectives::permute({{0, 1}, {1, 0}}, group_of(x, x)).has_value());
  EXPECT_EQ(x[0].values(), (Values{3, 4}));
  EXPECT_EQ(x[1].values(), (Values{1, 2}));
  ASSERT_TRUE(collectives::all_to_all(group_of(x, x)).has_value());
  EXPECT_EQ(x[0].values(), (Values{3, 1}));
  EXPECT_EQ(x[1].values(), (Values{4, 2}));
}

TEST(Collective, SendRecv) {
  TestBuffer a(Dtype::BF16, {3}, {1, 2, 3}), b(Dtype::BF16, {3});
  ASSERT_TRUE(collectives::send_recv({0, {a.in()}, {}}, {1, {}, {b.out()}}).has_value());
  EXPECT_EQ(b.values(), a.values());
}

TEST(Collective, Problems) {
  Buffers x = fresh(2, Dtype::F32, 4), longer = fresh(2, Dtype::F32, 5), flags = fresh(2, Dtype::Bool, 4);
  const auto code = [](const Result<void>& r) { return r ? std::string("none") : r.problems()[0].code; };
  EXPECT_EQ(code(collectives::all_reduce(Reduction::Sum, {})), "STV0665");
  EXPECT_EQ(code(collectives::all_reduce(Reduction::Sum, group_of(x, longer))), "STV0666");
  EXPECT_EQ(code(collectives::all_reduce(Reduction::Sum, group_of(flags, flags))), "STV0667");
  EXPECT_EQ(code(collectives::reduce_scatter(Reduction::Sum, group_of(x, x))), "STV0666");
  EXPECT_EQ(code(collectives::all_gather(group_of(x, x))), "STV0666");
  EXPECT_EQ(code(collectives::permute({{0, 2}}, group_of(x, x))), "STV0668");
  EXPECT_EQ(code(collectives::permute({{0, 1}, {1, 1}}, group_of(x, x))), "STV0668");
  EXPECT_EQ(code(collectives::broadcast(2, group_of(x, x))), "STV0668");
  Buffers odd = fresh(2, Dtype::U8, 5);
  EXPECT_EQ(code(collectives::all_to_all(group_of(odd, odd))), "STV0666");
  Buffers short_one = {TestBuffer(Dtype::F32, {4}), TestBuffer(Dtype::F32, {3})};
  EXPECT_EQ(code(collectives::all_to_all(group_of(x, short_one))), "STV0666");
}

}  // namespace
}  // namespace stave
