#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "gui/view/layout.h"
#include "tests/gui/view_scene.h"

namespace stave::gui {
namespace {

std::vector<Track> node_tracks() {
  return {{.rank = 0, .kind = TrackKind::Host, .name = "host 0"},
          {.rank = 0, .kind = TrackKind::CopyEngine, .name = "copy out"},
          {.rank = 0, .name = "communication 0", .stream = 2},
          {.rank = 0, .name = "main", .stream = 0},
          {.rank = 0, .kind = TrackKind::Link, .name = "to rank 1"},
          {.rank = 1, .name = "main", .stream = 0},
          {.rank = 1, .name = "never used", .stream = 1}};
}

Timeline node_timeline() {
  std::vector<SliceAt> slices;
  for (std::size_t track = 0; track < 6; ++track) slices.push_back({0, 100, Family::Gemm, "x", track});
  return timeline_with(node_tracks(), slices);
}

TEST(Rows, DevicesFirstHostFoldedNothingEmpty) {
  EXPECT_EQ(rows_text(scene_with({node_timeline()}).rows), R"(Rank 0
  main
  communication 0
  copy out
  Links
    to rank 1
  Host threads +
    host 0
Rank 1
  main
)");
}

TEST(Rows, TwoRunsStackedAndInterleaved) {
  const Timeline small = timeline_with({{.name = "main"}}, {{0, 1}});
  EXPECT_EQ(rows_text(scene_with({small, small}).rows), "A\n  Rank 0\n    main\nB\n  Rank 0\n    main\n");
  const Scene scene = scene_with({small, small}, Arrangement::Interleaved);
  EXPECT_EQ(rows_text(scene.rows), "Rank 0\n  main (A)\n  main (B)\n");
  EXPECT_EQ(rows_text(with_difference_rows(scene.rows, scene.runs, 1)), "Rank 0\n  main (A)\n  main (B)\n  Δ\n");
}

TEST(Rows, WithoutDevicesTheHostIsOpen) {
  const Timeline timeline = timeline_with({{.kind = TrackKind::Host, .name = "t"}}, {{0, 1}});
  EXPECT_EQ(rows_text(scene_with({timeline}).rows), "Rank 0\n  Host threads\n    t\n");
}

// Below devices, deep ranges are one line at first.
TEST(Rows, RangesInManyLanesAreFoldedWhereThereAreDevices) {
  const auto rows = [](std::vector<Track> tracks, int lanes) {
    std::vector<SliceAt> slices;
    for (std::size_t track = 0; track < tracks.size(); ++track) slices.push_back({0, 100, Family::Gemm, "x", track});
    for (int lane = 1; lane < lanes; ++lane)
      slices.push_back({0, 50, Family::Gemm, "x", tracks.size() - 1, static_cast<std::uint16_t>(lane)});
    return rows_text(scene_with({timeline_with(std::move(tracks), slices)}).rows);
  };
  const Track device{.name = "main"}, ranges{.kind = TrackKind::Range, .name = "thread 1"};
  EXPECT_EQ(rows({device, ranges}, 3), "Rank 0\n  main\n  Ranges +\n    thread 1\n");
  EXPECT_EQ(rows({device, ranges}, 2), "Rank 0\n  main\n  Ranges\n    thread 1\n");
  EXPECT_EQ(rows({ranges}, 3), "Rank 0\n  Ranges\n    thread 1\n");
}

TEST(Rows, ManyRanksAreFoldedAfterTheFourth) {
  std::vector<Track> tracks;
  std::vector<SliceAt> slices;
  for (std::uint32_t rank = 0; rank < 9; ++rank) {
    tracks.push_back({.rank = rank, .name = "main"});
    slices.push_back({0, 1, Family::Gemm, "x", rank});
  }
  const Scene scene = scene_with({timeline_with(tracks, slices)});
  EXPECT_FALSE(scene.rows[6].folded);
  EXPECT_TRUE(scene.rows[8].folded);
}

TEST(Rows, MoveOnlyAmongTheirOwn) {
  auto rows = scene_with({node_timeline()}).rows;
  EXPECT_TRUE(move_row(rows, 1, 3));  // main behind communication 0
  EXPECT_EQ(rows[1].name, "communication 0");
  EXPECT_EQ(rows[2].name, "main");
  EXPECT_TRUE(move_row(rows, 8, 0));  // rank 1 before rank 0, with its track
  EXPECT_EQ(rows_text({rows.begin(), rows.begin() + 4}), "Rank 1\n  main\nRank 0\n  communication 0\n");
  EXPECT_FALSE(move_row(rows, 1, 4));  // out of its rank
  EXPECT_FALSE(move_row(rows, 0, 1));  // into itself
  EXPECT_TRUE(move_row(rows, 0, rows.size()));
  EXPECT_EQ(rows.back().name, "main");
  EXPECT_EQ(rows[rows.size() - 2].name, "Rank 1");
}

RC_GTEST_PROP(RowsProperty, MovingKeepsAllRowsAndTheirHeaders, ()) {
  auto rows = scene_with({node_timeline()}).rows;
  const auto header_of = [](const std::vector<Row>& of, const std::string& key) -> std::string {
    for (std::size_t i = 0; i < of.size(); ++i)
      if (of[i].key == key)
        for (std::size_t k = i; k-- > 0;)
          if (of[k].depth < of[i].depth) return of[k].key;
    return "";
  };
  const auto before = rows;
  const auto from = *rc::gen::inRange<std::size_t>(0, rows.size()),
             to = *rc::gen::inRange<std::size_t>(0, rows.size() + 1);
  const bool moved = move_row(rows, from, to);
  RC_ASSERT(moved || rows == before);
  RC_ASSERT(rows.size() == before.size());
  for (const Row& row : before) RC_ASSERT(header_of(rows, row.key) == header_of(before, row.key));
}

TEST(Rows, CarriedOverToTheNextRun) {
  auto old = scene_with({node_timeline()}).rows;
  move_row(old, 1, 3);
  old[2].pinned = true;   // main
  old[6].folded = false;  // host threads
  auto next = scene_with({node_timeline()}).rows;
  carry_rows(old, next);
  EXPECT_EQ(rows_text(next), rows_text(old));
  auto two = scene_with({node_timeline(), node_timeline()}).rows;
  carry_rows(old, two);
  EXPECT_TRUE(two[3].pinned);
  EXPECT_EQ(two[2].name, "communication 0");
}

TEST(Layout, FoldedHiddenAndPinned) {
  Scene scene = scene_with({node_timeline()});
  const Metrics metrics{.minimap = false, .ruler = false};
  const Layout open = lay_out(scene, metrics);
  EXPECT_EQ(open.rows.size(), scene.rows.size() - 1);  // host 0 is folded
  EXPECT_EQ(open.places[0][0], 6);                     // its slices are in the header's row
  EXPECT_EQ(open.top(), 0);
  scene.rows[0].folded = true;
  EXPECT_EQ(lay_out(scene, metrics).rows.size(), 3u);
  scene.rows[1].pinned = true;
  const Layout pinned = lay_out(scene, metrics);
  EXPECT_EQ(pinned.pinned_rows, 1u);
  EXPECT_GT(pinned.rows_top(), 0);
  EXPECT_EQ(pinned.places[0][3], 0);
  scene.rows[8].hidden = true;  // rank 1 and all below it
  const Layout hidden = lay_out(scene, metrics);
  EXPECT_EQ(hidden.rows.size(), 2u);
  EXPECT_EQ(hidden.places[0][5], -1);
}

TEST(Layout, ScalesWithTheScreen) {
  const Scene scene = scene_with({node_timeline()});
  const Layout one = lay_out(scene, {}), two = lay_out(scene, {.scale = 2});
  EXPECT_EQ(two.content, 2 * one.content);
  EXPECT_EQ(two.top(), 2 * one.top());
  EXPECT_EQ(two.names, 2 * one.names);
}

struct Seen {
  Scene scene;
  Layout layout;
  Viewport view;

