#include "simulator/energy.h"

#include <algorithm>
#include <cmath>

#include "simulator/demand_kernel.h"

namespace stave::simulator {
namespace {

// Assumed: no command takes more than 2^38 uJ, five minutes at 900 W, so that the sum of as many as a simulation keeps
// fits into 64 bits.
std::int64_t microjoules(double picojoules) { return std::llround(std::min(picojoules * 1e-6, 274877906944.0)); }

double product_rate(const Machine& machine, Dtype dtype) {
  const std::optional<FlopsPerSecond> rate = machine.tensor_rate(name_of(dtype));
  return rate ? rate->per_second : machine.device.vector_flops_per_s.value;
}

}  // namespace

// Assumed: at its full rate a product of any dtype draws what one of bf16 draws, which is measured.
std::int64_t product_energy_uj(const Machine& machine, Dtype dtype, double flops, double clock) {
  if (!machine.energy) return 0;
  const double as_bf16 = product_rate(machine, Dtype::BF16) / product_rate(machine, dtype);
  return microjoules(flops * machine.energy->gemm_pj_per_flop.value * as_bf16 * clock);
}

std::int64_t sent_energy_uj(const Machine& machine, double bytes, bool by_copy_engine) {
  if (!machine.energy) return 0;
  const EnergyCosts& energy = *machine.energy;
  return microjoules(bytes * (by_copy_engine ? energy.copy_engine_pj_per_byte : energy.collective_pj_per_byte).value);
}

// One that the memory holds up takes as long at a lower clock, down to where it no longer does.
Picoseconds product_time(const Machine& machine, Picoseconds time, Dtype dtype, double flops, double bytes,
                         double clock) {
  const double computing = flops / product_rate(machine, dtype) / clock;
  const double moving = bytes / machine.device.memory_bandwidth_bytes_per_s.value;
  return clock == 1 || computing < moving ? time : picoseconds(seconds_of(time) / clock);
}

}  // namespace stave::simulator
