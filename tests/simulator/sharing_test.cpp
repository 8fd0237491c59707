#include "simulator/sharing.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace stave::simulator {
namespace {

double share(std::uint64_t rate) { return static_cast<double>(rate) / static_cast<double>(full_pace); }

struct System {
  explicit System(std::string_view model = "max-min") : sharing(*network_model_named(model)) {}

  std::uint32_t resource(ResourceKind kind = ResourceKind::Link) { return sharing.add_resource(kind); }
  std::uint32_t flow(std::vector<std::pair<std::uint32_t, double>> uses, std::uint64_t members = 1) {
    std::vector<Use> made;
    for (const auto& [resource, part] : uses) made.push_back({resource, amount_of(part)});
    const std::uint32_t id = sharing.open(made, 0);
    sharing.set_members(id, members * one_member);
    return id;
  }

  Sharing sharing;
};

// One flow alone: full rate, whatever it uses.
TEST(MaxMin, OneFlowRunsAtFullRate) {
  System s;
  const auto link = s.resource();
  const auto a = s.flow({{link, 1.0}});
  s.sharing.solve(0);
  EXPECT_EQ(s.sharing.rate(a), full_pace);
  EXPECT_EQ(s.sharing.load(link), whole);
}

// Two flows, one link: A + B <= 1. Expected: 1/2 each.
TEST(MaxMin, TwoFlowsHalveALink) {
  System s;
  const auto link = s.resource();
  const auto a = s.flow({{link, 1.0}});
  const auto b = s.flow({{link, 1.0}});
  s.sharing.solve(0);
  EXPECT_EQ(s.sharing.rate(a), full_pace / 2);
  EXPECT_EQ(s.sharing.rate(b), full_pace / 2);
}

// Relative: A wants all of the link, B three tenths. s + 0.3 s = 1. Expected: both at 1/1.3 of their own speed.
TEST(MaxMin, SlowsEachByItsOwnFactor) {
  System s;
  const auto link = s.resource();
  const auto a = s.flow({{link, 1.0}});
  const auto b = s.flow({{link, 0.3}});
  s.sharing.solve(0);
  EXPECT_NEAR(share(s.sharing.rate(a)), 1 / 1.3, 1e-8);
  EXPECT_EQ(s.sharing.rate(a), s.sharing.rate(b));
}

// A over L1 and L2, B over L1, C over L2 at 1/2: A + B <= 1, A + C/2 <= 1.
// Level 1/2 fills L1 (A = B = 1/2); C goes on to 1.
TEST(MaxMin, OthersRiseWhenABottleneckStopsOne) {
  System s;
  const auto l1 = s.resource(), l2 = s.resource();
  const auto a = s.flow({{l1, 1.0}, {l2, 1.0}});
  const auto b = s.flow({{l1, 1.0}});
  const auto c = s.flow({{l2, 0.5}});
  s.sharing.solve(0);
  EXPECT_EQ(s.sharing.rate(a), full_pace / 2);
  EXPECT_EQ(s.sharing.rate(b), full_pace / 2);
  EXPECT_EQ(s.sharing.rate(c), full_pace);
}

// A capped at 1/4, B free on the same link. Expected: 1/4 and 3/4.
TEST(MaxMin, ACapLeavesTheRestToOthers) {
  System s;
  const auto link = s.resource();
  const auto a = s.flow({{link, 1.0}});
  const auto b = s.flow({{link, 1.0}});
  s.sharing.set_cap(a, full_pace / 4);
  s.sharing.solve(0);
  EXPECT_EQ(s.sharing.rate(a), full_pace / 4);
  EXPECT_NEAR(share(s.sharing.rate(b)), 0.75, 1e-8);
}

// Ten members of one class on a link. Expected: 1/10 each; when nine leave, the last has all.
TEST(MaxMin, MembersOfAClassShareAlikeAndGiveBack) {
  System s;
  const auto link = s.resource();
  const auto a = s.flow({{link, 1.0}}, 10);
  s.sharing.solve(0);
  EXPECT_NEAR(share(s.sharing.rate(a)), 0.1, 1e-8);
  s.sharing.set_members(a, one_member);
  EXPECT_EQ(s.sharing.solve(1000).size(), 1u);
  EXPECT_EQ(s.sharing.rate(a), full_pace);
  EXPECT_NEAR(static_cast<double>(s.sharing.progress(a, 1000)), 100.0 * 4096, 2);
}

// alpha-beta never shares links; the memory of a device is shared in every model.
TEST(AlphaBeta, SharesNoLinkButTheMemory) {
  System s("alpha-beta");
  const auto link = s.resource(), memory = s.resource(ResourceKind::Memory);
  const auto a = s.flow({{link, 1.0}});
  const auto b = s.flow({{link, 1.0}});
  const auto c = s.flow({{memory, 1.0}});
  const auto d = s.flow({{memory, 1.0}});
  s.sharing.solve(0);
  EXPECT_EQ(s.sharing.rate(a), full_pace);
  EXPECT_EQ(s.sharing.rate(b), full_pace);
  EXPECT_EQ(s.sharing.rate(c), full_pace / 2);
  EXPECT_EQ(s.sharing.rate(d), full_pace / 2);
}

// In every model, whatever comes and goes: no shared resource is above its
// capacity, nobody stands still, nobody is above its cap. Max-min: whoever is
// below its cap uses a resource that is full.
RC_GTEST_PROP(Sharing, KeepsCapacitiesAndWastesNothing, ()) {
  System s;
  const auto resources = *rc::gen::inRange(1, 6);
  for (int i = 0; i < resources; ++i) s.resource();
  std::vector<std::uint32_t> flows;
  std::vector<std::vector<std::pair<std::uint32_t, double>>> uses;
  const auto steps = *rc::gen::inRange(1, 20);
  for (int i = 0; i < steps; ++i) {
    if (!flows.empty() && *rc::gen::inRange(0, 4) == 0) {
      const auto at = *rc::gen::inRange<std::size_t>(0, flows.size());
      s.sharing.close(flows[at]);
      flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(at));
      uses.erase(uses.begin() + static_cast<std::ptrdiff_t>(at));
    } else {
      std::vector<std::pair<std::uint32_t, double>> of;
      for (int r = 0; r < resources; ++r)
        if (*rc::gen::arbitrary<bool>()) of.emplace_back(r, *rc::gen::inRange(1, 101) / 100.0);
      flows.push_back(s.flow(of, static_cast<std::uint64_t>(*rc::gen::inRange(1, 5))));
      uses.push_back(of);
      if (*rc::gen::arbitrary<bool>()) s.sharing.set_cap(flows.back(), full_pace / 3);
    }
    s.sharing.solve(i);
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(resources); ++r) RC_ASSERT(s.sharing.load(r) <= whole);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      const std::uint64_t rate = s.sharing.rate(flows[f]);
      RC_ASSERT(rate > 0u);
      RC_ASSERT(rate <= full_pace);
      if (rate == full_pace || rate == full_pace / 3) continue;
      bool full = false;
      for (const auto& [r, part] : uses[f]) full = full || s.sharing.load(r) > whole - 1000;
      RC_ASSERT(full);
    }
  }
}

// The rates follow from who is there, not from the order in which they came.
RC_GTEST_PROP(Sharing, DoesNotDependOnTheOrderOfArrival, ()) {
  const auto n = *rc::gen::inRange<std::size_t>(1, 8);
  std::vector<std::vector<std::pair<std::uint32_t, double>>> uses(n);
  for (auto& of : uses)
    for (std::uint32_t r = 0; r < 3; ++r)
      if (*rc::gen::arbitrary<bool>()) of.emplace_back(r, *rc::gen::inRange(1, 11) / 10.0);
  System forward, backward;
  for (int r = 0; r < 3; ++r) {
    forward.resource();
    backward.resource();
  }
  std::vector<std::uint32_t> a(n), b(n);
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = forward.flow(uses[i]);
    forward.sharing.solve(0);
  }
  for (std::size_t i = n; i-- > 0;) b[i] = backward.flow(uses[i]);
  backward.sharing.solve(0);
  for (std::size_t i = 0; i < n; ++i) RC_ASSERT(forward.sharing.rate(a[i]) == backward.sharing.rate(b[i]));
}

}  // namespace
}  // namespace stave::simulator
