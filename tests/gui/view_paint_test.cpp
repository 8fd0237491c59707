#include <gtest/gtest.h>

#include <QImage>
#include <set>

#include "gui/view/labels.h"
#include "gui/view/number_text.h"
#include "gui/view/paint.h"
#include "gui/view/palette.h"
#include "tests/gui/view_scene.h"

namespace stave::gui {
namespace {

constexpr std::int64_t us = 1'000'000;

struct Painted {
  Scene scene;
  Layout layout;
  Viewport view;
  QImage image;

  Painted(Scene of, TimeSpan span, Metrics metrics = {}, int width = 1220, int height = 300)
      : scene(std::move(of)),
        layout(lay_out(scene, metrics)),
        view{TimeMap(span, width - layout.names), 0, width, height},
        image(width, height, QImage::Format_RGB32) {
    PaintCache cache;
    paint(image, scene, layout, view, cache, {.threads = 1});
  }

  Box box(SliceRef slice) const { return *box_of(scene, layout, view, slice); }
  // In the middle of a slice in x, below its label in y.
  Rgb in(SliceRef slice) const {
    const Box at = box(slice);
    return image.pixel(static_cast<int>(at.x + at.width * 0.7), static_cast<int>(at.y + at.height) - 2);
  }
  std::set<Rgb> in_row(const Box& at) const {
    std::set<Rgb> colours;
    for (int x = layout.names; x < view.width; ++x)
      for (int y = static_cast<int>(at.y); y < static_cast<int>(at.y + at.height); ++y)
        colours.insert(image.pixel(x, y));
    return colours;
  }
};

TEST(Paint, ASliceHasTheColourOfItsFamily) {
  for (const bool dark : {false, true}) {
    Scene scene = one_stream({{0, 100 * us, Family::Gemm}, {200 * us, 100 * us, Family::Collective}});
    scene.dark = dark;
    const Painted painted(std::move(scene), {Time{0}, Time{1000 * us}});
    EXPECT_EQ(painted.in(ref(1)), fill_of(Family::Gemm, dark));
    EXPECT_EQ(painted.in(ref(2)), fill_of(Family::Collective, dark));
    const Box box = painted.box(ref(2));
    EXPECT_EQ(painted.image.pixel(static_cast<int>(box.x) + 550, static_cast<int>(box.y) + 5), theme_of(dark).row);
  }
}

TEST(Paint, ANanosecondIsVisibleInASecond) {
  constexpr std::int64_t second = 1'000'000 * us;
  const Painted painted(one_stream({{second / 2, 1'000, Family::Collective}}), {Time{0}, Time{second}});
  const Box box = painted.box(ref(1));
  int seen = 0;
  for (int y = static_cast<int>(box.y); y < static_cast<int>(box.y + box.height); ++y)
    for (int x = static_cast<int>(box.x) - 1; x <= static_cast<int>(box.x) + 1; ++x)
      seen += painted.image.pixel(x, y) == fill_of(Family::Collective, false);
  EXPECT_GE(seen, 3);
}

TEST(Paint, AShortSliceBetweenLongOnesIsVisible) {
  const Painted painted(
      one_stream(
          {{0, 500 * us, Family::Gemm}, {500 * us, 10, Family::Collective}, {500 * us + 10, 400 * us, Family::Gemm}}),
      {Time{0}, Time{1000 * us}});
  EXPECT_TRUE(painted.in_row(painted.box(ref(1))).contains(fill_of(Family::Collective, false)));
}

TEST(Paint, UtilisationIsTheHeight) {
  // 100,000 slices that fill half of the time.
  std::vector<SliceAt> slices;
  for (std::int64_t i = 0; i < 100'000; ++i) slices.push_back({i * 2'000, 1'000, Family::Compute});
  const Painted painted(one_stream(slices), {Time{0}, Time{200 * us}});
  const Box box = painted.box(ref(1));
  int filled = 0;
  for (int y = 0; y < static_cast<int>(box.height); ++y)
    filled += painted.image.pixel(700, static_cast<int>(box.y) + y) == fill_of(Family::Compute, false);
  EXPECT_NEAR(filled, box.height / 2, 1.5);
}

TEST(Paint, LabelsAreReadableAndOnlyWhereTheyFit) {
  const Painted painted(
      one_stream({{0, 500 * us, Family::Gemm, "a label"}, {600 * us, 10 * us, Family::Gemm, "a label"}}),
      {Time{0}, Time{1000 * us}});
  const auto row = painted.in_row(painted.box(ref(1)));
  EXPECT_TRUE(row.contains(0xffffffff)) << "white on the blue of a gemm";
  const Box thin = painted.box(ref(2));
  for (int x = static_cast<int>(thin.x) + 2; x < static_cast<int>(thin.x + thin.width) - 1; ++x)
    EXPECT_EQ(painted.image.pixel(x, static_cast<int>(thin.y) + 9), fill_of(Family::Gemm, false));
}

TEST(Paint, EveryFamilyAndCategoryCarriesReadableText) {
  for (const bool dark : {false, true}) {
    for (std::size_t i = 0; i < family_count; ++i) {
      const Rgb fill = fill_of(static_cast<Family>(i), dark);
      EXPECT_GE(contrast(fill, text_on(fill)), 4.5) << name_of(static_cast<Family>(i)) << dark;
    }
    const Theme& theme = theme_of(dark);
    for (const Rgb back : {theme.row, theme.names, theme.header, theme.run_header, theme.window}) {
      EXPECT_GE(contrast(theme.text, back), 7);
      EXPECT_GE(contrast(theme.faint, back), 4.5);
    }
    for (const Rgb line : {theme.partner, theme.mark, theme.path, theme.accent})
      EXPECT_GE(contrast(line, theme.row), 3);
  }
  for (std::size_t i = 0; i < 8; ++i) EXPECT_GE(contrast(category(i), text_on(category(i))), 4.5) << i;
}

TEST(Paint, ColoursByWhatIsAskedFor) {
  Scene scene = scene_with({timeline_with(
      {{.rank = 0, .name = "a"}, {.rank = 1, .name = "a"}},
      {{0, 100 * us, Family::Gemm, "x", 0, 0, slice_flags::orphan}, {0, 100 * us, Family::Gemm, "y", 1}})});
  const TimeSpan span{Time{0}, Time{200 * us}};
  scene.colour_by = ColourBy::Rank;
  const Painted rank(scene, span);
  EXPECT_EQ(rank.in(ref(1)), category(0));
  EXPECT_EQ(rank.in(ref(2)), category(1));
  scene.colour_by = ColourBy::Problem;
  const Painted problem(scene, span);
  EXPECT_EQ(problem.in(ref(1)), problem_fill(slice_flags::orphan, false));
  EXPECT_EQ(problem.in(ref(2)), problem_fill(0, false));
  scene.colour_by = ColourBy::Command;
  const Painted command(scene, span);
  EXPECT_NE(command.in(ref(1)), command.in(ref(2)));
}

TEST(Paint, ADifferenceRowShowsTheDelta) {
  const Timeline a = timeline_with({{.name = "main"}}, {{0, 100 * us}, {200 * us, 100 * us}, {400 * us, 100 * us}});
  Scene scene = scene_with({a, a}, Arrangement::Interleaved);
  scene.runs[1].deltas = std::make_shared<SliceDeltas>(SliceDeltas{50_us, -50_us, no_partner});
  scene.delta_scale = 50_us;
  scene.rows = with_difference_rows(scene.rows, scene.runs, 1);
  const Painted painted(std::move(scene), {Time{0}, Time{600 * us}});
  const PlacedRow& row = painted.layout.rows[3];
  ASSERT_EQ(painted.scene.rows[row.row].kind, Row::Kind::Difference);
  const int y = top_of(painted.layout, painted.view, row) + row.lane_height / 2;
  const auto colour = [&](double x) { return painted.image.pixel(painted.layout.names + static_cast<int>(x), y); };
  EXPECT_EQ(colour(83), delta_fill(50_us, 50_us, false));
  EXPECT_EQ(colour(416), delta_fill(-50_us, 50_us, false));
  EXPECT_EQ(colour(750), only_here_fill());
  EXPECT_EQ(painted.in(ref(1, 1)), fill_of(Family::Gemm, false)) << "the track itself keeps its colours";
}

TEST(Paint, BesideTheCriticalPathSlicesArePale) {
  Scene scene = one_stream({{0, 100 * us}, {200 * us, 100 * us}});
  scene.paths.push_back({0, {{.slice = SliceId{2}, .start = Time{200 * us}, .duration = 100_us}}});
  const Painted painted(std::move(scene), {Time{0}, Time{400 * us}});
  const Box on = painted.box(ref(2));
  EXPECT_EQ(painted.image.pixel(static_cast<int>(on.x + on.width * 0.7), static_cast<int>(on.y) + 3),
            fill_of(Family::Gemm, false));
  EXPECT_EQ(painted.in(ref(2)), theme_of(false).path);
  EXPECT_GT(contrast(painted.in(ref(1)), 0xff000000), contrast(fill_of(Family::Gemm, false), 0xff000000));
}

TEST(Paint, OutlinesWhatIsSelectedFoundAndPaired) {
  Scene scene = one_stream({{0, 100 * us}, {200 * us, 100 * us}, {400 * us, 100 * us}});
  scene.selection = {ref(1)};
  scene.partners = {ref(2)};
  scene.marks = {ref(3)};
  const Painted painted(std::move(scene), {Time{0}, Time{600 * us}});
  const auto edge = [&](SliceRef slice) {
    const Box box = painted.box(slice);
    return painted.image.pixel(static_cast<int>(box.x + box.width / 2), static_cast<int>(box.y));
  };
  EXPECT_EQ(edge(ref(1)), theme_of(false).accent);
  EXPECT_EQ(edge(ref(2)), theme_of(false).partner);
  EXPECT_EQ(edge(ref(3)), theme_of(false).mark);
}

TEST(Paint, AGhostIsPale) {
  Scene scene = one_stream({{0, 100 * us}});
  scene.runs[0].ghost = true;
  const Painted painted(std::move(scene), {Time{0}, Time{400 * us}});
  EXPECT_GT(contrast(painted.in(ref(1)), 0xff000000), contrast(fill_of(Family::Gemm, false), 0xff000000));
}

TEST(Paint, AFoldedRankShowsHowBusyItIs) {
  Scene scene = one_stream({{0, 100 * us}});
  scene.rows[0].folded = true;
  const Painted painted(std::move(scene), {Time{0}, Time{400 * us}});
  EXPECT_EQ(painted.in(ref(1)), theme_of(false).header) << "below the bar";
  const Box box = painted.box(ref(1));
  EXPECT_EQ(painted.image.pixel(static_cast<int>(box.x + 20), static_cast<int>(box.y + box.height / 2)),
            fill_of(Family::Gemm, false));
}

TEST(Paint, ACounterIsAStepCurve) {
  Timeline timeline;
  const TrackId track = timeline.add(Track{.kind = TrackKind::Counter, .name = "c", .unit = "bytes"});
  timeline.add(CounterSample{track, Time{100}, 10});
  timeline.add(CounterSample{track, Time{500}, 0});
  timeline.add(CounterSample{track, Time{800}, 5});
  const Painted painted(scene_with({std::move(timeline)}), {Time{0}, Time{1000}});
  const PlacedRow& row = painted.layout.rows.back();
  const int top = top_of(painted.layout, painted.view, row);
  const auto highest = [&](int x) {
    for (int y = top; y < top + row.height; ++y)
      if (painted.image.pixel(painted.layout.names + x, y) == theme_of(false).counter) return y - top;
    return -1;
  };
  EXPECT_EQ(highest(50), -1) << "nothing is known before the first sample";
  const int high = highest(300), low = highest(600), middle = highest(900);
  EXPECT_GT(high, 0);
  EXPECT_GT(low, middle);
  EXPECT_GT(middle, high);
  EXPECT_NEAR(middle, (low + high) / 2.0, 1);
}

TEST(Paint, PinnedRowsStayAndTheOthersScroll) {
  const Timeline timeline =
      timeline_with({{.name = "a"}, {.name = "b"}, {.name = "c"}}, {{0, 100 * us, Family::Gemm, "x", 0},
                                                                    {0, 100 * us, Family::Memory, "x", 1},
                                                                    {0, 100 * us, Family::Collective, "x", 2}});
  Scene scene = scene_with({timeline});
  scene.rows[3].pinned = true;
  const Layout layout = lay_out(scene, {});
  QImage image(1220, layout.rows_top() + 30, QImage::Format_RGB32);
  const Viewport view{TimeMap({Time{0}, Time{400 * us}}, 1220 - layout.names), 40, image.width(), image.height()};
  PaintCache cache;
  paint(image, scene, layout, view, cache);
  const auto box = box_of(scene, layout, view, ref(3));
  EXPECT_EQ(image.pixel(static_cast<int>(box->x + 200), static_cast<int>(box->y + 14)),
            fill_of(Family::Collective, false));
  EXPECT_EQ(image.pixel(static_cast<int>(box->x + 200), layout.rows_top() + 14), fill_of(Family::Memory, false));
}

// Of many selected slices in one pixel one outline is drawn, and the longest one is among them.
TEST(Paint, OutlinesOfManySelectedSlicesLookLikeThoseOfFew) {
  std::vector<SliceAt> slices;
  for (std::int64_t i = 0; i < 2'000; ++i) slices.push_back({i * 1'000, 500, Family::Compute, "k"});
  slices.push_back({2'000'000, 400'000, Family::Gemm, "long"});
  Scene scene = one_stream(slices);
  for (std::uint32_t i = 1; i <= slices.size(); ++i) scene.selection.push_back(ref(i));
  const TimeSpan span{Time{0}, Time{4'000'000}};
  const Painted all(scene, span);
  const auto outlined = [&](const Painted& painted, SliceRef slice, double part) {
    const Box box = painted.box(slice);
    return painted.image.pixel(static_cast<int>(box.x + box.width * part), static_cast<int>(box.y)) ==
           theme_of(false).accent;
  };
  EXPECT_TRUE(outlined(all, ref(2'001), 0.5));
  for (const std::uint32_t i : {1u, 777u, 1'999u}) EXPECT_TRUE(outlined(all, ref(i), 0)) << i;
  // Nothing else of the picture differs from one with every second slice selected: 4 of them share a pixel.
  std::erase_if(scene.selection, [](SliceRef r) { return r.slice.value % 2 == 0; });
  EXPECT_EQ(Painted(scene, span).image, all.image);
}

TEST(Paint, SameOnOneThreadAndOnMany) {
  std::vector<Track> tracks;
  std::vector<SliceAt> slices;
  for (std::uint32_t i = 0; i < 40; ++i) tracks.push_back({.rank = i / 10, .name = fmt::format("s{}", i)});
  for (std::int64_t i = 0; i < 5'000; ++i)
    slices.push_back(
        {i * 977 % 1'000'000, i * 31 % 5'000, static_cast<Family>(i % 11), "kernel", static_cast<std::size_t>(i % 40)});
  const Scene scene = scene_with({timeline_with(tracks, slices)});
  const Layout layout = lay_out(scene, {});
  const Viewport view{TimeMap({Time{0}, Time{1'000'000}}, 1000), 0, 1000 + layout.names, 900};
  QImage one(view.width, view.height, QImage::Format_RGB32), many = one.copy();
  PaintCache cache;
  paint(one, scene, layout, view, cache, {.threads = 1});
  paint(many, scene, layout, view, cache, {.threads = 4});
  EXPECT_EQ(one, many);
}

TEST(Paint, AnySizeAndNothingToShow) {
  EXPECT_EQ(picture(Scene{}, 300, 200).pixel(5, 5), theme_of(false).window);
  const Scene scene = one_stream({{0, 1}, {INT64_MAX / 4, 1}});
  for (const int width : {1, 100, 221, 4000})
    for (const int height : {1, 40, 61, 2000}) EXPECT_EQ(picture(scene, width, height).width(), width);
  EXPECT_EQ(picture(one_stream({}), 400, 200).height(), 200);
}

TEST(Paint, WhatIsFarOutOfViewDoesNoHarm) {
  Scene scene = one_stream({{-INT64_MAX / 4, 100}, {0, 100}, {INT64_MAX / 4, 100}});
  scene.selection = scene.marks = scene.partners = {ref(1), ref(2), ref(3)};
  scene.arrows = {{ref(1), ref(3)}, {ref(3), ref(2)}};
  scene.bookmarks = {{Time{INT64_MAX / 4}, "far"}, {Time{-INT64_MAX / 4}, "away"}};
  scene.measured = TimeSpan{Time{INT64_MAX / 4}, Time{-INT64_MAX / 4}};
  scene.range = RangeSelection{{Time{-INT64_MAX / 4}, Time{INT64_MAX / 4}}, {1}};
  scene.paths.push_back({0, {{.slice = SliceId{3}, .start = Time{0}, .duration = Picoseconds{INT64_MAX / 4}}}});
  const Painted near(scene, {Time{0}, Time{1000}});
  EXPECT_EQ(near.box(ref(2)).width, 100);
  const Painted far(scene, {Time{-INT64_MAX / 4}, Time{INT64_MAX / 4}});
  EXPECT_LT(far.box(ref(2)).width, 1);
}

TEST(ShortName, SaysWhichKernelItIs) {
  EXPECT_EQ(short_name("gemm"), "gemm");
  EXPECT_EQ(short_name("void at::native::vectorized_elementwise_kernel<4, at::native::Add<float>>(int, float*)"),
            "vectorized_elementwise_kernel");
  EXPECT_EQ(short_name("at::native::(anonymous namespace)::softmax<float>(float*)"), "softmax");
  EXPECT_EQ(short_name("aten::mm"), "mm");
  EXPECT_EQ(short_name("<lambda>"), "<lambda>");
  EXPECT_EQ(short_name("Memcpy HtoD (Pinned -> Device)"), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(short_name("## forward ##"), "## forward ##");
  EXPECT_EQ(short_name("torch/_ops.py(841): __call__"), "torch/_ops.py(841): __call__");
  EXPECT_EQ(short_name("<built-in method to of Tensor object at 0x7f>"),
            "<built-in method to of Tensor object at 0x7f>");
  EXPECT_EQ(short_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(short_name(""), "");
}

TEST(NumberText, HasThreeDigitsAndAPrefix) {
  EXPECT_EQ(number_text(1.25e10, "bytes/s"), "12.5 GB/s");
  EXPECT_EQ(number_text(0, "bytes"), "0 B");
  EXPECT_EQ(number_text(97.5, "%"), "97.5 %");
  EXPECT_EQ(number_text(1980e6, "Hz"), "1.98 GHz");
  EXPECT_EQ(number_text(1980, "MHz"), "1.98 GHz");
  EXPECT_EQ(number_text(132, ""), "132");
}

}  // namespace
}  // namespace stave::gui
