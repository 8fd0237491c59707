#include "simulator/bound.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/simulator/random_schedule.h"

namespace stave {
namespace {

struct Bounded {
  Picoseconds makespan{};
  Bound bound;
};

Bounded bounded(const std::string& text, const Machine& machine, Mode mode = Mode::Eager,
                const SimulateOptions& options = {}) {
  const Result<Plan> plan = plan_of(text, mode);
  if (!plan) {
    ADD_FAILURE() << to_text(plan.problems().front(), text);
    return {};
  }
  const Result<Prediction> predicted = simulate(*plan, machine, options);
  const Result<std::optional<Bound>> bound = bound_of(*plan, machine, options);
  if (!predicted || !bound || !*bound) {
    ADD_FAILURE() << text;
    return {};
  }
  return {predicted->summary.makespan, **bound};
}

// Two commands, each on a stream of its own.
std::string side_by_side(std::string_view kind, std::string_view first, std::string_view second) {
  return fmt::format(R"(stave 1
mesh x = 2
source @s = ptx "k"
func @f(%s: in u8[1000000], %d: out u8[1000000], %e: out u8[1000000], %h: in host u8[1000000],
    %g: out host u8[1000000], %a: inout f32[4]) {{
  %t = async_start (stream = {0} 0) {{
    {1}
  }}
  %u = async_start (stream = {0} 1) {{
    {2}
  }}
  async_done %t
  async_done %u
}}
)",
                     kind, first, second);
}

std::string timed(int ps, int ctas) {
  return fmt::format("custom_call %a -> %a (target = \"t\", cost = {{time = {}, ctas = {}, tiles = {}}})", ps, ctas,
                     ctas);
}

TEST(Bound, OfAChainIsTheChain) {
  const Bounded b = bounded("stave 1\nmesh x = 1\nfunc @f(%a: inout f32[4]) {\n" + timed(1000, 1) + "\n" +
                                timed(2000, 10) + "\n" + timed(3000, 1) + "\n}\n",
                            plain_machine(1));
  EXPECT_EQ(b.bound.time.count(), 6000);
  EXPECT_EQ(b.bound.by, "longest chain");
  EXPECT_EQ(b.makespan, b.bound.time);
}

// The machine has ten SMs; a CTA of these kernels takes one whole.
TEST(Bound, OfKernelsThatWantAllSmsIsTheirSum) {
  const auto kernel = [](int ps, int ctas) {
    return fmt::format(
        "kernel %a -> %a (source = @s, entry = \"k\", grid = [{}, 1, 1], block = [1024, 1, 1], shared_memory = 200000, "
        "cost = {{time = {}}})",
        ctas, ps);
  };
  const Bounded wide = bounded(side_by_side("computation", kernel(7000, 10), kernel(2000, 10)), plain_machine(2));
  EXPECT_EQ(wide.bound.time.count(), 9000);
  EXPECT_EQ(wide.bound.by, "SMs of rank 0");
  EXPECT_EQ(wide.makespan, wide.bound.time);
  const Bounded narrow = bounded(side_by_side("computation", kernel(7000, 4), kernel(2000, 4)), plain_machine(2));
  EXPECT_EQ(narrow.bound.time.count(), 7000);
  EXPECT_EQ(narrow.bound.by, "longest chain");
  EXPECT_EQ(narrow.makespan, narrow.bound.time);
}

// 1 MB at 100 GB/s takes 10 us, both ways at once; two in one direction 20 us.
TEST(Bound, OfTransfersOnOneLinkIsTheirSum) {
  const std::string text =
      side_by_side("communication", "collective_permute %s -> %d (axis = x, shift = 1, communicator = 1)",
                   "collective_permute %s -> %e (axis = x, shift = 1, communicator = 2)");
  const Bounded b = bounded(text, plain_machine(2));
  EXPECT_NEAR(static_cast<double>(b.bound.time.count()), 20e6, 5);
  EXPECT_EQ(b.bound.by, "links out of rank 0");
  SimulateOptions never_shared;
  never_shared.network_model = "alpha-beta";
  const Bounded apart = bounded(text, plain_machine(2), Mode::Eager, never_shared);
  EXPECT_NEAR(static_cast<double>(apart.bound.time.count()), 10e6, 5);
  EXPECT_EQ(apart.bound.by, "longest chain");
}

TEST(Bound, OfCopiesOnOneEngineIsTheirSum) {
  Machine machine = plain_machine(2);
  machine.device.copy_engines.value = 1;
  // In and out: each way of PCIe is used once.
  const std::string both = side_by_side("computation", "copy %h -> %d", "copy %s -> %g");
  const Bounded b = bounded(both, machine);
  EXPECT_EQ(b.bound.by, "copy engines of rank 0");
  EXPECT_NEAR(static_cast<double>(b.bound.time.count()), 40e6, 5);
  machine.device.copy_engines.value = 2;
  EXPECT_NEAR(static_cast<double>(bounded(both, machine).bound.time.count()), 20e6, 5);
}

// Two CTAs of the one and one of the other fit on an SM together: each SM does both at once.
TEST(Bound, OfKernelsThatShareSmsIsNotTheirSum) {
  const auto kernel = [](int ctas, int threads, int shared_bytes) {
    return fmt::format(
        "kernel %a -> %a (source = @s, entry = \"k\", grid = [{}, 1, 1], block = [{}, 1, 1], shared_memory = {}, "
        "cost = {{time = 1000}})",
        ctas, threads, shared_bytes);
  };
  const Bounded b = bounded(side_by_side("computation", kernel(20, 960, 0), kernel(10, 64, 118784)), plain_machine(2));
  EXPECT_EQ(b.makespan.count(), 1000);
  EXPECT_EQ(b.bound.time.count(), 1000);
  EXPECT_EQ(b.bound.by, "longest chain");
}

// 81 tiles on 80 slots: alone the last tile runs 1.54 times as fast, all in 1 + 1 / 1.54 of a tile's time. With fewer
// slots at a time every CTA is as fast as that, so that the tiles may take less beside another kernel than alone.
TEST(Bound, OfAKernelWithATailIsBelowItsTimeAlone) {
  const std::string text =
      "stave 1\nmesh x = 1\nfunc @f(%a: inout f32[4]) {\n  custom_call %a -> %a (target = \"t\", "
      "cost = {time = 1000000, ctas = 81, tiles = 81})\n}\n";
  const Bounded b = bounded(text, plain_machine(1));
  EXPECT_NEAR(static_cast<double>(b.makespan.count()), 1e6, 5);
  const double tile = 1e6 / (1 + 1 / 1.54);
  EXPECT_NEAR(static_cast<double>(b.bound.time.count()), std::max(tile * 81 / 80, tile * 2 / 1.54), 20);
}

// What rounding explains: uses are rounded up, to 2^-30 of a capacity.
RC_GTEST_PROP(Bound, IsBelowEveryPrediction, ()) {
  const int ranks = *rc::gen::inRange(1, 4);
  const std::string text = random_schedule(ranks);
  SimulateOptions unfolded;
  unfolded.fold = false;
  for (const Mode mode : {Mode::Eager, Mode::Captured}) {
    const Bounded b = bounded(text, busy_machine(ranks), mode);
    RC_ASSERT(b.bound.time.count() > 0);
    RC_ASSERT(b.bound.time.count() <= b.makespan.count() + b.makespan.count() / 1000000 + 1);
    const Bounded apart = bounded(text, busy_machine(ranks), mode, unfolded);
    RC_ASSERT(apart.bound.time == b.bound.time);
    RC_ASSERT(apart.bound.by == b.bound.by);
  }
}

}  // namespace
}  // namespace stave
