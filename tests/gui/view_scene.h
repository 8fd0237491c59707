// Small scenes for the tests of the timeline view.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "gui/view/scene.h"

namespace stave::gui {

struct SliceAt {
  std::int64_t start = 0, duration = 0;  // ps
  Family family = Family::Gemm;
  std::string name = "gemm";
  std::size_t track = 0;
  std::uint16_t lane = 0;
  std::uint8_t flags = 0;
};

inline Timeline timeline_with(std::vector<Track> tracks, const std::vector<SliceAt>& slices) {
  Timeline timeline;
  for (Track& track : tracks) timeline.add(std::move(track));
  for (const SliceAt& at : slices) {
    Slice slice{.start = Time{at.start}, .duration = Picoseconds{at.duration}, .track = TrackId{at.track}};
    slice.name = timeline.intern(at.name);
    slice.family = at.family;
    slice.lane = at.lane;
    slice.flags = at.flags;
    timeline.add(slice);
  }
  return timeline;
}

inline Scene scene_with(std::vector<Timeline> timelines, Arrangement arrangement = Arrangement::Stacked) {
  Scene scene;
  for (Timeline& timeline : timelines)
    scene.runs.push_back(run_in_view(std::make_shared<Timeline>(std::move(timeline)),
                                     std::string(1, static_cast<char>('A' + scene.runs.size()))));
  scene.rows = rows_of(scene.runs, arrangement);
  return scene;
}

inline Scene one_stream(const std::vector<SliceAt>& slices) {
  return scene_with({timeline_with({{.name = "main"}}, slices)});
}

inline SliceRef ref(std::uint32_t slice, std::size_t run = 0) { return {run, SliceId{slice}}; }

// "Rank 0|  main|  Host threads +": indented by depth, + folded, * pinned, - hidden.
inline std::string rows_text(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) {
    text += std::string(row.depth * 2u, ' ') + row.name;
    if (!row.tag.empty()) text += " (" + row.tag + ")";
    if (row.folded) text += " +";
    if (row.pinned) text += " *";
    if (row.hidden) text += " -";
    text += '\n';
  }
  return text;
}

}  // namespace stave::gui
