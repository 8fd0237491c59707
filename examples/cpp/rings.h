// C = AllGather(A) x B without waiting for the whole gather: while a GEMM works on
// one block of A, the next one travels around the ring. Both schedules hold for a
// ring of any size.
#pragma once

#include "core/ir/builder.h"

namespace stave::examples {

// Blocks travel one way. Shift s hides behind the GEMM of step s - 1.
inline Result<Module> ring_matmul() {
  using namespace build;
  ModuleBuilder b("ring_matmul.stave");
  const Axis x = b.mesh("x", 2);
  const Int m = b.param("m", 4096);
  const Int k = b.param("k", 8192);
  const Int n = b.param("n", 4096);

  b.blank().comment("C = AllGather(A) x B: shift s hides behind gemm s - 1; two ping-pong buffers.");
  b.function("ring_matmul", [&](FunctionBuilder& f) {
    const Value lhs = f.in("a", bf16, {m, k});
    const Value rhs = f.in("b", bf16, {k, n});
    const Value out = f.out("c", bf16, {m * size(x), n});
    const Value ring = f.scratch("ring", bf16, {2, m, k});
    const TokenRef shift{"shift"};

    const auto launch_shift = [&](const Int& step, const Value& from, const Value& to) {
      f.when(step < size(x), [&] {
        f.async_start(shift[step], communication(0), [&] { f.collective_permute(from, to, {.axis = x, .shift = 1}); });
      });
    };
    const auto rows_after = [&](const Int& step) { return out.sized((index(x) - step) % size(x) * m, m); };

    launch_shift(1, lhs, ring[0]);
    launch_shift(2, ring[0], ring[1]);
    f.gemm(lhs, rhs, out.sized(index(x) * m, m));
    f.repeat("s", 1, size(x), [&](const Int& s) {
      f.async_done(shift[s]);
      f.gemm(ring[(s - 1) % 2], rhs, rows_after(s));
      launch_shift(s + 2, ring[s % 2], ring[(s + 1) % 2]);
    });
  });
  return std::move(b).finish();
}

// Blocks travel both ways at once, and the two that arrive together are one GEMM.
inline Result<Module> bidirectional_ring_matmul() {
  using namespace build;
  ModuleBuilder b("bidirectional_ring_matmul.stave");
  const Axis x = b.mesh("x", 4);
  const Int m = b.param("m", 4096);
  const Int k = b.param("k", 8192);
  const Int n = b.param("n", 4096);

  // In an even ring the block opposite arrives alone, in a step of its own.
  const Int pairs = b.param("pairs", div(size(x) - 1, 2));
  const Int steps = b.param("steps", div(size(x), 2));

  b.blank().function("bidirectional_ring_matmul", [&](FunctionBuilder& f) {
    const Value lhs = f.in("a", bf16, {m, k});
    const Value rhs = f.in("b", bf16, {k, n});
    const Value out = f.out("c", bf16, {m * size(x), n});
    const Value pair = f.scratch("pair", bf16, {2, 2 * m, k});
    const Value product = f.scratch("product", bf16, {2 * m, n});
    const TokenRef arrived{"arrived"};

    const auto launch_step = [&](const Int& step, const Value& clockwise, const Value& counter, const Value& to) {
      f.when(step <= pairs, [&] {
        f.async_start(arrived[step], communication(0), [&] {
          f.collective_group([&] {
            f.collective_permute(clockwise, to.until(m), {.axis = x, .shift = 1});
            f.collective_permute(counter, to.from(m), {.axis = x, .shift = -1});
          });
        });
      });
      f.when(pairs < step, [&] {
        f.when(step <= steps, [&] {
          f.async_start(arrived[step], communication(0),
                        [&] { f.collective_permute(clockwise, to.until(m), {.axis = x, .shift = 1}); });
        });
      });
    };
    const auto rows_of = [&](const Int& rank) { return out.sized(rank % size(x) * m, m); };

    launch_step(1, lhs, lhs, pair[0]);
    launch_step(2, pair[0].until(m), pair[0].from(m), pair[1]);
    f.gemm(lhs, rhs, out.sized(index(x) * m, m));
    f.repeat("s", 1, steps + 1, [&](const Int& s) {
      f.async_done(arrived[s]);
      f.when(s <= pairs, [&] {
        f.gemm(pair[(s - 1) % 2], rhs, product);
        f.copy(product.until(m), rows_of(index(x) - s));
        f.copy(product.from(m), rows_of(index(x) + s));
      });
      f.when(s > pairs, [&] { f.gemm(pair[(s - 1) % 2].until(m), rhs, rows_of(index(x) - s)); });
      launch_step(s + 2, pair[s % 2].until(m), pair[s % 2].from(m), pair[(s + 1) % 2]);
    });
  });
  return std::move(b).finish();
}

}  // namespace stave::examples
