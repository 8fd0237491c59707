// From a changed number of the machine to the new picture, as the window does it:
// edit, simulation, index, levels of detail, report, scene and a frame of 1920x1080.
// Budgets of a release build: 1,000 commands 16 ms; 10,000 commands on 8 ranks 100 ms.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <QGuiApplication>

#include "gui/draft.h"
#include "gui/view/paint.h"

namespace stave::gui {
namespace {

void start_qt() {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  static int argc = 1;
  static char name[] = "what_if_bench";
  static char* argv[] = {name, nullptr};
  static QGuiApplication application(argc, argv);
}

// Layers of four commands: a product, one beside a collective on its own stream, and the wait for that.
std::string layers(std::int64_t commands, std::int64_t ranks) {
  return fmt::format(R"(stave 1
mesh x = {}
func @f(%a: in bf16[512, 512], %b: in bf16[512, 512], %c: inout bf16[512, 512], %d: inout bf16[512, 512]) {{
  repeat (index = i, from = 0, to = {}) {{
    gemm %a, %b -> %c
    %t[i] = async_start (stream = communication 0) {{
      collective_permute %a -> %d (axis = x, shift = 1)
    }}
    gemm %b, %a -> %c
    async_done %t[i]
  }}
}}
)",
                     ranks, commands / 4);
}

Scene scene_of(const Outcome& outcome) {
  Scene scene;
  scene.runs.push_back({.timeline = outcome.run->timeline,
                        .index = outcome.run->index,
                        .lod = outcome.run->lod,
                        .title = outcome.run->title});
  scene.rows = rows_of(scene.runs);
  return scene;
}

void BM_what_if(benchmark::State& state) {
  start_qt();
  Draft draft;
  draft.text = layers(state.range(0), state.range(1));
  draft.machine = state.range(1) > 2 ? "h200-x8" : "h200-x2";
  Progress progress;
  Result<Outcome> outcome = predict_draft(draft, "layers.stave", {}, progress);
  if (!outcome || !outcome->run) {
    state.SkipWithError(to_text((outcome ? outcome->problems : outcome.problems()).front()).c_str());
    return;
  }
  const Known known{outcome->module, outcome->base_machine};
  QImage image(1920, 1080, QImage::Format_RGB32);
  PaintCache cache;
  double bandwidth = 1;
  for (auto _ : state) {
    bandwidth = bandwidth < 0.5 ? 1 : bandwidth * 0.99;
    draft.edits = {MachineEdit{"link.*.bandwidth_bytes_per_s", bandwidth, true}};
    outcome = predict_draft(draft, "layers.stave", known, progress);
    const Scene scene = scene_of(*outcome);
    const Layout layout = lay_out(scene, {});
    paint(image, scene, layout,
          {.time = TimeMap(with_margin(extent_of(scene)), 1920 - layout.names), .width = 1920, .height = 1080}, cache);
    benchmark::DoNotOptimize(image.constBits());
  }
  state.counters["slices"] = static_cast<double>(outcome->run->timeline->slices().size());
}
BENCHMARK(BM_what_if)
    ->ArgNames({"commands", "ranks"})
    ->Args({1'000, 2})
    ->Args({1'000, 8})
    ->Args({10'000, 8})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace stave::gui
