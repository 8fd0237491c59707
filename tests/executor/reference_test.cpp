#include <gtest/gtest.h>

#include <memory>

#include "core/ir/interpret/number.h"
#include "core/text/parse.h"
#include "executor/drivers.h"

namespace stave {
namespace {

Plan plan_of(std::string_view text, Mode mode = Mode::Eager, const ExpandOptions& options = {}) {
  Result<Module> module = parse("test.stave", text);
  EXPECT_TRUE(module) << to_text(module.problems()[0]);
  Result<Expansion> expansion = expand_and_verify(std::make_shared<const Module>(*std::move(module)), options);
  EXPECT_TRUE(expansion) << to_text(expansion.problems()[0]);
  Result<Plan> plan = lower(*std::move(expansion), mode);
  EXPECT_TRUE(plan) << to_text(plan.problems()[0]);
  return *std::move(plan);
}

std::vector<std::byte> bytes_of(std::initializer_list<float> values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::size_t i = 0;
  for (const float v : values) store_double(bytes, Dtype::F32, i++, v);
  return bytes;
}

constexpr std::string_view accumulate = R"(stave 1
func @f(%x: in f32[2], %sum: inout f32[2], %seen: out f32[2]) {
  %s = scratch f32[2]
  copy %s -> %seen
  map %x, %sum -> %sum (f = |x, sum| sum + x)
  copy %sum -> %s
}
)";

TEST(Reference, ParametersKeepTheirContentsBetweenStepsAndScratchDoesNot) {
  const Plan plan = plan_of(accumulate);
  const auto execution = *driver_named("reference")->prepare(plan, {});
  const std::vector<BufferId>& p = plan.classes[0].expanded.parameters;
  ASSERT_TRUE(execution->write(0, p[0], bytes_of({1, 2})));
  ASSERT_TRUE(execution->write(0, p[1], bytes_of({10, 20})));
  ASSERT_TRUE(run_step(*execution));
  ASSERT_TRUE(run_step(*execution));
  std::vector<std::byte> sum(8), seen(8);
  ASSERT_TRUE(execution->read(0, p[1], sum));
  ASSERT_TRUE(execution->read(0, p[2], seen));
  EXPECT_EQ(sum, bytes_of({12, 24}));
  EXPECT_EQ(seen, std::vector<std::byte>(8, std::byte{0xff}));
}

TEST(Reference, RefusesAWrongSizeAndAWrongRank) {
  const Plan plan = plan_of(accumulate);
  const auto execution = *driver_named("reference")->prepare(plan, {});
  std::vector<std::byte> four(4);
  EXPECT_EQ(execution->write(0, BufferId{0}, four).problems()[0].code, "STV0801");
  EXPECT_EQ(execution->read(1, BufferId{0}, four).problems()[0].code, "STV0801");
}

TEST(Reference, AbortIsFinal) {
  const Plan plan = plan_of(accumulate);
  const auto execution = *driver_named("reference")->prepare(plan, {});
  execution->abort();
  EXPECT_EQ(execution->submit().problems()[0].code, "STV0806");
}

TEST(Reference, AHangNamesRankStreamCommandAndPeer) {
  const Plan plan = plan_of(R"(stave 1
mesh x = 2
func @sender(%a: in f32[2], %b: out f32[2]) {
  copy %a -> %b
  %t = async_start (stream = communication 3) {
    copy %a -> %b
    send %a (axis = x, peer = 1)
  }
  async_done %t
}
func @idle(%a: in f32[2]) {
}
entry @sender on 0
entry @idle on 1
)");
  const auto execution = *driver_named("reference")->prepare(plan, {});
  const Result<StepReport> report = run_step(*execution);
  ASSERT_TRUE(report);
  ASSERT_FALSE(report->finished());
  const Blocked& first = report->hang->blocked.at(0);
  EXPECT_EQ(first.rank, 0u);
  EXPECT_EQ(first.stream, (StreamRef{StreamRef::Kind::Communication, 3}));
  EXPECT_EQ(first.first_pending, "sender/send#1");
  EXPECT_EQ(first.last_done, "sender/copy#2");
  EXPECT_EQ(first.peer, std::optional<Rank>(1));
  EXPECT_FALSE(execution->submit());
}

// Two streams write one buffer without an order between them: some orders must differ, or
// the random schedule could not show that a schedule has no race.
TEST(Reference, RandomOrdersShowARace) {
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    const Plan plan = plan_of(R"(stave 1
func @f(%y: out s32[1]) {
  %a = async_start (stream = computation 0) {
    memset -> %y (value = s32 1)
  }
  %b = async_start (stream = computation 1) {
    memset -> %y (value = s32 2)
  }
  async_done %a
  async_done %b
}
)",
                              mode);
    bool seen[3] = {};
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
      PrepareOptions options;
      options.seed = seed;
      const auto execution = *driver_named("reference")->prepare(plan, options);
      ASSERT_TRUE(run_step(*execution));
      std::vector<std::byte> y(4);
      ASSERT_TRUE(execution->read(0, plan.classes[0].expanded.parameters[0], y));
      seen[load_signed(y, Dtype::S32, 0)] = true;
    }
    EXPECT_TRUE(seen[1] && seen[2]) << name_of(mode);
  }
}

TEST(Reference, ExecutionsAreCounted) {
  for (const Mode mode : {Mode::Eager, Mode::Captured, Mode::CapturedSerial}) {
    const Plan plan = plan_of(R"(stave 1
mesh x = 2
func @f(%a: inout f32[2]) {
  collective_group {
    all_reduce %a -> %a (axis = x, reduction = sum)
  }
  repeat (index = i, to = 3) {
    map %a -> %a (f = |a| a * 0.5)
  }
}
)",
                              mode);
    const auto execution = *driver_named("reference")->prepare(plan, {});
    const Result<StepReport> report = run_step(*execution);
    ASSERT_TRUE(report && report->finished());
    std::int64_t total = 0;
    for (const auto& rank : report->executed)
      for (const std::int64_t n : rank) total += n;
    EXPECT_EQ(total, 2 * (1 + 3)) << name_of(mode);  // the group counts as one
  }
}

TEST(DeviceBytes, RoundsEachBufferUpAndLeavesHostMemoryOut) {
  const Plan plan = plan_of(R"(stave 1
func @f(%a: in f32[65], %h: in host f32[64]) {
  %s = scratch u8[1]
  memzero -> %s
}
)");
  EXPECT_EQ(device_bytes(plan.classes[0].expanded), 512 + 256);
}

TEST(Communicator, DefaultsAndGroups) {
  const Plan plan = plan_of(R"(stave 1
mesh x = 2
func @f(%a: in f32[2], %b: out f32[2], %c: out f32[2], %d: out f32[2], %e: out f32[2]) {
  all_reduce %a -> %b (axis = x, reduction = sum)
  collective_permute %a -> %c (axis = x, shift = 1)
  collective_group {
    collective_permute %a -> %d (axis = x, shift = 1)
  }
  collective_group {
    all_reduce %a -> %e (axis = x, reduction = sum, communicator = 7)
  }
}
)");
  const Expanded& e = plan.classes[0].expanded;
  std::vector<std::int32_t> numbers;
  for (const CommandId id : e.regions[e.body].commands) numbers.push_back(communicator_of(e, id));
  EXPECT_EQ(numbers, (std::vector<std::int32_t>{0, 1, 0, 7}));
}

}  // namespace
}  // namespace stave
