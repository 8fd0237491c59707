// Speed of the simulator. Budgets, a core-second of a release build: 4 M
// instances without sharing; 1 M with 1,000 flows in up to 50 classes; the ring
// all-reduce of 1,024 ranks as 2.1 M messages in 0.7 s.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "simulator/messages.h"
#include "tests/simulator/schedule.h"

namespace stave {
namespace {

using simulator::Messages;
using simulator::network_model_named;

void run_plan(benchmark::State& state, const std::string& text, int ranks, const SimulateOptions& options) {
  Result<Plan> plan = plan_of(text);
  if (!plan) {
    state.SkipWithError(to_text(plan.problems().front(), text).c_str());
    return;
  }
  const Machine machine = plain_machine(ranks);
  std::int64_t instances = 0, events = 0;
  for (auto _ : state) {
    NullSink sink;
    Result<PredictionSummary> summary = simulate(*plan, machine, options, sink);
    if (!summary) {
      state.SkipWithError(to_text(summary.problems().front()).c_str());
      return;
    }
    instances += summary->instances_count;
    events += summary->events_count;
  }
  state.SetItemsProcessed(instances);
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

// One kernel after the other on one stream of one rank, in steps of 1,000.
void BM_chain(benchmark::State& state) {
  SimulateOptions options;
  options.host_slices = false;
  options.steps = static_cast<std::uint32_t>(state.range(0) / 1000);
  run_plan(state, R"(stave 1
mesh x = 1
func @f(%a: inout f32[4]) {
  repeat (index = i, from = 0, to = 1000) {
    custom_call %a -> %a (target = "t", cost = {time = 1000, ctas = 4, tiles = 4})
  }
}
)",
           1, options);
}
BENCHMARK(BM_chain)
    ->Arg(1000)
    ->Arg(10'000)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond);

// With host rows and launch flows too.
void BM_chain_with_host(benchmark::State& state) {
  SimulateOptions options;
  options.steps = 1000;
  run_plan(state, R"(stave 1
mesh x = 1
func @f(%a: inout f32[4]) {
  repeat (index = i, from = 0, to = 1000) {
    custom_call %a -> %a (target = "t", cost = {time = 1000, ctas = 4, tiles = 4})
  }
}
)",
           1, options);
}
BENCHMARK(BM_chain_with_host)->Unit(benchmark::kMillisecond);

// A layer: two products' worth of compute, a collective on its own stream; 100 layers a step.
std::string layers(std::int64_t ranks) {
  return fmt::format(R"(stave 1
mesh x = {}
func @f(%a: inout f32[4096], %b: inout f32[4096]) {{
  repeat (index = i, from = 0, to = 100) {{
    custom_call %a -> %a (target = "t", cost = {{time = 100000, ctas = 4, tiles = 4}})
    %t[i] = async_start (stream = communication 0) {{
      all_reduce %b -> %b (axis = x, reduction = sum)
    }}
    custom_call %a -> %a (target = "t", cost = {{time = 100000, ctas = 4, tiles = 4}})
    async_done %t[i]
  }}
}}
)",
                     ranks);
}

void BM_layers_folded(benchmark::State& state) {
  SimulateOptions options;
  options.host_slices = false;
  options.all_ranks = false;
  run_plan(state, layers(state.range(0)), static_cast<int>(state.range(0)), options);
}
BENCHMARK(BM_layers_folded)->Arg(2)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);

void BM_layers_unfolded(benchmark::State& state) {
  SimulateOptions options;
  options.host_slices = false;
  options.fold = false;
  run_plan(state, layers(state.range(0)), static_cast<int>(state.range(0)), options);
}
BENCHMARK(BM_layers_unfolded)->Arg(2)->Arg(16)->Arg(128)->Arg(1024)->Unit(benchmark::kMillisecond);

