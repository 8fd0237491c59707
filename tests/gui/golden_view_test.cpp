// The timeline as pixels, light and dark.
#include <gtest/gtest.h>

#include "gui/view/paint.h"
#include "tests/gui/golden.h"
#include "tests/gui/view_scene.h"

namespace stave::gui {
namespace {

constexpr std::int64_t golden_us = 1'000'000;

QImage golden_picture(const Scene& scene, QSize size, std::int64_t from_us, std::int64_t to_us, Metrics metrics = {}) {
  const Layout layout = lay_out(scene, metrics);
  const Viewport view{TimeMap({Time{from_us * golden_us}, Time{to_us * golden_us}}, size.width() - layout.names), 0,
                      size.width(), size.height()};
  QImage image(size, QImage::Format_RGB32);
  PaintCache cache;
  paint(image, scene, layout, view, cache, {.font = golden_font(), .threads = 1});
  return image;
}

// Two ranks that multiply, reduce and copy, in two steps, with a host, a link, ranges and a counter. `late`: of the
// second rank.
Timeline golden_timeline(std::int64_t late = 0) {
  std::vector<Track> tracks;
  std::vector<SliceAt> slices;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    const std::size_t main = tracks.size();
    tracks.push_back({.rank = rank, .name = "main", .stream = 0});
    tracks.push_back({.rank = rank, .name = "communication 0", .stream = 1});
    tracks.push_back({.rank = rank, .kind = TrackKind::CopyEngine, .name = "copy out"});
    tracks.push_back({.rank = rank, .kind = TrackKind::Host, .name = "host"});
    tracks.push_back({.rank = rank, .kind = TrackKind::Range, .name = "ranges"});
    const auto add = [&](std::size_t track, std::int64_t at, std::int64_t length, Family family, const char* name) {
      slices.push_back({at * golden_us, length * golden_us, family, name, main + track});
    };
    const std::int64_t shift = rank * late;
    for (const std::int64_t step : {0, 100}) {
      add(0, step + 5 + shift, 30, Family::Gemm, "gemm");
      add(0, step + 36 + shift, 12, Family::Compute, "gelu");
      add(0, step + 55 + shift, 25 + shift, Family::Compute, "attention");
      add(1, step + 36 + shift, 44, Family::Collective, "all_reduce");
      add(2, step + 60, 30, Family::Memory, "copy");
      for (std::int64_t call = 0; call < 4; ++call) add(3, step + 3 * call, 2, Family::HostApi, "launch");
      add(4, step, 90, Family::Host, "forward");
    }
  }
  Timeline timeline = timeline_with(tracks, slices);
  const TrackId counter = timeline.add(Track{.kind = TrackKind::Counter, .name = "memory", .unit = "bytes"});
  for (std::int64_t i = 0; i < 20; ++i)
    timeline.add(CounterSample{counter, Time{i * 10 * golden_us}, static_cast<double>(i % 7) * 1e9});
  for (std::uint32_t step = 0; step < 2; ++step)
    timeline.add(StepSpan{.step = step,
                          .phase = step == 0 ? StepPhase::Warmup : StepPhase::Timed,
                          .start = Time{step * 100 * golden_us},
                          .end = Time{(step * 100 + 100) * golden_us}});
  timeline.add(SliceFlow{SliceId{1}, SliceId{4}, FlowKind::Event, Certainty::Recorded});
  timeline.add(SliceFlow{SliceId{4}, SliceId{5}, FlowKind::Event, Certainty::Inferred});
  return timeline;
}

// Without texts, so that it is the same wherever Qt is.
TEST(GoldenView, BarsAndLanesWithoutTexts) {
  Scene scene = scene_with({golden_timeline()});
  for (const bool dark : {false, true}) {
    scene.dark = dark;
    expect_golden(
        dark ? "bars_dark" : "bars",
        golden_picture(scene, {480, 160}, -5, 205, {.lane = 9, .names = 0, .minimap = false, .ruler = false}));
  }
}

// 20,000 short slices: the height of the bars says how busy it was.
TEST(GoldenView, ZoomedOutWithoutTexts) {
  std::vector<SliceAt> slices;
  for (std::int64_t i = 0; i < 20'000; ++i)
    slices.push_back({i * 10'000, 1'000 + (i / 250 % 9) * 1'000, i / 2'000 % 2 ? Family::Collective : Family::Gemm, "k",
                      0, static_cast<std::uint16_t>(i % 2)});
  const Scene scene = one_stream(slices);
  expect_golden("zoomed_out",
                golden_picture(scene, {480, 60}, 0, 200, {.lane = 9, .names = 0, .minimap = false, .ruler = false}));
}

class GoldenText : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_no_text(); !reason.empty()) GTEST_SKIP() << reason;
  }
};

TEST_F(GoldenText, TheTimelineWithItsRulerAndNames) {
  Scene scene = scene_with({golden_timeline()});
  expect_golden("timeline", golden_picture(scene, {720, 330}, -5, 205));
  scene.dark = true;
  expect_golden("timeline_dark", golden_picture(scene, {720, 330}, -5, 205));
}

TEST_F(GoldenText, TheCriticalPathAndWhatIsMarked) {
  Scene scene = scene_with({golden_timeline()});
  scene.dark = true;
  PathInView path;
  for (const std::uint32_t slice : {1u, 4u}) {
    const Slice& on = scene.runs[0].timeline->slice(SliceId{slice});
    path.parts.push_back({.slice = SliceId{slice}, .start = on.start, .duration = on.duration});
  }
  scene.paths.push_back(path);
  scene.selection = {ref(4)};
  scene.arrows = arrows_of(scene, scene.selection);
  scene.marks = {ref(3), ref(12)};
  scene.mark = 0;
  scene.bookmarks = {{Time{90 * golden_us}, "look here"}};
  scene.range = RangeSelection{{Time{110 * golden_us}, Time{140 * golden_us}}, {}};
  scene.measured = TimeSpan{Time{5 * golden_us}, Time{35 * golden_us}};
  scene.rows[1].pinned = true;
  expect_golden("path_dark", golden_picture(scene, {720, 300}, -5, 155));
}

TEST_F(GoldenText, TwoRunsWithTheirDifference) {
  const Timeline a = golden_timeline(), b = golden_timeline(8);
  Scene scene = scene_with({a, b}, Arrangement::Interleaved);
  SliceDeltas deltas;
  for (std::size_t row = 0; row < a.slices().size(); ++row)
    deltas.push_back(row == 3 ? no_partner : b.slices()[row].duration - a.slices()[row].duration);
  deltas[0] = Picoseconds{-4 * golden_us};
  scene.runs[1].deltas = std::make_shared<SliceDeltas>(deltas);
  scene.delta_scale = Picoseconds{8 * golden_us};
  scene.rows = with_difference_rows(scene.rows, scene.runs, 1);
  expect_golden("compared", golden_picture(scene, {720, 420}, -5, 105));
}

}  // namespace
}  // namespace stave::gui
