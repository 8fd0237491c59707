#include "workbench/templates.h"

namespace stave {

std::span<const Template> templates() {
  static constexpr Template table[] = {
      {"ring-matmul", "all-gather and matmul around a ring: communication behind gemms", R"stave(stave 1
mesh x = 2
param m = 4096
param k = 8192
param n = 4096

// C = AllGather(A) x B: shift s hides behind gemm s - 1; two ping-pong buffers.
func @ring_matmul(%a: in bf16[m, k], %b: in bf16[k, n], %c: out bf16[m * axis_size(x), n]) {
  %ring = scratch bf16[2, m, k]
  when (test = 1 < axis_size(x)) {
    %shift[1] = async_start (stream = communication 0) {
      collective_permute %a -> %ring[0] (axis = x, shift = 1)
    }
  }
  when (test = 2 < axis_size(x)) {
    %shift[2] = async_start (stream = communication 0) {
      collective_permute %ring[0] -> %ring[1] (axis = x, shift = 1)
    }
  }
  gemm %a, %b -> %c[axis_index(x) * m : +m]
  repeat (index = s, from = 1, to = axis_size(x)) {
    async_done %shift[s]
    gemm %ring[(s - 1) mod 2], %b -> %c[((axis_index(x) - s) mod axis_size(x)) * m : +m]
    when (test = s + 2 < axis_size(x)) {
      %shift[s + 2] = async_start (stream = communication 0) {
        collective_permute %ring[s mod 2] -> %ring[(s + 1) mod 2] (axis = x, shift = 1)
      }
    }
  }
}
)stave"},
      {"all-gather-matmul", "an all-gather, then one gemm", R"stave(stave 1
mesh x = 2
param m = 4096
param k = 8192
param n = 4096

// C = AllGather(A) x B, one after the other: what the ring is compared with.
func @all_gather_matmul(%a: in bf16[m, k], %b: in bf16[k, n], %c: out bf16[m * axis_size(x), n]) {
  %whole = scratch bf16[m * axis_size(x), k]
  all_gather %a -> %whole (axis = x)
  gemm %whole, %b -> %c
}
)stave"},
      {"two-streams", "independent work on two streams", R"stave(stave 1

// Two independent pieces of work on two streams, joined at the end.
func @concurrent_branches(%a: in f32[8], %b: in f32[8], %exp_a: out f32[8], %cos_b: out f32[8]) {
  %left = async_start (stream = computation 0) {
    map %a -> %exp_a (f = |x| exp(x))
  }
  %right = async_start (stream = computation 1) {
    map %b -> %cos_b (f = |x| cos(x))
  }
  async_done %left
  async_done %right
}
)stave"},
      {"device-loop", "a loop whose end is decided in device memory", R"stave(stave 1

// A loop on the device: doubles %value until %left is zero. For prediction, ten
// iterations are assumed.
func @power_of_two_loop(%left: inout s32[], %value: inout f32[]) {
  %more = scratch bool[]
  // allow STV1046: meant for --mode captured, where the loop runs on the device alone
  while %more (cost = {trips = 10}) condition {
    map %left -> %more (f = |n| n > 0)
  } body {
    map %left -> %left (f = |n| n - 1)
    map %value -> %value (f = |v| v * 2.0)
  }
}
)stave"},
  };
  return table;
}

}  // namespace stave