// A thousand flows at a time in a number of classes over one shared link or ten,
// each class over two: whenever one flow ends another starts, in a class of its
// own choice, so that all rates change at every delivery.
void BM_thousand_flows(benchmark::State& state) {
  const auto classes = static_cast<std::uint32_t>(state.range(0));
  std::int64_t delivered = 0;
  for (auto _ : state) {
    Messages m(*network_model_named("max-min"));
    std::vector<Messages::LinkId> links;
    const auto hubs = static_cast<std::uint32_t>(state.range(1));
    for (std::uint32_t i = 0; i < hubs; ++i) links.push_back(m.add_link(BytesPerSecond{100e9}));
    std::vector<Messages::RouteId> routes;
    for (std::uint32_t c = 0; c < classes; ++c) {
      const Messages::LinkId own = m.add_link(BytesPerSecond{100e12});  // never short
      const Messages::LinkId over[] = {links[c % hubs], hubs == 1 ? own : links[(c * 7 + c / hubs + 3) % hubs]};
      routes.push_back(m.add_route(over, Picoseconds{0}));
    }
    std::uint64_t random = 88172645463325252;
    const auto next = [&] {
      random ^= random << 13;
      random ^= random >> 7;
      random ^= random << 17;
      return random;
    };
    std::int64_t left = 200'000;
    for (std::uint32_t i = 0; i < 1000; ++i)
      m.send(routes[next() % classes], Bytes{static_cast<std::int64_t>(1000 + next() % 100'000)}, i, Time{0});
    m.run([&](std::uint32_t tag, Time now) {
      if (left-- <= 0) return;
      m.send(routes[next() % classes], Bytes{static_cast<std::int64_t>(1000 + next() % 100'000)}, tag, now);
    });
    delivered += m.delivered();
  }
  state.SetItemsProcessed(delivered);
}
BENCHMARK(BM_thousand_flows)->Args({1, 1})->Args({10, 1})->Args({50, 1})->Args({50, 10})->Unit(benchmark::kMillisecond);

// Ring all-reduce of 64 MiB, message by message: what tests/bench/simgrid_ring.cpp does with SimGrid.
// 450 GB/s, 500 ns. `jitter`: sizes differ by up to a fifth, so that no two messages end together.
void BM_ring_messages(benchmark::State& state) {
  const auto n = static_cast<std::uint32_t>(state.range(0));
  const bool jitter = state.range(1) != 0;
  const std::uint32_t steps = 2 * (n - 1);
  const std::int64_t chunk = (std::int64_t{64} << 20) / n;
  std::int64_t delivered = 0;
  double simulated = 0;
  for (auto _ : state) {
    Messages m(*network_model_named("max-min"));
    std::vector<Messages::RouteId> route;
    for (std::uint32_t r = 0; r < n; ++r) {
      const Messages::LinkId link = m.add_link(BytesPerSecond{450e9});
      route.push_back(m.add_route({&link, 1}, Picoseconds{500'000}));
    }
    const auto bytes = [&](std::uint32_t tag) {
      if (!jitter) return Bytes{chunk};
      return Bytes{chunk * static_cast<std::int64_t>(80 + (tag * 2654435761u >> 16) % 41) / 100};
    };
    for (std::uint32_t r = 0; r < n; ++r) m.send(route[r], bytes(r), r, Time{0});
    const Time end = m.run([&](std::uint32_t tag, Time now) {
      const std::uint32_t step = tag / n, receiver = tag % n + 1 == n ? 0 : tag % n + 1;
      if (step + 1 == steps) return;
      const std::uint32_t next = (step + 1) * n + receiver;
      m.send(route[receiver], bytes(next), next, now);
    });
    simulated = static_cast<double>(end.count()) * 1e-6;
    delivered += m.delivered();
  }
  state.SetItemsProcessed(delivered);
  state.counters["simulated_us"] = simulated;
}
BENCHMARK(BM_ring_messages)
    ->Args({8, 0})
    ->Args({64, 0})
    ->Args({256, 0})
    ->Args({1024, 0})
    ->Args({1024, 1})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stave
