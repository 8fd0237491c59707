// How long a machine's tables say that a product or a collective takes, alone.
// Only + - * / sqrt and comparisons: the same bytes everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/machine/machine.h"

namespace stave {

struct TimeEstimate {
  Picoseconds time{};
  // Of the table, or the formula, that the time comes from.
  std::string source;
  // No row is near: the nearest rows are further than a factor of two in some
  // dimension, or there is none and a formula stands in.
  bool extrapolated = false;
  // The time is a row of a table.
  bool exact = false;
};

// A row-major product [m, k] x [k, n] of `dtype` on at most `sm_count` SMs (0:
// all). m, n, k > 0. It looks at every row: callers keep the answer for a shape.
// The formula is in docs/machines.md#gemm.
TimeEstimate gemm_time(const Machine& machine, std::string_view dtype, std::int64_t m, std::int64_t n, std::int64_t k,
                       int sm_count = 0);

// What no product can beat: max(flops / tensor peak, operand bytes / data-sheet
// bandwidth), or the L2's bandwidth where the operands fit in it.
// `element_bytes` is the operands' and the result's.
Picoseconds gemm_bound(const TableDevice& device, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count,
                       double element_bytes);
// The tile model that rows are held against: estimates between rows are this, scaled by what the nearest rows took.
Picoseconds gemm_model(const TableDevice& device, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count,
                       double element_bytes);
// The numbers of `machine` that products of `dtype` depend on.
TableDevice table_device(const Machine& machine, std::string_view dtype);
double bytes_per_element(std::string_view dtype);

// Collectives. `bytes` is, as nccl-tests counts: the buffer of a rank for
// all_reduce, broadcast and collective_permute; the whole result of all_gather;
// the whole input of a rank for reduce_scatter and all_to_all.
//   wire_bytes: what one rank sends, which is also what it receives.
//     all_reduce 2(n-1)/n, all_gather reduce_scatter all_to_all (n-1)/n, else 1
//   ring_steps: all_reduce 2(n-1); collective_permute all_to_all 1; else n-1
double wire_bytes(std::string_view op, int ranks, double bytes);
int ring_steps(std::string_view op, int ranks);

struct CollectiveEstimate {
  Picoseconds latency{};   // before data flows at full rate: takes no link
  Picoseconds transfer{};  // the rest; shrinks and stretches with the link's rate
  std::string source;
  bool extrapolated = false;  // other ranks, other bytes or a formula

  Picoseconds time() const { return latency + transfer; }
};

// Device time of one collective, all ranks ready and its CTAs resident. It is
// the same eager and captured; what differs is host.collective_launch_ps. An
// error (STV0612) if the machine has no [[collective]] of this op and algorithm.
Result<CollectiveEstimate> collective_time(const Machine& machine, std::string_view op, int ranks, Bytes bytes,
                                           std::string_view algorithm = "ring");

}  // namespace stave
