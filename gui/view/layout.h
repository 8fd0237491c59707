// Where the rows of a scene are. Lengths are device pixels: logical ones times `scale`.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gui/view/scene.h"
#include "gui/view/time_map.h"

namespace stave::gui {

struct Metrics {
  double scale = 1;
  int lane = 18;    // height of a lane, logical; below 10 there are no labels
  int names = 220;  // width of the names column, logical; 0: none
  bool minimap = true;
  bool ruler = true;

  int px(double logical) const;

  friend bool operator==(const Metrics&, const Metrics&) = default;
};

// A row that is shown. `y` counts from the top of the pinned part or of the scrolled part.
struct PlacedRow {
  std::size_t row = 0;
  int y = 0;
  int height = 0;       // with the space below
  int lane_height = 0;  // with the space below
  int lanes = 1;        // 1 for headers, counters and folded tracks
  bool pinned = false;
};

struct Layout {
  Metrics metrics{};
  std::vector<PlacedRow> rows{};  // the pinned ones first, both parts by y
  std::size_t pinned_rows = 0;
  // By run and track: position in `rows` of where its slices are, be it a folded header; -1: not shown.
  std::vector<std::vector<int>> places{};
  int names = 0;    // x where the tracks begin
  int minimap = 0;  // heights, from the top
  int ruler = 0;    // with the steps below it
  int steps = 0;    // the part of `ruler` that shows steps
  int pinned = 0;
  int content = 0;  // height of the scrolled part, all of it

  int top() const { return minimap + ruler; }
  int rows_top() const { return top() + pinned; }  // of the scrolled part
};
Layout lay_out(const Scene& scene, const Metrics& metrics);

// What is looked at: `time` maps to x from the left edge of the tracks, `scroll` is the
// content's y at the top of the scrolled part.
struct Viewport {
  TimeMap time{};
  int scroll = 0;
  int width = 0;  // of everything, names column too
  int height = 0;

  friend bool operator==(const Viewport&, const Viewport&) = default;
};
int max_scroll(const Layout& layout, int height);
// Of the whole view. A row of the scrolled part may be outside of it.
int top_of(const Layout& layout, const Viewport& view, const PlacedRow& row);
// Null where there is none.
const PlacedRow* row_at(const Layout& layout, const Viewport& view, double y);

struct Hit {
  enum class Part : std::uint8_t { Nothing, Minimap, Ruler, Names, Rows };
  Part part = Part::Nothing;
  std::optional<std::size_t> row{};  // position in Scene::rows
  std::optional<SliceRef> slice{};   // at the pixel or at most `reach` pixels away in x
};
Hit hit(const Scene& scene, const Layout& layout, const Viewport& view, double x, double y, double reach = 3);

// In pixels of the whole view.
struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  bool pinned = false;
};
// Where a slice is drawn, in view or not; none if its row is not shown.
std::optional<Box> box_of(const Scene& scene, const Layout& layout, const Viewport& view, SliceRef ref);
// The scroll nearest to `view.scroll` that shows all of a row of the scrolled part.
int scroll_to(const Layout& layout, const Viewport& view, const PlacedRow& row);

// The edge of a slice that is nearest to x and at most `reach` pixels away: in the row at y if it
// has one, else in the other shown rows; else the time at x.
struct Snapped {
  Time time{};
  std::optional<SliceRef> slice{};  // whose edge it is
};
Snapped snap(const Scene& scene, const Layout& layout, const Viewport& view, double x, double y, double reach = 6);

}  // namespace stave::gui
