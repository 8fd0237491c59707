// What the demands of different ops have in common: kernels that are bound by
// memory, copies, tiles of a product, and what a command takes from each resource.
#pragma once

#include <initializer_list>

#include "simulator/demand.h"

namespace stave::simulator {

// What a command moves and computes.
struct Amounts {
  double bytes = 0;
  double wire_bytes = 0;
  double flops = 0;
};
struct TileShape {
  std::int64_t rows = 256, columns = 128;
};

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
inline double seconds_of(Picoseconds t) { return static_cast<double>(t.count()) * 1e-12; }

// The machine's shape of a kernel family, or that of a plain elementwise kernel (assumed).
const KernelShape& shape_of(const Machine& machine, std::string_view family);
Footprint footprint_of(const Machine& machine, double threads, double registers_per_thread, double shared_bytes);

std::int64_t bytes_of(const Expanded& expanded, IdRange<View> views);
std::int64_t all_bytes(const DemandOf& context);
// Of the largest view.
std::int64_t elements_of(const DemandOf& context, IdRange<View> views);

const Cost& cost_of(const DemandOf& context);
// What the schedule's writer says goes before the model.
void override_with(const Cost& cost, Demand& demand);
// The schedule's cost, then how many CTAs are resident at a time.
void finish_kernel(const DemandOf& context, Demand& demand);

// The machine's coefficients where it has them; else bytes of memory once, and
// wire bytes of the link once in each direction.
void add_uses(const DemandOf& context, Demand& demand, std::initializer_list<std::string_view> names,
              const Amounts& amounts);

// A kernel that is bound by memory: its minimum, then bytes at the bandwidth that
// its family reaches; the L2's where all of them fit in it.
// `bytes` counts reads and writes.
Demand memory_kernel(const DemandOf& context, std::string_view name, std::string_view family, std::int64_t elements,
                     std::int64_t bytes, double flops);

// To and from pinned host memory on a copy engine: latency + bytes / bandwidth.
Demand host_copy(const DemandOf& context, bool to_host);

// The tile that fills a stage of the pipeline soonest over all waves: waves x
// (rows + columns). Candidates: the machine's tile, its transpose, 5/4 as long,
// and halves down to 64. Chosen because it gives the grids of cuBLAS on H200 for
// the products of 132 CTAs that were recorded (docs/models.md#gemm).
TileShape gemm_tile(const KernelShape& shape, std::int64_t m, std::int64_t n, std::int64_t batch, std::int64_t ctas);

}  // namespace stave::simulator
