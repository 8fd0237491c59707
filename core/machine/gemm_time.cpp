#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "core/machine/times.h"

namespace stave {
namespace {

// Constants of the tile model (docs/machines.md#gemm), fitted to 710 bf16
// products on H200 from NVIDIA aiconfigurator (Apache-2.0). They only shape the
// way between rows: the nearest rows of the machine's tables correct them.
constexpr double smoothing = 0.97;             // part of the last, partly filled wave that is hidden
constexpr double start_s = 1.95e-6;            // the smallest product
constexpr double prologue_s = 0.91e-6;         // first load of a tile
constexpr double memory_efficiency = 0.95;     // of the copy bandwidth
constexpr double l2_efficiency = 0.66;         // of the L2 bandwidth, operands that fit in it
constexpr double tensor_efficiency = 0.84;     // of the peak, inside a tile
constexpr double block_k = 64;                 // k elements of one shared-memory stage
constexpr double sm_load_bytes_per_s = 177e9;  // shared-memory fill of one SM
constexpr double long_slowdown = 0.47;         // power: how much longer an endless product takes ...
constexpr double long_s = 25e-3;               // ... and when half of that is reached

struct Tile {
  double rows, columns;
};
constexpr std::array<Tile, 7> tiles{{{256, 128}, {128, 256}, {128, 128}, {64, 256}, {64, 128}, {64, 64}, {128, 64}}};
constexpr std::array<double, 5> splits{{1, 2, 4, 8, 16}};

struct TimedProduct {
  double m, n, k;
  double element_bytes;
  int sm_count;

  double flops() const { return 2 * m * n * k; }
  double bytes() const { return (m * k + k * n + m * n) * element_bytes; }
};

TimedProduct product(std::int64_t m, std::int64_t n, std::int64_t k, int sm_count, double element_bytes) {
  return {static_cast<double>(m), static_cast<double>(n), static_cast<double>(k), element_bytes, sm_count};
}

double sms_of(const TableDevice& device, int sm_count) {
  return sm_count > 0 && sm_count < device.sm_count ? sm_count : device.sm_count;
}

double bound_seconds(const TableDevice& device, const TimedProduct& p) {
  const double compute = p.flops() / (device.flops_per_s / device.sm_count * sms_of(device, p.sm_count));
  // A product that runs again and again finds its operands in the L2.
  const double rate = p.bytes() <= device.l2_bytes ? std::max(device.l2_bytes_per_s, device.memory_peak_bytes_per_s)
                                                   : device.memory_peak_bytes_per_s;
  return std::max(compute, p.bytes() / rate);
}

double model_seconds(const TableDevice& device, const TimedProduct& p) {
  const double sms = sms_of(device, p.sm_count);
  const double sm_flops_per_s = tensor_efficiency * device.flops_per_s / device.sm_count;
  const double stages = std::ceil(p.k / block_k);
  double best = 0;
  for (const Tile& tile : tiles) {
    const double count = std::ceil(p.m / tile.rows) * std::ceil(p.n / tile.columns);
    const double multiply = 2 * tile.rows * tile.columns * block_k / sm_flops_per_s;
    const double load = (tile.rows + tile.columns) * block_k * p.element_bytes / sm_load_bytes_per_s;
    for (double split : splits) {
      const double share = std::ceil(stages / split);
      if (split > 1 && share < 4) break;
      const double filled = count * split / sms;
      const double waves = (1 - smoothing) * std::ceil(filled) + smoothing * std::max(filled, 1.0);
      double compute = waves * (share * std::max(multiply, load) + prologue_s);
      if (split > 1) compute += prologue_s + p.m * p.n * 4 * split / device.l2_bytes_per_s;
      if (best == 0 || compute < best) best = compute;
    }
  }
  const double memory = p.bytes() <= device.l2_bytes ? p.bytes() / (l2_efficiency * device.l2_bytes_per_s)
                                                     : p.bytes() / (memory_efficiency * device.memory_bytes_per_s);
  const double seconds = start_s + std::sqrt(best * best + memory * memory);
  return seconds * (1 + long_slowdown * seconds / (seconds + long_s));
}

// log2 with straight lines between powers of two: what the bits of an IEEE 754
// double say, exponent and mantissa read as one number.
double rough_log2(std::int64_t x) {
  const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(x));
  return static_cast<double>(static_cast<std::int64_t>(bits >> 12)) / 1099511627776.0 - 1023;  // 2^40
}

struct Point {
  double m, n, k;
};

Point point(std::int64_t m, std::int64_t n, std::int64_t k) { return {rough_log2(m), rough_log2(n), rough_log2(k)}; }

struct Near {
  double distance = 0;  // in doublings
  double farthest = 0;  // in doublings, of the worst dimension
  const GemmRow* row = nullptr;
};

Near near(const Point& a, const Point& b, const GemmRow& row) {
  const double m = std::abs(a.m - b.m), n = std::abs(a.n - b.n), k = std::abs(a.k - b.k);
  return {std::sqrt(m * m + n * n + k * k), std::max({m, n, k}), &row};
}

// [n, k] x [k, m] makes the transposed result with the same work: such a row
// counts, half a doubling further away.
constexpr double transposed_distance = 0.5;
constexpr std::size_t neighbours = 6;

struct Nearest {
  std::array<Near, neighbours> rows;
  std::size_t count = 0;

