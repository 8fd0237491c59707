#include "gui/view/layout.h"

#include <algorithm>
#include <cmath>

namespace stave::gui {
namespace {

constexpr int minimap_height = 30, ruler_height = 26, step_height = 15;
constexpr int header_height = 22, counter_height = 36, difference_height = 9;
constexpr int small_lane = 10;

PlacedRow place(const Scene& scene, const Metrics& metrics, std::size_t i) {
  const Row& row = scene.rows[i];
  PlacedRow placed{.row = i};
  const int lane = row.height ? row.height : metrics.lane;
  const int gap = lane < small_lane ? 0 : 3;
  if (row.header()) {
    placed.height = placed.lane_height = metrics.px(std::clamp(lane + 4, 12, header_height));
    return placed;
  }
  if (row.kind == Row::Kind::Difference) {
    placed.lane_height = metrics.px(std::min(lane, difference_height));
    placed.height = placed.lane_height + metrics.px(gap);
    return placed;
  }
  const TrackLod& track = scene.runs[row.run].lod->track(row.track);
  if (track.lanes.empty()) {
    placed.lane_height = metrics.px(lane < small_lane ? lane : counter_height * std::max(lane, 18) / 18);
    placed.height = placed.lane_height + metrics.px(gap);
    return placed;
  }
  placed.lanes = row.folded ? 1 : static_cast<int>(track.lanes.size());
  placed.lane_height = metrics.px(placed.lanes > 8 ? std::max(lane * 2 / 3, std::min(lane, 6)) : lane);
  placed.height = placed.lanes * placed.lane_height + metrics.px(gap);
  return placed;
}

std::size_t first_start_after(const LaneLod& lane, Time time) {
  return static_cast<std::size_t>(std::upper_bound(lane.slices.begin(), lane.slices.end(), time,
                                                   [](Time t, const LaneSlice& slice) { return t < slice.start(); }) -
                                  lane.slices.begin());
}

// How well a slice answers a click: in it before beside it, then the nearest, then the shortest.
struct Candidate {
  double distance = 0;
  Picoseconds duration{};
  SliceRef ref{};

  bool better_than(const Candidate& other) const {
    return distance != other.distance ? distance < other.distance : duration < other.duration;
  }
};

void look_in_lane(const Scene& scene, std::size_t run, const LaneLod& lane, const TimeMap& time, double x, double reach,
                  std::optional<Candidate>& best) {
  const auto slices = scene.runs[run].timeline->slices();
  const auto look = [&](std::size_t i) {
    const LaneSlice& slice = lane.slices[i];
    const double left = time.x(slice.start()), right = time.x(slice.end(slices));
    const Candidate candidate{
        std::max({left - x, x - right, 0.0}), slice.duration(slices), {run, SliceId{slice.row() + 1}}};
    if (candidate.distance <= reach && (!best || candidate.better_than(*best))) best = candidate;
  };
  const std::size_t after = first_start_after(lane, time.time(x));
  // Neighbours in the lane are neighbours on screen; several are looked at because the last lane may overlap.
  constexpr std::size_t around = 64;
  for (std::size_t i = after; i > 0 && i + around > after; --i) look(i - 1);
  if (after < lane.slices.size()) look(after);
}

void nearest_edge(const Scene& scene, std::size_t run, const LaneLod& lane, const TimeMap& time, double x, double reach,
                  double& distance, Snapped& snapped) {
  const auto slices = scene.runs[run].timeline->slices();
  const std::size_t after = first_start_after(lane, time.time(x));
  const Picoseconds shift = scene.runs[run].shift;
  for (std::size_t i = after > 1 ? after - 2 : 0; i < std::min(after + 1, lane.slices.size()); ++i)
    for (const Time edge : {lane.slices[i].start(), lane.slices[i].end(slices)})
      if (const double away = std::abs(time.x(edge) - x); away <= reach && away < distance) {
        distance = away;
        snapped = {edge + shift, SliceRef{run, SliceId{lane.slices[i].row() + 1}}};
      }
}

}  // namespace

int Metrics::px(double logical) const { return static_cast<int>(std::lround(logical * scale)); }

Layout lay_out(const Scene& scene, const Metrics& metrics) {
  Layout layout{.metrics = metrics};
  layout.names = metrics.px(metrics.names);
  layout.minimap = metrics.minimap ? metrics.px(minimap_height) : 0;
  layout.steps = run_with_steps(scene) != nullptr && metrics.ruler ? metrics.px(step_height) : 0;
  layout.ruler = metrics.ruler ? metrics.px(ruler_height) + layout.steps : 0;
  for (const RunInView& run : scene.runs) layout.places.emplace_back(run.timeline->tracks().size(), -1);

  const auto& rows = scene.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].pinned || rows[i].hidden || rows[i].header()) continue;
    PlacedRow placed = place(scene, metrics, i);
    placed.pinned = true;
    placed.y = layout.pinned;
    layout.pinned += placed.height;
    if (rows[i].kind == Row::Kind::Track)
      layout.places[rows[i].run][rows[i].track.value] = static_cast<int>(layout.rows.size());
    layout.rows.push_back(placed);
  }
  layout.pinned_rows = layout.rows.size();
  if (layout.pinned > 0) layout.pinned += metrics.px(3);
  for (std::size_t i = 0; i < rows.size();) {
    if (rows[i].hidden) {
      i = row_end(rows, i);
      continue;
    }
    if (rows[i].pinned && !rows[i].header()) {
      ++i;
      continue;
    }
    PlacedRow placed = place(scene, metrics, i);
    placed.y = layout.content;
    layout.content += placed.height;
    const auto at = static_cast<int>(layout.rows.size());
    layout.rows.push_back(placed);
    const auto lies_there = [&](const Row& row) {
      if (row.kind != Row::Kind::Track || row.hidden) return;
      if (int& position = layout.places[row.run][row.track.value]; position < 0) position = at;
    };
    lies_there(rows[i]);
    const std::size_t end = rows[i].header() && rows[i].folded ? row_end(rows, i) : i + 1;
    for (++i; i < end; ++i) lies_there(rows[i]);
  }
  return layout;
}

