// Speed of the checker: what `stave check` does once a schedule is lowered.
// Budgets of a release build: 1 M commands on 8 ranks in 3 s and 2 GB; 10,000
// ranks of one program in 10 s.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "analysis/check/check_plan.h"
#include "tests/simulator/schedule.h"

namespace stave {
namespace {

void run_check(benchmark::State& state, const std::string& text, Mode mode = Mode::Eager) {
  Result<Plan> plan = plan_of(text, mode);
  if (!plan) {
    state.SkipWithError(to_text(plan.problems().front(), text).c_str());
    return;
  }
  std::int64_t commands = 0;
  for (auto _ : state) {
    const Result<PlanCheck> checked = check_plan(*plan);
    if (!checked || !checked->exact || !checked->findings.empty()) {
      state.SkipWithError("not clean, or not exact");
      return;
    }
    commands += static_cast<std::int64_t>(plan->classes[0].expanded.commands.size());
  }
  state.SetItemsProcessed(commands);
}

// Gemms beside permutes into two ping-pong buffers, 8 ranks of one program.
void BM_check_layers(benchmark::State& state) {
  run_check(state, fmt::format(R"(stave 1
mesh x = 8
func @f(%a: in bf16[64, 64], %b: in bf16[64, 64], %c: out bf16[64, 64]) {{
  %ring = scratch bf16[2, 64, 64]
  memzero -> %ring
  repeat (index = i, to = {}) {{
    %t[i] = async_start (stream = communication 0) {{
      collective_permute %ring[i mod 2] -> %ring[(i + 1) mod 2] (axis = x, shift = 1)
    }}
    gemm %a, %b -> %c
    async_done %t[i]
  }}
}}
)",
                               state.range(0) / 4));
}
BENCHMARK(BM_check_layers)->RangeMultiplier(10)->Range(1000, 1'000'000)->Unit(benchmark::kMillisecond);

// The same with sends and recvs, whose partners the checker has to follow rank by rank.
void BM_check_pipeline(benchmark::State& state) {
  run_check(state, fmt::format(R"(stave 1
mesh x = 8
func @f(%a: in f32[64], %b: out f32[64]) {{
  repeat (index = i, to = {}) {{
    map %a -> %b (f = |x| x * 2.0)
    collective_group {{
      send %a (axis = x, peer = (axis_index(x) + 1) mod 8)
      recv -> %b (axis = x, peer = (axis_index(x) + 7) mod 8)
    }}
  }}
}}
)",
                               state.range(0) / 4));
}
BENCHMARK(BM_check_pipeline)->RangeMultiplier(10)->Range(1000, 1'000'000)->Unit(benchmark::kMillisecond);

// One program on many ranks: a ring that gathers into one buffer on one stream while gemms read its parts on the other,
// at offsets that differ on each rank.
void BM_check_ranks(benchmark::State& state) {
  run_check(state, fmt::format(R"(stave 1
mesh x = {0}
func @f(%b: in bf16[8, 8], %all: inout bf16[100 * 8, 8], %c: out bf16[8, 8]) {{
  repeat (index = i, to = 99) {{
    %t[i] = async_start (stream = communication 0) {{
      collective_permute %all[((axis_index(x) + i) mod 100) * 8 : +8] -> %all[((axis_index(x) + i + 1) mod 100) * 8 : +8] (axis = x, shift = 1)
    }}
    gemm %all[((axis_index(x) + i) mod 100) * 8 : +8], %b -> %c
    async_done %t[i]
  }}
}}
)",
                               state.range(0)));
}
BENCHMARK(BM_check_ranks)->RangeMultiplier(10)->Range(10, 10'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stave
