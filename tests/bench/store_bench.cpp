// The store: slices written a second, with and without details and closing;
// slices read a second from chunks and from rows; a large file opened again.
// STAVE_BENCH_FOLDER is where the files go, else the system's temporary folder.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "profiles/store_reader.h"
#include "profiles/store_writer.h"

namespace stave {
namespace {

std::string file_path(const std::string& name) {
  const char* folder = std::getenv("STAVE_BENCH_FOLDER");
  const std::filesystem::path base = folder ? folder : std::filesystem::temp_directory_path();
  return (base / ("stave-bench-" + name + ".sqlite")).string();
}

// 16 streams that take turns, 200 kernel names, up to 5,000 commands: as a trace of eight GPUs has them.
Timeline trace(std::int64_t slices, bool kernels) {
  Timeline timeline;
  for (int i = 0; i < 200; ++i)
    timeline.intern("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_" + std::to_string(i) + ">(Params)");
  for (std::uint32_t i = 0; i < 16; ++i)
    timeline.add(Track{.rank = i / 2, .name = "stream " + std::to_string(i % 2), .stream = i % 2});
  const std::size_t commands = std::min<std::size_t>(5000, static_cast<std::size_t>(slices) / 10);
  for (std::size_t i = 0; i < commands; ++i)
    timeline.add(TimelineCommand{.key = "main/gemm#" + std::to_string(i), .op = "gemm"});
  timeline.reserve_slices(static_cast<std::size_t>(slices));
  std::vector<KernelDetail> details;
  for (std::int64_t i = 0; i < slices; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const SliceId id = timeline.add(Slice{.start = Time{i * 700'000},
                                          .duration = Time{5'000'000 + (i * 7919) % 1'000'000},
                                          .track = TrackId{n % 16},
                                          .name = StringId{n * 31 % 200},
                                          .command = TimelineCommandId{n % commands},
                                          .step = StepNumber{n / commands},
                                          .family = Family::Gemm});
    if (!kernels) continue;
    details.push_back({.slice = id,
                       .correlation = i,
                       .grid = LaunchDims{132, 1, 1},
                       .block = LaunchDims{256, 1, 1},
                       .registers_per_thread = 168,
                       .static_shared_bytes = 0,
                       .dynamic_shared_bytes = 99'000,
                       .demangled_name = StringId{n * 31 % 200}});
    if (details.size() == max_batch_rows || i + 1 == slices) {
      (void)timeline.on_kernels(details);
      details.clear();
    }
  }
  return timeline;
}

RunInfo info() { return {.label = "bench", .tool = "bench", .tool_version = "1"}; }

bool write(const Timeline& timeline, const std::string& path, bool close, benchmark::State* state = nullptr) {
  auto writer = StoreWriter::create(path, info());
  if (!writer || !replay(timeline, *writer)) return false;
  if (state) state->PauseTiming();
  const bool done = !close || writer->close().has_value();
  if (!close) writer->discard();
  if (state) state->ResumeTiming();
  return done;
}

void write_slices(benchmark::State& state) {
  const Timeline timeline = trace(1'000'000, state.range(0) != 0);
  for (auto step : state)
    if (!write(timeline, file_path("write"), false, &state)) state.SkipWithError("cannot write");
  state.SetItemsProcessed(state.iterations() * 1'000'000);
}
BENCHMARK(write_slices)->ArgName("kernels")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void write_and_close(benchmark::State& state) {
  const Timeline timeline = trace(1'000'000, state.range(0) != 0);
  for (auto step : state)
    if (!write(timeline, file_path("write"), true)) state.SkipWithError("cannot write");
  state.SetItemsProcessed(state.iterations() * 1'000'000);
  std::filesystem::remove(file_path("write"));
}
BENCHMARK(write_and_close)->ArgName("kernels")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

// A small prediction, as a what-if stores it.
void write_small(benchmark::State& state) {
  const Timeline timeline = trace(1'000, false);
  for (auto step : state)
    if (!write(timeline, file_path("small"), true)) state.SkipWithError("cannot write");
  state.counters["file_bytes"] = static_cast<double>(std::filesystem::file_size(file_path("small")));
  std::filesystem::remove(file_path("small"));
}
BENCHMARK(write_small)->Unit(benchmark::kMillisecond)->UseRealTime();

void reopen(benchmark::State& state) {
  const std::string path = file_path("reopen");
  if (!write(trace(state.range(0), false), path, true)) state.SkipWithError("cannot write");
  for (auto step : state) {
    auto reader = open_store(path);
    auto timeline = reader->load(1);
    if (!timeline || timeline->slices().size() != static_cast<std::size_t>(state.range(0)))
      state.SkipWithError("cannot read");
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["bytes_per_slice"] =
      static_cast<double>(std::filesystem::file_size(path)) / static_cast<double>(state.range(0));
  std::filesystem::remove(path);
}
BENCHMARK(reopen)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond)->UseRealTime();

// What a killed writer left is read from its rows.
void read_unfinished(benchmark::State& state) {
  const std::string path = file_path("unfinished");
  {
    auto writer = StoreWriter::create(path, info());
    if (!writer || !replay(trace(1'000'000, false), *writer)) state.SkipWithError("cannot write");
    for (auto step : state) {
      auto reader = open_store(path + ".partial");
      auto timeline = reader->load(1);
      if (!timeline || timeline->slices().size() != 1'000'000U) state.SkipWithError("cannot read");
    }
    writer->discard();
  }
  state.SetItemsProcessed(state.iterations() * 1'000'000);
}
BENCHMARK(read_unfinished)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace stave
