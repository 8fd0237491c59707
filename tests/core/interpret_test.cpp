#include "core/ir/interpret/interpret.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "core/ir/interpret/collective.h"
#include "core/ir/interpret/compute.h"
#include "tests/core/interpret_support.h"

namespace stave {
namespace {

using Values = std::vector<double>;

// An expansion with one command at line 2 of a file.
class InterpretTest : public ::testing::Test {
 protected:
  void SetUp() override {
    module.file = "t.stave";
    module.line_starts = {0, 10};
    Op op;
    op.loc = 12;
    command.op = module.ops.add(op);
  }
  Result<void> run(const Payload& payload, std::vector<ConstOperand> operands, std::vector<Operand> results,
                   const RunReference& reference = {}) {
    expanded.module = std::make_shared<const Module>(module);
    command.payload = payload;
    return interpret(expanded, command, operands, results, reference);
  }
  static std::string code(const Result<void>& r) { return r ? "none" : r.problems()[0].code; }

  Module module;
  Expanded expanded;
  Command command;
};

TEST_F(InterpretTest, Memory) {
  TestBuffer a(Dtype::F32, {4}, {1, 2, 3, 4}), b(Dtype::F32, {4});
  ASSERT_TRUE(run(Copy{}, {a.in()}, {b.out()}).has_value());
  EXPECT_EQ(b.values(), a.values());
  ASSERT_TRUE(run(Memset{{Dtype::F32, 0, 1.5}}, {}, {b.out()}).has_value());
  EXPECT_EQ(b.values(), Values(4, 1.5));
  ASSERT_TRUE(run(Memset{{Dtype::S32, -2, 0}}, {}, {b.out()}).has_value());
  EXPECT_EQ(load_signed(b.bytes, Dtype::S32, 3), -2);
  ASSERT_TRUE(run(Memzero{}, {}, {b.out()}).has_value());
  EXPECT_EQ(b.values(), Values(4, 0));
  TestBuffer bytes(Dtype::U8, {6});
  EXPECT_EQ(code(run(Memset{{Dtype::F32, 0, 1}}, {}, {bytes.out()})), "STV0655");
  EXPECT_EQ(code(run(Memset{{Dtype::F64, 0, 1}}, {}, {b.out()})), "STV0655");
  EXPECT_EQ(code(run(Copy{}, {a.in()}, {bytes.out()})), "STV0652");
}

// A copy moves bits, NaN payloads too, whatever the element types on the two sides.
RC_GTEST_PROP(InterpretLaw, CopyKeepsBytesThroughBitcasts, (std::vector<std::uint64_t> words)) {
  const auto n = static_cast<std::int64_t>(words.size());
  TestBuffer from(Dtype::F64, {n}), to(Dtype::BF16, {4 * n}), back(Dtype::F64, {n});
  if (n != 0) std::memcpy(from.bytes.data(), words.data(), from.bytes.size());
  RC_ASSERT(interpret_copy(std::vector{from.in()}, std::vector{to.out()}).has_value());
  RC_ASSERT(interpret_copy(std::vector{to.in()}, std::vector{back.out()}).has_value());
  RC_ASSERT(back.bytes == from.bytes);
}

TEST_F(InterpretTest, ComputeOpsReadThePools) {
  Lambda twice{
      1, {{LambdaNode::Op::Argument, Dtype::F32, 0, 0, 0, {}}, {LambdaNode::Op::Add, Dtype::F32, 0, 0, 0, {}}}, {1}};
  Map map;
  map.f = expanded.lambdas.add(twice);
  TestBuffer a(Dtype::F32, {2, 2}, {1, 2, 3, 4}), b(Dtype::F32, {2, 2}), c(Dtype::F32, {2});
  ASSERT_TRUE(run(map, {a.in()}, {b.out()}).has_value());
  EXPECT_EQ(b.values(), (Values{2, 4, 6, 8}));
  ASSERT_TRUE(run(Gemm{}, {a.in(), a.in()}, {b.out()}).has_value());
  EXPECT_EQ(b.values(), (Values{7, 10, 15, 22}));
  Reduce reduce;
  reduce.axes = expanded.ints.add({0});
  ASSERT_TRUE(run(reduce, {a.in()}, {c.out()}).has_value());
  EXPECT_EQ(c.values(), (Values{4, 6}));
}

TEST_F(InterpretTest, ProblemsStandAtTheCommand) {
  TestBuffer a(Dtype::F32, {2, 2}), c(Dtype::F32, {3});
  const auto result = run(Gemm{}, {a.in(), a.in()}, {c.out()});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.problems()[0].place.file, "t.stave");
  EXPECT_EQ(result.problems()[0].place.line, 2U);
  a.bytes.pop_back();
  EXPECT_EQ(code(run(Copy{}, {a.in()}, {a.out()})), "STV0652");
  EXPECT_EQ(code(run(AsyncDone{}, {}, {})), "STV0650");
  EXPECT_EQ(code(run(AllReduce{}, {}, {})), "STV0650");
}

TEST_F(InterpretTest, KernelsRunTheirReference) {
  Kernel kernel;
  kernel.entry = module.strings.intern("add_one");
  TestBuffer a(Dtype::F32, {1}, {1}), b(Dtype::F32, {1});
  int calls = 0;
  const RunReference reference = [&](const Command&, std::span<const ConstOperand> in, std::span<const Operand> out) {
    ++calls;
    store_double(out[0].bytes, Dtype::F32, 0, load_double(in[0].bytes, Dtype::F32, 0) + 1);
    return Result<void>();
  };
  const auto refused = run(kernel, {a.in()}, {b.out()}, reference);
  EXPECT_EQ(code(refused), "STV0657");
  EXPECT_NE(refused.problems()[0].message.find("\"add_one\""), std::string::npos);
  kernel.reference.name = module.strings.intern("f");
  EXPECT_EQ(code(run(kernel, {a.in()}, {b.out()})), "STV0657");
  ASSERT_TRUE(run(kernel, {a.in()}, {b.out()}, reference).has_value());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(b.values(), (Values{2}));
}

class CholeskyTest : public InterpretTest {
 protected:
  CustomCall call(std::optional<bool> lower, std::string_view target = "cusolver_potrf") {
    CustomCall op;
    op.target = module.strings.intern(target);
    Record attributes;
    if (lower) attributes.push_back({module.strings.intern("lower"), *lower});
    op.attributes = expanded.records.add(attributes);
    return op;
  }
};

// The matrix of the guide: A = L L^T with L = [[2, 0, 0], [6, 1, 0], [-8, 5, 3]].
const Values symmetric = {4, 12, -16, 12, 37, -43, -16, -43, 98};

TEST_F(CholeskyTest, LowerFalseLeavesTheRowMajorLowerFactor) {
  for (const Dtype d : {Dtype::F32, Dtype::F64}) {
    TestBuffer a(d, {3, 3}, symmetric), info(Dtype::S32, {});
    ASSERT_TRUE(run(call(false), {a.in()}, {a.out(), info.out()}).has_value());
    EXPECT_EQ(a.values(), (Values{2, 12, -16, 6, 1, -43, -8, 5, 3}));  // above the diagonal: as before
    EXPECT_EQ(info.values(), (Values{0}));
  }
}

TEST_F(CholeskyTest, LowerTrueLeavesTheUpperFactor) {
  TestBuffer a(Dtype::F32, {3, 3}, symmetric), l(Dtype::F32, {3, 3}), info(Dtype::S32, {});
  ASSERT_TRUE(run(call(true), {a.in()}, {l.out(), info.out()}).has_value());
  EXPECT_EQ(l.values(), (Values{2, 6, -8, 12, 1, 5, -16, -43, 3}));
  EXPECT_EQ(a.values(), symmetric);
}

TEST_F(CholeskyTest, InfoNamesTheFirstFailingMinorOfEachMatrix) {
  TestBuffer a(Dtype::F64, {3, 2, 2}, {4, 2, 2, 5, 1, 2, 2, 1, -1, 0, 0, 1}), info(Dtype::S32, {3});
  ASSERT_TRUE(run(call(std::nullopt), {a.in()}, {a.out(), info.out()}).has_value());
  EXPECT_EQ(info.values(), (Values{0, 2, 1}));
  EXPECT_EQ(a.values()[3], 2);
  TestBuffer nan(Dtype::F32, {1, 1}, {std::nan("")}), one(Dtype::S32, {1});
  ASSERT_TRUE(run(call(false), {nan.in()}, {nan.out(), one.out()}).has_value());
  EXPECT_EQ(one.values(), (Values{1}));
}

TEST_F(CholeskyTest, Problems) {
  TestBuffer a(Dtype::F32, {3, 3}, symmetric), info(Dtype::S32, {}), half(Dtype::F16, {3, 3}), wide(Dtype::S64, {});
  const auto unknown = run(call(false, "my_op"), {a.in()}, {a.out(), info.out()});
  EXPECT_EQ(code(unknown), "STV0658");
  EXPECT_NE(unknown.problems()[0].message.find("cusolver_potrf"), std::string::npos);
  EXPECT_EQ(code(run(call(false), {a.in()}, {a.out()})), "STV0651");
  EXPECT_EQ(code(run(call(false), {half.in()}, {half.out(), info.out()})), "STV0660");
  EXPECT_EQ(code(run(call(false), {a.in()}, {a.out(), wide.out()})), "STV0660");
  CustomCall op = call(false);
  op.attributes = expanded.records.add({{module.strings.intern("uplo"), true}});
  EXPECT_EQ(code(run(op, {a.in()}, {a.out(), info.out()})), "STV0659");
}

TEST_F(InterpretTest, CollectivesDispatchOnTheCommand) {
  expanded.module = std::make_shared<const Module>(module);
  TestBuffer a(Dtype::S32, {2}, {1, 2}), b(Dtype::S32, {2}, {5, 0}), c(Dtype::S32, {2}), d(Dtype::S32, {2});
  const std::vector<Participant> group = {{0, {a.in()}, {c.out()}}, {1, {b.in()}, {d.out()}}};
  AllReduce all_reduce;
  all_reduce.reduction = Reduction::Max;
  command.payload = all_reduce;
  ASSERT_TRUE(interpret_collective(expanded, command, group).has_value());
  EXPECT_EQ(d.values(), (Values{5, 2}));
  CollectivePermute permute;
  permute.shift = 1;
  command.payload = permute;
  ASSERT_TRUE(interpret_collective(expanded, command, group).has_value());
  EXPECT_EQ(c.values(), (Values{5, 0}));
  EXPECT_EQ(d.values(), (Values{1, 2}));
  command.payload = Send{};
  ASSERT_TRUE(interpret_collective(expanded, command, std::vector<Participant>{{0, {b.in()}, {}}, {1, {}, {d.out()}}})
                  .has_value());
  EXPECT_EQ(d.values(), (Values{5, 0}));
  command.payload = Broadcast{};
  std::get<Broadcast>(command.payload).root = 9;
  const auto bad = interpret_collective(expanded, command, group);
  EXPECT_EQ(code(bad), "STV0668");
  EXPECT_EQ(bad.problems()[0].place.line, 2U);
  command.payload = Copy{};
  EXPECT_EQ(code(interpret_collective(expanded, command, group)), "STV0665");
}

}  // namespace
}  // namespace stave
