// Two runs of a million slices compared: by command, by name, and by name where
// one kernel in a hundred is other; and the alignment of sequences alone.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "analysis/compare.h"
#include "analysis/sequence_diff.h"

namespace stave {
namespace {

constexpr std::size_t million = 1'000'000;

// Eight ranks with two streams and a host each, layers of 50 kernels, a launch a kernel.
// `seed` shifts durations; one kernel in `one_in` is another one (0: none).
Timeline trace(bool commands, std::uint32_t seed, std::uint32_t one_in) {
  constexpr std::uint32_t ranks = 8, layer = 50;
  Timeline timeline;
  for (std::uint32_t i = 0; i < 2 * layer; ++i)
    timeline.intern("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_" + std::to_string(i) + ">(Params)");
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    timeline.add(Track{.rank = rank, .name = "stream 7", .stream = 7});
    timeline.add(Track{.rank = rank, .name = "stream 20", .stream = 20});
    timeline.add(Track{.rank = rank, .kind = TrackKind::Host, .name = "host"});
  }
  if (commands)
    for (std::uint32_t i = 0; i < 5'000; ++i)
      timeline.add(TimelineCommand{.key = "main/gemm#1[s=" + std::to_string(i) + "]", .op = "gemm"});
  timeline.reserve_slices(million);
  std::mt19937 random(seed);
  std::vector<KernelDetail> kernels;
  std::vector<SliceFlow> flows;
  Time launch{0};
  std::array<Time, 2 * ranks> free{};
  for (std::uint32_t i = 0; timeline.slices().size() + 2 <= million; ++i) {
    const std::uint32_t rank = i % ranks, n = i / ranks;
    if (rank == 0) launch += Time{4'000'000};
    const SliceId call = timeline.add(Slice{.start = launch,
                                            .duration = Time{3'000'000},
                                            .track = TrackId{3 * rank + 2},
                                            .name = StringId{0u},
                                            .family = Family::HostApi});
    const std::uint32_t stream = n % 5 == 0 ? 1 : 0;
    Time& at = free[2 * rank + stream];
    at = std::max(at + Time{1'000'000}, launch + Time{5'000'000});
    const Picoseconds duration{2'000'000 + random() % 2'000'000};
    const std::uint32_t kernel = one_in > 0 && random() % one_in == 0 ? layer + random() % layer : n % layer;
    const SliceId id = timeline.add(Slice{.start = at,
                                          .duration = duration,
                                          .track = TrackId{3 * rank + stream},
                                          .name = StringId{kernel},
                                          .command = commands ? TimelineCommandId{n % 5'000} : TimelineCommandId{},
                                          .occurrence = n / 5'000,
                                          .family = Family::Gemm});
    at += duration;
    flows.push_back({call, id, FlowKind::Launch, Certainty::Recorded});
    kernels.push_back({.slice = id, .grid = LaunchDims{132, n % 3 + 1, 1}, .block = LaunchDims{256, 1, 1}});
    if (kernels.size() < max_batch_rows) continue;
    (void)timeline.on_flows(flows);
    (void)timeline.on_kernels(kernels);
    flows.clear();
    kernels.clear();
  }
  (void)timeline.on_flows(flows);
  (void)timeline.on_kernels(kernels);
  return timeline;
}

void compare_million(benchmark::State& state) {
  const bool commands = state.range(0) != 0;
  const auto one_in = static_cast<std::uint32_t>(state.range(1));
  const Timeline a = trace(commands, 1, one_in), b = trace(commands, 2, one_in);
  std::size_t matched = 0;
  for (auto step : state) {
    const TimelineIndex index_a(a), index_b(b);
    const Result<Comparison> made = compare({.index = &index_a, .file = "a"}, {.index = &index_b, .file = "b"});
    if (!made) {
      state.SkipWithError("cannot compare");
      break;
    }
    matched = made->alignment.matched.size();
  }
  state.counters["matched"] = static_cast<double>(matched);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(2 * million));
}
BENCHMARK(compare_million)
    ->ArgNames({"commands", "one_in"})
    ->Args({1, 0})
    ->Args({0, 0})
    ->Args({0, 100})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Layers of 100 tokens, of which one in `one_in` is lost or new.
void align_million_tokens(benchmark::State& state) {
  const auto sequence = [&](std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto one_in = static_cast<std::uint32_t>(state.range(0));
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; out.size() < million; ++i) {
      if (random() % one_in == 0) out.push_back(random() % 200);
      if (random() % one_in != 0) out.push_back(i % 100);
    }
    return out;
  };
  const std::vector<std::uint32_t> a = sequence(1), b = sequence(2);
  std::size_t matched = 0;
  for (auto step : state) matched = sequence_diff(a, b).size();
  state.counters["matched"] = static_cast<double>(matched);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(2 * million));
}
BENCHMARK(align_million_tokens)
    ->ArgName("one_in")
    ->Arg(10'000)
    ->Arg(100)
    ->Arg(20)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace stave
