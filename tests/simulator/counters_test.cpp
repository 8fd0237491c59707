// What a device's counters say adds up to what ran on it.
#include <gtest/gtest.h>

#include "tests/simulator/schedule.h"

namespace stave {
namespace {

Prediction predicted(const std::string& text, int devices, Mode mode = Mode::Eager) {
  const Result<Plan> plan = plan_of(text, mode);
  EXPECT_TRUE(plan) << to_text(plan.problems()[0]);
  SimulateOptions options;
  options.counters = true;
  Result<Prediction> prediction = simulate(*plan, plain_machine(devices), options);
  EXPECT_TRUE(prediction) << to_text(prediction.problems()[0]);
  return *std::move(prediction);
}

struct Area {
  double integral = 0;  // value times seconds
  double most = 0, last = 0;
  std::size_t samples = 0;
};

Area area_of(const Timeline& timeline, std::uint32_t rank, std::string_view name) {
  Area area;
  const CounterSample* before = nullptr;
  for (const CounterSample& sample : timeline.counters()) {
    const Track& track = timeline.track(sample.track);
    if (track.rank != rank || track.name != name) continue;
    if (before != nullptr) {
      EXPECT_GT(sample.time, before->time) << name;
      EXPECT_NE(sample.value, before->value) << name;
      area.integral += before->value * static_cast<double>((sample.time - before->time).count()) * 1e-12;
    }
    area.most = std::max(area.most, sample.value);
    area.last = sample.value;
    ++area.samples;
    before = &sample;
  }
  return area;
}

const std::string shift = R"(stave 1
mesh x = 2
func @f(%a: in u8[100000000], %b: out u8[100000000]) {
  collective_permute %a -> %b (axis = x, shift = 1, algorithm = copy_engine)
}
)";

TEST(SimulatedCounters, ALinkCarriesTheBytesThatWereSent) {
  const Prediction p = predicted(shift, 2);
  for (const std::uint32_t rank : {0U, 1U}) {
    const Area link = area_of(p.timeline, rank, "link bandwidth out");
    EXPECT_NEAR(link.integral, 1e8, 1e5) << rank;
    EXPECT_NEAR(link.most, 100e9, 1e6);
    EXPECT_EQ(link.last, 0);
    // A copy engine takes no SM.
    EXPECT_EQ(area_of(p.timeline, rank, "SMs held").most, 0);
  }
}

TEST(SimulatedCounters, ACollectiveOfKernelsHoldsAnSmForEachChannel) {
  std::string text = shift;
  text.erase(text.find(", algorithm = copy_engine"), std::string(", algorithm = copy_engine").size());
  const Prediction p = predicted(text, 2);
  const Area sms = area_of(p.timeline, 0, "SMs held");
  EXPECT_EQ(sms.most, 4);
  EXPECT_EQ(sms.last, 0);
}

// A machine without `use` rows: the bytes once over the memory (docs/models.md, "Sharing").
TEST(SimulatedCounters, MemoryMovesTheBytesOfACopy) {
  const Prediction p = predicted(R"(stave 1
func @f(%a: in u8[100000000], %b: out u8[100000000]) {
  copy %a -> %b
}
)",
                                 1);
  const Area memory = area_of(p.timeline, 0, "memory bandwidth");
  EXPECT_NEAR(memory.integral, 1e8, 1e6);
  EXPECT_LE(memory.most, 1e12 * 1.0001);
  EXPECT_EQ(memory.last, 0);
}

TEST(SimulatedCounters, AreThereOnlyWhenAsked) {
  const Result<Plan> plan = plan_of(shift);
  ASSERT_TRUE(plan);
  const Result<Prediction> without = simulate(*plan, plain_machine(2));
  ASSERT_TRUE(without);
  EXPECT_TRUE(without->timeline.counters().empty());
  // And nothing else differs by them.
  const Prediction with = predicted(shift, 2);
  ASSERT_EQ(with.timeline.slices().size(), without->timeline.slices().size());
  for (std::size_t i = 0; i < with.timeline.slices().size(); ++i)
    EXPECT_EQ(with.timeline.slices()[i].start, without->timeline.slices()[i].start);
}

}  // namespace
}  // namespace stave
