// Speed of a frame of the timeline view, painted offscreen: 10 M slices.
// Budgets of a release build: 1920x1080 median 12 ms, 95th percentile 25 ms at
// every zoom, 256 rows too; 3840x2160 median 33 ms; search over names 0.1 s; 1.2 GB.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <QGuiApplication>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "gui/search.h"
#include "gui/view/paint.h"

namespace stave::gui {
namespace {

constexpr std::size_t slice_count = 10'000'000;

void start_qt() {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  static int argc = 1;
  static char name[] = "timeline_bench";
  static char* argv[] = {name, nullptr};
  static QGuiApplication application(argc, argv);
}

// Kernels of a few microseconds with gaps, one of a hundred long, some of a thousand names, on all tracks alike.
Scene scene_of(std::size_t tracks) {
  auto timeline = std::make_shared<Timeline>();
  for (std::size_t i = 0; i < tracks; ++i)
    timeline->add(Track{.rank = static_cast<std::uint32_t>(i / 32), .name = fmt::format("stream {}", i % 32)});
  std::vector<StringId> names;
  for (int i = 0; i < 1000; ++i)
    names.push_back(timeline->intern(fmt::format("void library::kernel_{}<float, {}>(float*, int)", i, i % 7)));
  constexpr Family families[] = {Family::Gemm, Family::Compute, Family::Collective, Family::Memory};
  timeline->reserve_slices(slice_count);
  std::mt19937_64 random(1);
  std::vector<Time> at(tracks);
  for (std::size_t i = 0; i < slice_count; ++i) {
    Time& now = at[i % tracks];
    const std::uint64_t bits = random();
    const Picoseconds duration{static_cast<std::int64_t>((bits & 0xfffff) * ((bits >> 20) % 100 == 0 ? 100 : 5))};
    Slice slice{.start = now, .duration = duration, .track = TrackId{i % tracks}, .name = names[(bits >> 32) % 1000]};
    slice.family = families[(bits >> 44) % 4];
    timeline->add(slice);
    now += duration + Picoseconds{static_cast<std::int64_t>((bits >> 50) * 100)};
  }
  Scene scene;
  scene.runs.push_back(run_in_view(timeline, "run"));
  scene.rows = rows_of(scene.runs);
  for (Row& row : scene.rows) row.folded = false;
  return scene;
}

// Only one is kept: two do not fit into the budget.
const Scene& scene_with(std::size_t tracks) {
  static std::size_t kept = 0;
  static Scene scene;
  if (kept != tracks) {
    scene = {};
    scene = scene_of(tracks);
    kept = tracks;
  }
  return scene;
}

// Every frame looks elsewhere. The view is 10^(-range(0) / 2) of all.
void run_frames(benchmark::State& state, int width, int height, std::size_t tracks, int lane) {
  start_qt();
  const Scene& scene = scene_with(tracks);
  const Layout layout = lay_out(scene, {.lane = lane});
  const TimeSpan all = extent_of(scene);
  const auto length = (all.end - all.start).count();
  const auto seen =
      static_cast<std::int64_t>(static_cast<double>(length) * std::pow(10, -0.5 * static_cast<double>(state.range(0))));
  QImage image(width, height, QImage::Format_RGB32);
  PaintCache cache;
  std::mt19937_64 random(2);
  std::vector<double> ms;
  for (auto _ : state) {
    const Time begin =
        all.start + Picoseconds{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(length - seen + 1))};
    const Viewport view{
        .time = TimeMap({begin, begin + Picoseconds{seen}}, width - layout.names),
        .scroll = static_cast<int>(random() % static_cast<std::uint64_t>(max_scroll(layout, height) + 1)),
        .width = width,
        .height = height};
    const auto started = std::chrono::steady_clock::now();
    paint(image, scene, layout, view, cache);
    ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - started).count());
  }
  std::sort(ms.begin(), ms.end());
  state.counters["median_ms"] = ms[ms.size() / 2];
  state.counters["p95_ms"] = ms[ms.size() * 95 / 100];
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void BM_frame_hd(benchmark::State& state) { run_frames(state, 1920, 1080, 32, 18); }
void BM_frame_4k(benchmark::State& state) { run_frames(state, 3840, 2160, 32, 36); }
// All of 256 rows in view, 4 pixels each.
void BM_frame_hd_256_rows(benchmark::State& state) { run_frames(state, 1920, 1080, 256, 4); }

BENCHMARK(BM_frame_hd)->DenseRange(0, 12)->Iterations(100)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_frame_4k)->DenseRange(0, 12)->Iterations(100)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK(BM_frame_hd_256_rows)->DenseRange(0, 12)->Iterations(100)->Unit(benchmark::kMillisecond)->UseRealTime();

// One kernel of a thousand, a hundred of them, and all.
void BM_search(benchmark::State& state) {
  constexpr const char* patterns[] = {"kernel_777<", "KERNEL_\\d\\d<", "kernel"};
  start_qt();
  const Scene& scene = scene_with(32);
  Run run;
  run.timeline = scene.runs[0].timeline;
  run.index = scene.runs[0].index;
  const std::vector<SearchedRun> runs{{std::make_shared<const Run>(std::move(run)), 0, {}}};
  const QRegularExpression wanted(patterns[state.range(0)], QRegularExpression::CaseInsensitiveOption);
  const Progress progress;
  std::size_t hits = 0;
  for (auto _ : state) hits = search_runs(runs, wanted, {}, progress).size();
  state.counters["hits"] = static_cast<double>(hits);
}
BENCHMARK(BM_search)->DenseRange(0, 2)->Unit(benchmark::kMillisecond)->UseRealTime();

// Index and levels of detail: what opening a stored run adds to reading it.
void BM_build(benchmark::State& state) {
  start_qt();
  const Scene& scene = scene_with(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    const RunInView run = run_in_view(scene.runs[0].timeline, "run");
    benchmark::DoNotOptimize(run.lod->bytes());
    state.counters["lod_MB"] = static_cast<double>(run.lod->bytes()) / 1e6;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(slice_count));
}
BENCHMARK(BM_build)->Arg(1)->Arg(32)->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace stave::gui
