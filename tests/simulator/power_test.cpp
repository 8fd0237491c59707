#include "simulator/power.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/simulator/random_schedule.h"

namespace stave {
namespace {

// 100 W idle of 700 W, 10 pJ a flop, 1000 and 500 pJ a byte.
Machine with_energy(int devices) {
  Machine m = plain_machine(devices);
  EnergyCosts& energy = m.energy.emplace();
  energy.idle_w.value = 100;
  energy.gemm_pj_per_flop.value = 10;
  energy.collective_pj_per_byte.value = 1000;
  energy.copy_engine_pj_per_byte.value = 500;
  return m;
}

struct Kept {
  PredictionSummary full, slower;
  double clock = 0;
};

Kept kept(const std::string& text, const Machine& machine) {
  const Result<Plan> plan = plan_of(text, Mode::Captured);
  EXPECT_TRUE(plan) << text;
  Kept out;
  out.full = simulate(*plan, machine)->summary;
  const Result<double> clock = sustained_clock(*plan, machine, {}, out.full);
  EXPECT_TRUE(clock);
  out.clock = *clock;
  out.slower = simulate(*plan, machine, {.clock = *clock})->summary;
  return out;
}

std::string product(int m, int n, int k) {
  return fmt::format(
      "stave 1\nmesh x = 1\nfunc @f(%a: in bf16[{}, {}], %b: in bf16[{}, {}], %c: out bf16[{}, {}]) {{\n"
      "  gemm %a, %b -> %c\n}}\n",
      m, k, k, n, m, n);
}

TEST(Power, OfAProductIsItsFlopsOverItsTime) {
  const Machine machine = with_energy(1);
  const Kept k = kept(product(8192, 8192, 8192), machine);
  const double flops = 2.0 * 8192 * 8192 * 8192;
  ASSERT_EQ(k.full.rank_energy.size(), 1U);
  EXPECT_EQ(k.full.rank_energy[0], (RankEnergy{std::llround(10e-6 * flops), 0}));
  const double seconds = static_cast<double>(k.full.makespan.count()) * 1e-12;
  EXPECT_NEAR(*average_power_w(machine, k.full), 100 + 10 * flops * 1e-12 / seconds, 1e-3);
}

// Alone it takes 1 / clock as long and clock times the energy: (power - idle) falls with the square of the clock.
TEST(Power, AProductAloneKeepsTheRootOfWhatIsAllowed) {
  const Machine machine = with_energy(1);
  const Kept k = kept(product(8192, 8192, 8192), machine);
  const double power = *average_power_w(machine, k.full);
  ASSERT_GT(power, 700);
  EXPECT_NEAR(k.clock, std::sqrt((700 - 100) / (power - 100)), 1e-3);
  EXPECT_NEAR(*average_power_w(machine, k.slower), 700, 2);
  EXPECT_NEAR(static_cast<double>(k.slower.makespan.count()) * k.clock, static_cast<double>(k.full.makespan.count()),
              1e-3 * static_cast<double>(k.full.makespan.count()));
}

TEST(Power, BelowTheLimitTheClockIsFull) {
  Machine machine = with_energy(1);
  machine.device.power_limit_w.value = 2000;
  EXPECT_EQ(kept(product(8192, 8192, 8192), machine).clock, 1);
}

TEST(Power, TheClockNeverFallsBelowAThird) {
  Machine machine = with_energy(1);
  machine.device.power_limit_w.value = 101;
  EXPECT_NEAR(kept(product(8192, 8192, 8192), machine).clock, 1.0 / 3, 1e-9);
}

// 2 * 8192 * 16384 flops take 0.3 us at 1e15 a second, 268 MB take 268 us at 1e12 bytes a second.
TEST(Power, WhatTheMemoryHoldsUpDoesNotFollowTheClock) {
  const Result<Plan> plan = plan_of(product(1, 8192, 16384), Mode::Captured);
  const Machine machine = with_energy(1);
  EXPECT_EQ(simulate(*plan, machine, {.clock = 0.5})->summary.makespan, simulate(*plan, machine)->summary.makespan);
}

TEST(Power, OnlyWhoSendsPays) {
  const auto energy_of = [](std::string_view algorithm) {
    const std::string text = fmt::format(
        "stave 1\nmesh x = 2\nfunc @f(%a: in u8[1000000], %b: out u8[1000000]) {{\n"
        "  collective_permute %a -> %b (axis = x, pairs = [0 -> 1]{})\n}}\n",
        algorithm);
    const Result<Plan> plan = plan_of(text, Mode::Captured);
    EXPECT_TRUE(plan) << (plan ? "" : to_text(plan.problems()[0]));
    return simulate(*plan, with_energy(2))->summary.rank_energy;
  };
  EXPECT_EQ(energy_of(""), (std::vector{RankEnergy{0, 1000}, RankEnergy{}}));
  EXPECT_EQ(energy_of(", algorithm = copy_engine"), (std::vector{RankEnergy{0, 500}, RankEnergy{}}));
}

TEST(Power, AMachineWithoutEnergyDoesNotSay) {
  const Machine machine = plain_machine(1);
  const Result<Plan> plan = plan_of(product(512, 512, 512), Mode::Captured);
  const PredictionSummary full = simulate(*plan, machine)->summary;
  EXPECT_EQ(average_power_w(machine, full), std::nullopt);
  const Result<double> clock = sustained_clock(*plan, machine, {}, full);
  ASSERT_FALSE(clock);
  EXPECT_EQ(clock.problems()[0].code, "STV0862");
}

RC_GTEST_PROP(Power, EqualRanksDrawTheSame, ()) {
  const int ranks = *rc::gen::inRange(1, 4);
  Machine machine = busy_machine(ranks);
  machine.energy = with_energy(1).energy;
  const Result<Plan> plan = plan_of(random_schedule(ranks), *rc::gen::element(Mode::Eager, Mode::Captured));
  RC_ASSERT(static_cast<bool>(plan));
  const Result<Prediction> folded = simulate(*plan, machine);
  const Result<Prediction> apart = simulate(*plan, machine, {.fold = false});
  RC_ASSERT(folded && apart);
  RC_ASSERT(folded->summary.rank_energy == apart->summary.rank_energy);
}

}  // namespace
}  // namespace stave
