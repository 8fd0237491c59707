#include "gui/view/scene.h"

#include <algorithm>
#include <cstdlib>

namespace stave::gui {

RunInView run_in_view(std::shared_ptr<const Timeline> timeline, std::string title) {
  RunInView run{.timeline = std::move(timeline), .index = nullptr, .lod = nullptr, .title = std::move(title)};
  run.index = std::make_shared<TimelineIndex>(*run.timeline);
  run.lod = std::make_shared<Lod>(*run.index);
  return run;
}

const RunInView* run_with_steps(const Scene& scene) {
  const auto has_steps = [](const RunInView& run) { return !run.ghost && !run.timeline->steps().empty(); };
  if (scene.chosen < scene.runs.size() && has_steps(scene.runs[scene.chosen])) return &scene.runs[scene.chosen];
  const auto at = std::find_if(scene.runs.begin(), scene.runs.end(), has_steps);
  return at == scene.runs.end() ? nullptr : &*at;
}

std::optional<std::size_t> row_of(const Scene& scene, SliceRef ref) {
  const TrackId track = slice_of(scene, ref).track;
  for (std::size_t i = 0; i < scene.rows.size(); ++i) {
    const Row& row = scene.rows[i];
    if (row.kind == Row::Kind::Track && row.run == ref.run && row.track == track) return i;
  }
  return std::nullopt;
}

const Slice& slice_of(const Scene& scene, SliceRef ref) { return scene.runs[ref.run].timeline->slice(ref.slice); }

TimeSpan span_of(const Scene& scene, SliceRef ref) {
  const Slice& slice = slice_of(scene, ref);
  const Picoseconds shift = scene.runs[ref.run].shift;
  return {slice.start + shift, slice.end() + shift};
}

TimeSpan extent_of(const Scene& scene) {
  TimeSpan all{Time::max(), Time::min()};
  const auto add = [&](Time begin, Time end) {
    all.start = std::min(all.start, begin);
    all.end = std::max(all.end, end);
  };
  for (const RunInView& run : scene.runs) {
    for (std::size_t i = 0; i < run.timeline->tracks().size(); ++i) {
      const TrackLod& track = run.lod->track(TrackId{i});
      for (const LaneLod& lane : track.lanes)
        for (const Node& node : lane.levels.back()) add(node.begin + run.shift, node.end + run.shift);
      const auto& points = track.counter.points;
      if (!points.empty()) add(points.front().time + run.shift, points.back().time + run.shift);
    }
  }
  if (all.start > all.end) return {Time{0}, 1_us};
  return all;
}

std::vector<Arrow> arrows_of(const Scene& scene, const std::vector<SliceRef>& slices) {
  std::vector<Arrow> arrows;
  for (std::size_t run = 0; run < scene.runs.size(); ++run) {
    std::vector<SliceId> wanted;
    for (const SliceRef& ref : slices)
      if (ref.run == run) wanted.push_back(ref.slice);
    if (wanted.empty()) continue;
    std::sort(wanted.begin(), wanted.end());
    const auto is_wanted = [&](SliceId slice) { return std::binary_search(wanted.begin(), wanted.end(), slice); };
    for (const SliceFlow& flow : scene.runs[run].timeline->flows())
      if (is_wanted(flow.from) || is_wanted(flow.to))
        arrows.push_back({{run, flow.from}, {run, flow.to}, flow.kind, flow.certainty});
  }
  return arrows;
}

SliceDeltas deltas_of(const Comparison& comparison, DeltaOf what, bool of_b) {
  const Timeline& timeline = of_b ? comparison.timeline_b() : comparison.timeline_a();
  SliceDeltas deltas(timeline.slices().size(), no_partner);
  for (const SliceChange& change : changes_of(comparison)) {
    const SliceId slice = of_b ? change.slices.b : change.slices.a;
    Picoseconds& delta = deltas[slice.row()];
    switch (what) {
      case DeltaOf::Start: delta = change.b_start - change.a_start; break;
      case DeltaOf::Duration: delta = change.b_duration - change.a_duration; break;
      case DeltaOf::Gap: delta = change.b_gap - change.a_gap; break;
    }
  }
  return deltas;
}

Picoseconds delta_scale_of(const Scene& scene) {
  if (scene.delta_scale > Picoseconds{}) return scene.delta_scale;
  std::vector<std::int64_t> sizes;
  for (const RunInView& run : scene.runs) {
    if (!run.deltas) continue;
    const std::size_t stride = std::max<std::size_t>(1, run.deltas->size() / 8'192);
    for (std::size_t i = 0; i < run.deltas->size(); i += stride)
      if (const Picoseconds delta = (*run.deltas)[i]; delta != no_partner && delta != Picoseconds{})
        sizes.push_back(std::abs(delta.count()));
  }
  if (sizes.empty()) return 1_ps;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>((sizes.size() - 1) * 95 / 100);
  std::nth_element(sizes.begin(), at, sizes.end());
  return Picoseconds{*at};
}

std::optional<SliceRef> next_slice(const Scene& scene, SliceRef ref, bool forward) {
  const RunInView& run = scene.runs[ref.run];
  const Slice& slice = slice_of(scene, ref);
  const auto rows = run.index->rows(slice.track);
  const auto before = [&](std::uint32_t row, Time start) { return run.timeline->slices()[row].start < start; };
  auto at = std::lower_bound(rows.begin(), rows.end(), slice.start, before);
  while (at != rows.end() && *at != ref.slice.row()) ++at;
  if (at == rows.end() || (forward ? at + 1 == rows.end() : at == rows.begin())) return std::nullopt;
  return SliceRef{ref.run, SliceId{(forward ? *(at + 1) : *(at - 1)) + 1}};
}

}  // namespace stave::gui