  void offer(const Near& candidate) {
    if (count == neighbours && !(candidate.distance < rows[count - 1].distance)) return;
    std::size_t at = count < neighbours ? count++ : count - 1;
    for (; at > 0 && candidate.distance < rows[at - 1].distance; --at) rows[at] = rows[at - 1];
    rows[at] = candidate;
  }
};

Nearest nearest_rows(const Table& table, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
  const Point here = point(m, n, k);
  const double sms = sms_of(table.device, sm_count);
  Nearest found;
  for (const GemmRow& row : table.gemm) {
    const Point there = point(row.m, row.n, row.k);
    Near candidate = near(here, there, row);
    Near transposed = near(here, {there.n, there.m, there.k}, row);
    transposed.distance += transposed_distance;
    if (transposed.distance < candidate.distance) candidate = transposed;
    // A row under another SM limit says less about this one: all SMs against none are four doublings.
    const double limits = std::abs(sms - sms_of(table.device, row.sm_count)) / table.device.sm_count;
    candidate.distance += 4 * limits;
    candidate.farthest = std::max(candidate.farthest, 4 * limits);
    found.offer(candidate);
  }
  return found;
}

// The exact row, in the product's own orientation before the transposed one.
const GemmRow* exact_row(const Table& table, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
  const double sms = sms_of(table.device, sm_count);
  const GemmRow* transposed = nullptr;
  for (const GemmRow& row : table.gemm) {
    if (row.k != k || sms_of(table.device, row.sm_count) != sms) continue;
    if (row.m == m && row.n == n) return &row;
    if (row.m == n && row.n == m && !transposed) transposed = &row;
  }
  return transposed;
}

// What the nearest rows took over what the model says of them.
double correction(const Table& table, const Nearest& nearest, double element_bytes) {
  double weights = 0, sum = 0;
  for (std::size_t i = 0; i < nearest.count; ++i) {
    const GemmRow& row = *nearest.rows[i].row;
    const double model = model_seconds(table.device, product(row.m, row.n, row.k, row.sm_count, element_bytes));
    const double d = nearest.rows[i].distance + 0.05;
    const double weight = 1 / (d * d * d);
    weights += weight;
    sum += weight * (static_cast<double>(row.time_ps) * 1e-12 / model);
  }
  return sum / weights;
}

// Capped at 100 days, within int64 picoseconds.
Picoseconds rounded(double seconds) { return picoseconds(std::min(seconds, 8.64e6)); }

// f16 and bf16 run at one rate on the same units.
bool same_unit(std::string_view a, std::string_view b) {
  const auto half = [](std::string_view d) { return d == "f16" || d == "bf16"; };
  return a == b || (half(a) && half(b));
}

}  // namespace

double bytes_per_element(std::string_view dtype) {
  if (dtype == "f64" || dtype == "s64" || dtype == "u64") return 8;
  if (dtype == "f16" || dtype == "bf16") return 2;
  if (dtype.starts_with("f8") || dtype == "s8" || dtype == "u8") return 1;
  return 4;
}

TableDevice table_device(const Machine& machine, std::string_view dtype) {
  const Device& d = machine.device;
  const auto rate = machine.tensor_rate(dtype);
  return {d.sm_count.value,
          rate ? rate->per_second : d.vector_flops_per_s.value,
          d.memory_bandwidth_bytes_per_s.value,
          d.memory_peak_bytes_per_s.value,
          d.l2_bytes.value,
          d.l2_bandwidth_bytes_per_s.value};
}

Picoseconds gemm_bound(const TableDevice& device, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count,
                       double element_bytes) {
  return rounded(bound_seconds(device, product(m, n, k, sm_count, element_bytes)));
}

Picoseconds gemm_model(const TableDevice& device, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count,
                       double element_bytes) {
  return rounded(model_seconds(device, product(m, n, k, sm_count, element_bytes)));
}

TimeEstimate gemm_time(const Machine& machine, std::string_view dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                       int sm_count) {
  const TableDevice device = table_device(machine, dtype);
  const TimedProduct here = product(m, n, k, sm_count, bytes_per_element(dtype));
  const double model = model_seconds(device, here);
  const double bound = bound_seconds(device, here);

  for (const Table& table : machine.tables) {
    if (table.op != "gemm" || !same_unit(table.dtype, dtype)) continue;
    const GemmRow* row = exact_row(table, m, n, k, sm_count);
    if (!row) continue;
    if (table.device == device) return {Picoseconds{row->time_ps}, table.source, false, true};
    const double there = model_seconds(table.device, here);
    const double seconds = static_cast<double>(row->time_ps) * 1e-12 * (model / there);
    return {rounded(std::max(seconds, bound)), table.source, false, false};
  }

  // The first table with rows within a third of a doubling; else the one with
  // the nearest row. Another dtype's rows serve only if this one has none.
  constexpr double close = 1.0 / 3;
  const Table* best = nullptr;
  Nearest best_rows;
  bool best_same = false;
  for (const Table& table : machine.tables) {
    if (table.op != "gemm" || table.gemm.empty()) continue;
    const bool same = same_unit(table.dtype, dtype);
    if (best && best_same && !same) continue;
    const Nearest rows = nearest_rows(table, m, n, k, sm_count);
    const bool nearer = !best || same != best_same || rows.rows[0].farthest < best_rows.rows[0].farthest;
    if (!nearer) continue;
    best = &table;
    best_rows = rows;
    best_same = same;
    if (same && rows.rows[0].farthest <= close) break;
  }
  if (!best)
    return {rounded(std::max(model, bound)), "assumed: the tile model without rows (docs/machines.md)", true, false};
  const double ratio = correction(*best, best_rows, bytes_per_element(best->dtype));
  return {rounded(std::max(model * ratio, bound)), best->source, !best_same || best_rows.rows[0].farthest > 1, false};
}

}  // namespace stave
