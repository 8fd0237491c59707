#include "simulator/sms.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/simulator/h200.h"

namespace stave::simulator {
namespace {

TEST(Sms, AGemmCtaAndACollectiveCtaDoNotShareAnSm) {
  Sms sms(h200);
  EXPECT_EQ(sms.place(1, gemm, 132), 132u);
  EXPECT_EQ(sms.place(2, all_reduce, 24), 0u);
  sms.retire(1, gemm, 52);
  EXPECT_EQ(sms.place(2, all_reduce, 24), 24u);
  EXPECT_EQ(sms.place(3, gemm, 132), 28u);
}

// A grid limited to 116 SMs leaves room for 16 of 24 CTAs.
TEST(Sms, PlacesAsManyAsFit) {
  Sms sms(h200);
  EXPECT_EQ(sms.place(1, gemm, 116), 116u);
  EXPECT_EQ(sms.place(2, all_reduce, 24), 16u);
  sms.retire(1, gemm, 116);
  EXPECT_EQ(sms.place(2, all_reduce, 8), 8u);
  sms.retire(2, all_reduce, 24);
  EXPECT_TRUE(sms.idle());
}

TEST(Sms, SpreadsOverEmptySmsFirst) {
  Sms sms({4, 32, 2048, 65536, 233472});
  const Footprint small{256, 8192, 0};
  EXPECT_EQ(sms.place(1, small, 4), 4u);
  // One on each, so seven more fit on every SM.
  EXPECT_EQ(sms.place(2, {2048 - 256, 0, 0}, 5), 4u);
}

// Against counting SM by SM: never above what an SM has, everything comes back.
RC_GTEST_PROP(Sms, NeverOverfillsAndGivesEverythingBack, ()) {
  const SmShape shape{static_cast<std::uint32_t>(*rc::gen::inRange(1, 20)), 32, 2048, 65536, 233472};
  Sms sms(shape);
  std::map<std::uint32_t, std::pair<Footprint, std::uint32_t>> held;
  for (std::uint32_t owner = 0; owner < 12; ++owner) {
    const Footprint f{static_cast<std::uint32_t>(*rc::gen::inRange(1, 33)) * 32,
                      static_cast<std::uint32_t>(*rc::gen::inRange(0, 20000)),
                      static_cast<std::uint32_t>(*rc::gen::inRange(0, 100000))};
    const std::uint32_t placed = sms.place(owner, f, static_cast<std::uint32_t>(*rc::gen::inRange(1, 200)));
    held[owner] = {f, placed};
    std::uint64_t threads = 0, registers = 0, shared = 0;
    for (const auto& [o, what] : held) {
      RC_ASSERT(sms.resident(o) == what.second);
      threads += std::uint64_t{what.first.threads} * what.second;
      registers += std::uint64_t{what.first.registers} * what.second;
      shared += std::uint64_t{what.first.shared_bytes} * what.second;
    }
    RC_ASSERT(threads <= std::uint64_t{shape.threads} * shape.count);
    RC_ASSERT(registers <= std::uint64_t{shape.registers} * shape.count);
    RC_ASSERT(shared <= std::uint64_t{shape.shared_bytes} * shape.count);
    if (*rc::gen::arbitrary<bool>() && placed > 0) {
      const auto less = static_cast<std::uint32_t>(*rc::gen::inRange<std::uint32_t>(1, placed + 1));
      sms.retire(owner, f, less);
      held[owner].second -= less;
    }
  }
  for (const auto& [owner, what] : held) sms.retire(owner, what.first, what.second);
  RC_ASSERT(sms.idle());
  const Footprint one{2048, 0, 0};
  RC_ASSERT(sms.place(99, one, 1000) == shape.count);
}

}  // namespace
}  // namespace stave::simulator
