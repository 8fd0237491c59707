// What commands draw beside idling, and how products follow the clock (docs/models.md, "Clock and power"). `clock` is a
// part of the full one. Energies are microjoules, zero where the machine has no [energy].
#pragma once

#include <cstdint>

#include "core/ir/dtype.h"
#include "core/machine/machine.h"

namespace stave::simulator {

std::int64_t product_energy_uj(const Machine& machine, Dtype dtype, double flops, double clock);
// Of the bytes that one rank sends.
std::int64_t sent_energy_uj(const Machine& machine, double bytes, bool by_copy_engine);

// A product that takes `time` at full clock.
Picoseconds product_time(const Machine& machine, Picoseconds time, Dtype dtype, double flops, double bytes,
                         double clock);

}  // namespace stave::simulator
