#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "core/text/parse.h"
#include "core/text/print.h"

namespace stave {
namespace {

// A pipeline of `steps` steps of four statements each, as a generator would write it.
std::string pipeline(int steps) {
  std::string text =
      "stave 1\nmesh x = 2\nparam m = 4096\nparam k = 8192\n"
      "func @main(%a: in bf16[m, k], %b: in bf16[k, m], %c: out bf16[m, m]) {\n  %ring = scratch bf16[2, m, k]\n";
  for (int i = 0; i < steps; ++i) {
    fmt::format_to(std::back_inserter(text),
                   "  %t{0} = async_start (stream = communication {1}) {{\n"
                   "    collective_permute %ring[{0} mod 2] -> %ring[({0} + 1) mod 2] (axis = x, shift = 1)\n"
                   "  }}\n"
                   "  gemm %ring[{0} mod 2], %b -> %c (transpose_b = true, name = \"g{0}\")\n"
                   "  async_done %t{0}\n",
                   i, i % 4);
  }
  return text + "}\n";
}

void parse_text(benchmark::State& state) {
  const std::string text = pipeline(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    Result<Module> module = parse("bench", text);
    if (!module) state.SkipWithError("does not parse");
    benchmark::DoNotOptimize(module);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0) * 4);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(parse_text)->Arg(50'000)->Unit(benchmark::kMillisecond);

void print_module(benchmark::State& state) {
  const Result<Module> module = parse("bench", pipeline(static_cast<int>(state.range(0))));
  for (auto _ : state) benchmark::DoNotOptimize(print(*module));
  state.SetItemsProcessed(state.iterations() * state.range(0) * 4);
}
BENCHMARK(print_module)->Arg(50'000)->Unit(benchmark::kMillisecond);

void compare_modules(benchmark::State& state) {
  const Result<Module> module = parse("bench", pipeline(static_cast<int>(state.range(0))));
  const Module copy = *module;
  for (auto _ : state) benchmark::DoNotOptimize(copy == *module);
  state.SetItemsProcessed(state.iterations() * state.range(0) * 4);
}
BENCHMARK(compare_modules)->Arg(50'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace stave