int max_scroll(const Layout& layout, int height) { return std::max(0, layout.content - (height - layout.rows_top())); }

int top_of(const Layout& layout, const Viewport& view, const PlacedRow& row) {
  return row.pinned ? layout.top() + row.y : layout.rows_top() + row.y - view.scroll;
}

const PlacedRow* row_at(const Layout& layout, const Viewport& view, double y) {
  if (y < layout.top() || y >= view.height) return nullptr;
  const bool pinned = y < layout.rows_top();
  const double inside = pinned ? y - layout.top() : y - layout.rows_top() + view.scroll;
  const auto begin = layout.rows.begin() + static_cast<std::ptrdiff_t>(pinned ? 0 : layout.pinned_rows);
  const auto end = pinned ? layout.rows.begin() + static_cast<std::ptrdiff_t>(layout.pinned_rows) : layout.rows.end();
  const auto after = std::upper_bound(begin, end, inside, [](double at, const PlacedRow& row) { return at < row.y; });
  if (after == begin) return nullptr;
  const PlacedRow& row = *(after - 1);
  return inside < row.y + row.height ? &row : nullptr;
}

Hit hit(const Scene& scene, const Layout& layout, const Viewport& view, double x, double y, double reach) {
  Hit found;
  if (x < 0 || y < 0 || x >= view.width || y >= view.height) return found;
  if (y < layout.top()) {
    if (x >= layout.names) found.part = y < layout.minimap ? Hit::Part::Minimap : Hit::Part::Ruler;
    return found;
  }
  found.part = x < layout.names ? Hit::Part::Names : Hit::Part::Rows;
  const PlacedRow* placed = row_at(layout, view, y);
  if (placed == nullptr) return found;
  found.row = placed->row;
  const Row& row = scene.rows[placed->row];
  if (found.part == Hit::Part::Names || row.header()) return found;
  const TrackLod& track = scene.runs[row.run].lod->track(row.track);
  if (track.lanes.empty()) return found;
  const TimeMap time = view.time.shifted(scene.runs[row.run].shift);
  std::optional<Candidate> best;
  if (placed->lanes == static_cast<int>(track.lanes.size())) {
    const int lane = std::clamp(
        (static_cast<int>(y) - top_of(layout, view, *placed)) / std::max(placed->lane_height, 1), 0, placed->lanes - 1);
    look_in_lane(scene, row.run, track.lanes[static_cast<std::size_t>(lane)], time, x - layout.names, reach, best);
  } else {
    for (const LaneLod& lane : track.lanes) look_in_lane(scene, row.run, lane, time, x - layout.names, reach, best);
  }
  if (best) found.slice = best->ref;
  return found;
}

std::optional<Box> box_of(const Scene& scene, const Layout& layout, const Viewport& view, SliceRef ref) {
  const Slice& slice = slice_of(scene, ref);
  const int place = layout.places[ref.run][slice.track.value];
  if (place < 0) return std::nullopt;
  const PlacedRow& placed = layout.rows[static_cast<std::size_t>(place)];
  const TimeMap time = view.time.shifted(scene.runs[ref.run].shift);
  Box box{.y = static_cast<double>(top_of(layout, view, placed)), .height = static_cast<double>(placed.lane_height)};
  if (placed.lanes > 1)
    box.y += static_cast<double>(placed.lane_height) * static_cast<double>(scene.runs[ref.run].lod->lane_of(ref.slice));
  box.x = layout.names + time.x(slice.start);
  box.width = time.x(slice.end()) - time.x(slice.start);
  box.pinned = placed.pinned;
  return box;
}

int scroll_to(const Layout& layout, const Viewport& view, const PlacedRow& row) {
  if (row.pinned) return view.scroll;
  const int space = std::max(0, view.height - layout.rows_top());
  int scroll = std::max(view.scroll, row.y + row.height - space);
  scroll = std::min(scroll, row.y);
  return std::clamp(scroll, 0, max_scroll(layout, view.height));
}

Snapped snap(const Scene& scene, const Layout& layout, const Viewport& view, double x, double y, double reach) {
  const double at = x - layout.names;
  Snapped snapped{view.time.time(at), std::nullopt};
  double distance = reach + 1;
  const auto look_in = [&](const PlacedRow& placed) {
    const Row& row = scene.rows[placed.row];
    if (row.header()) return;
    const TimeMap time = view.time.shifted(scene.runs[row.run].shift);
    for (const LaneLod& lane : scene.runs[row.run].lod->track(row.track).lanes)
      nearest_edge(scene, row.run, lane, time, at, reach, distance, snapped);
  };
  if (const PlacedRow* placed = row_at(layout, view, y)) look_in(*placed);
  if (snapped.slice) return snapped;
  for (const PlacedRow& placed : layout.rows) {
    const int top = top_of(layout, view, placed);
    if (top + placed.height > (placed.pinned ? layout.top() : layout.rows_top()) && top < view.height) look_in(placed);
  }
  return snapped;
}

}  // namespace stave::gui
