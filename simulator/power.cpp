#include "simulator/power.h"

#include <algorithm>

#include "simulator/demand_kernel.h"

namespace stave {
namespace {

using simulator::seconds_of;

constexpr double least_clock = 1.0 / 3;
constexpr double close_enough = 1e-3;
constexpr int most_predictions = 5;

double joules(std::int64_t microjoules) { return static_cast<double>(microjoules) * 1e-6; }

// Between two predictions the makespan is taken to be fixed + part / clock.
struct Makespan {
  double fixed_s = 0, clocked_s = 0;
};

// Where idling + (products * clock + transfers) / makespan is the limit; power only falls with the clock.
double clock_at_limit(double idle_w, double limit_w, const RankEnergy& full, const Makespan& makespan) {
  const auto above = [&](double clock) {
    const double work_j = joules(full.products_uj) * clock + joules(full.transfers_uj);
    return work_j > (limit_w - idle_w) * (makespan.fixed_s + makespan.clocked_s / clock);
  };
  double low = least_clock, high = 1;
  if (!above(high)) return high;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (above(middle) ? high : low) = middle;
  }
  return low;
}

const RankEnergy& most(const std::vector<RankEnergy>& ranks) {
  return *std::max_element(ranks.begin(), ranks.end(), [](const RankEnergy& a, const RankEnergy& b) {
    return a.products_uj + a.transfers_uj < b.products_uj + b.transfers_uj;
  });
}

}  // namespace

std::optional<double> average_power_w(const Machine& machine, const PredictionSummary& predicted) {
  if (!machine.energy || predicted.rank_energy.empty() || predicted.makespan.count() <= 0) return std::nullopt;
  const RankEnergy& energy = most(predicted.rank_energy);
  return machine.energy->idle_w.value +
         joules(energy.products_uj + energy.transfers_uj) / seconds_of(predicted.makespan);
}

Result<double> sustained_clock(const Plan& plan, const Machine& machine, const SimulateOptions& options,
                               const PredictionSummary& full) {
  if (!machine.energy)
    return error_at({.file = machine.file}, "STV0862",
                    "machine '{}' has no [energy], so that how far its clock falls under load is not known",
                    machine.name);
  const std::optional<double> power = average_power_w(machine, full);
  const double limit = machine.device.power_limit_w.value;
  if (!power || *power <= limit) return 1.0;
  const RankEnergy& energy = most(full.rank_energy);
  const double at_full = seconds_of(full.makespan);
  double clock = clock_at_limit(machine.energy->idle_w.value, limit, energy, {0, at_full});
  SimulateOptions quick = options;
  quick.all_ranks = quick.host_slices = quick.counters = false;
  for (int i = 0; i < most_predictions; ++i) {
    quick.clock = clock;
    NullSink sink;
    TRY(const PredictionSummary slower, simulate(plan, machine, quick, sink));
    if (slower.cancelled || slower.deadlock) return clock;
    const double clocked = std::max((seconds_of(slower.makespan) - at_full) / (1 / clock - 1), 0.0);
    const double next = clock_at_limit(machine.energy->idle_w.value, limit, energy, {at_full - clocked, clocked});
    const bool done = std::max(next - clock, clock - next) < close_enough;
    clock = next;
    if (done) break;
  }
  return clock;
}

Result<Prediction> simulate_sustained(const Plan& plan, const Machine& machine, SimulateOptions& options) {
  options.clock = 1;
  TRY(Prediction prediction, simulate(plan, machine, options));
  if (prediction.summary.cancelled || prediction.summary.deadlock) return prediction;
  if (options.progress) options.progress->begin("looking for the clock");
  TRY(options.clock, sustained_clock(plan, machine, options, prediction.summary));
  if (options.clock == 1) return prediction;
  return simulate(plan, machine, options);
}

}  // namespace stave