  explicit Seen(Scene of, TimeSpan span, int width = 1220, int height = 600)
      : scene(std::move(of)), layout(lay_out(scene, {})), view{TimeMap(span, width - layout.names), 0, width, height} {}
};

TEST(Layout, HitsWhatItShows) {
  const Seen seen(scene_with({node_timeline()}), {Time{0}, Time{1000}});
  for (std::uint32_t slice = 1; slice <= 6; ++slice) {
    const auto box = box_of(seen.scene, seen.layout, seen.view, ref(slice));
    ASSERT_TRUE(box);
    const Hit at = hit(seen.scene, seen.layout, seen.view, box->x + box->width / 2, box->y + box->height / 2);
    EXPECT_EQ(at.part, Hit::Part::Rows);
    if (slice == 1) {
      EXPECT_FALSE(at.slice) << "in a folded header";
    } else {
      EXPECT_EQ(at.slice, ref(slice));
    }
  }
  EXPECT_EQ(hit(seen.scene, seen.layout, seen.view, 5, 5).part, Hit::Part::Nothing);
  EXPECT_EQ(hit(seen.scene, seen.layout, seen.view, 500, 5).part, Hit::Part::Minimap);
  EXPECT_EQ(hit(seen.scene, seen.layout, seen.view, 500, seen.layout.minimap + 5).part, Hit::Part::Ruler);
  EXPECT_EQ(hit(seen.scene, seen.layout, seen.view, 5, seen.layout.top() + 5).row, 0u);
  EXPECT_FALSE(hit(seen.scene, seen.layout, seen.view, 500, 599).row);
}

RC_GTEST_PROP(LayoutProperty, EverySliceWideEnoughIsHit, ()) {
  const auto starts = *rc::gen::container<std::vector<std::pair<int, int>>>(
      rc::gen::pair(rc::gen::inRange(0, 900), rc::gen::inRange(3, 90)));
  RC_PRE(!starts.empty() && starts.size() < 25);
  std::vector<SliceAt> slices;
  for (const auto& [start, duration] : starts) slices.push_back({start, duration});
  const Seen seen(one_stream(slices), {Time{0}, Time{1000}}, 1220, 2000);
  for (std::uint32_t i = 1; i <= slices.size(); ++i) {
    const auto box = box_of(seen.scene, seen.layout, seen.view, ref(i));
    const Hit at = hit(seen.scene, seen.layout, seen.view, box->x + box->width / 2, box->y + box->height / 2);
    RC_ASSERT(at.slice.has_value());
    RC_ASSERT(*at.slice == ref(i));
  }
}

TEST(Layout, AThinSliceIsHitFromBesideIt) {
  const Seen seen(one_stream({{500'000, 1}, {0, 1000}, {999'000, 1000}}), {Time{0}, Time{1'000'000}});
  const auto box = box_of(seen.scene, seen.layout, seen.view, ref(1));
  EXPECT_EQ(hit(seen.scene, seen.layout, seen.view, box->x + 2, box->y + 4).slice, ref(1));
  EXPECT_FALSE(hit(seen.scene, seen.layout, seen.view, box->x + 10, box->y + 4).slice);
}

TEST(Layout, ScrollsNoMoreThanNeeded) {
  Seen seen(scene_with({node_timeline()}), {Time{0}, Time{1000}}, 1220, 150);
  EXPECT_GT(max_scroll(seen.layout, 150), 0);
  EXPECT_EQ(scroll_to(seen.layout, seen.view, seen.layout.rows.front()), 0);
  EXPECT_EQ(scroll_to(seen.layout, seen.view, seen.layout.rows.back()), max_scroll(seen.layout, 150));
}

TEST(Snap, ToTheNearestEdgeWithinReach) {
  const Seen seen(one_stream({{100, 100}, {300, 100}}), {Time{0}, Time{1000}});
  const double y = box_of(seen.scene, seen.layout, seen.view, ref(1))->y + 5;
  const auto at = [&](double x, double y_at) {
    return snap(seen.scene, seen.layout, seen.view, seen.layout.names + x, y_at);
  };
  EXPECT_EQ(at(203, y).time, Time{200});
  EXPECT_EQ(at(203, y).slice, ref(1));
  EXPECT_EQ(at(296, y).time, Time{300});
  EXPECT_EQ(at(250, y).time, Time{250});
  EXPECT_FALSE(at(250, y).slice);
  EXPECT_EQ(at(203, 590).time, Time{200}) << "from any place of the view";
}

TEST(Snap, ToTheOwnRowFirst) {
  const Timeline timeline = timeline_with(
      {{.name = "a"}, {.name = "b"}}, {{100, 105}, {300, 100, Family::Gemm, "x", 1}, {0, 201, Family::Gemm, "y", 1}});
  const Seen seen(scene_with({timeline}), {Time{0}, Time{1000}});
  const double y = box_of(seen.scene, seen.layout, seen.view, ref(1))->y + 5;
  EXPECT_EQ(snap(seen.scene, seen.layout, seen.view, seen.layout.names + 201, y).time, Time{205});
}

TEST(Snap, KnowsTheShiftOfARun) {
  Scene scene = one_stream({{100, 100}});
  scene.runs[0].shift = 400_ps;
  const Seen seen(std::move(scene), {Time{0}, Time{1000}});
  EXPECT_EQ(span_of(seen.scene, ref(1)), (TimeSpan{Time{500}, Time{600}}));
  const auto box = box_of(seen.scene, seen.layout, seen.view, ref(1));
  EXPECT_EQ(box->x - seen.layout.names, 500);
  EXPECT_EQ(snap(seen.scene, seen.layout, seen.view, box->x + 3, box->y + 3).time, Time{500});
}

TEST(Scene, NeighboursAndArrows) {
  Timeline timeline =
      timeline_with({{.name = "a"}, {.name = "b"}}, {{0, 1}, {5, 1, Family::Gemm, "x", 1}, {9, 1}, {3, 1}});
  timeline.add(SliceFlow{SliceId{1}, SliceId{2}});
  timeline.add(SliceFlow{SliceId{2}, SliceId{3}});
  const Scene scene = scene_with({std::move(timeline)});
  EXPECT_EQ(next_slice(scene, ref(1), true), ref(4));
  EXPECT_EQ(next_slice(scene, ref(3), false), ref(4));
  EXPECT_EQ(next_slice(scene, ref(1), false), std::nullopt);
  EXPECT_EQ(next_slice(scene, ref(2), true), std::nullopt);
  EXPECT_EQ(arrows_of(scene, {ref(2)}).size(), 2u);
  EXPECT_EQ(arrows_of(scene, {ref(3)}), (std::vector<Arrow>{{ref(2), ref(3)}}));
  EXPECT_EQ(extent_of(scene), (TimeSpan{Time{0}, Time{10}}));
}

}  // namespace
}  // namespace stave::gui
