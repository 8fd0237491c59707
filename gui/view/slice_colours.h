// Which colour a slice has in a scene.
#pragma once

#include <vector>

#include "gui/view/lane_columns.h"
#include "gui/view/palette.h"
#include "gui/view/scene.h"

namespace stave::gui {

// Of one run of a scene, which must live as long.
class SliceColours {
 public:
  SliceColours(const Scene& scene, std::size_t run, Picoseconds delta_scale);

  Rgb of(const Slice& slice, std::uint32_t row) const;
  // Of slices that are too thin to be told apart.
  Rgb of(const Column& column, const LaneLod& lane, TrackId track) const;
  // For a Difference row.
  Rgb delta(std::uint32_t row) const;
  Rgb delta(const Column& column, const LaneLod& lane) const { return delta(lane.slices[column.slice].row()); }

 private:
  Rgb toned(Rgb colour) const;
  Rgb of_track(TrackId track) const;
  Rgb of_command(const Slice& slice) const;

  const Scene& scene_;
  const RunInView& run_;
  bool pale_;  // an outdated prediction
  Picoseconds delta_scale_;
  std::vector<Rgb> tracks_;  // by track, for Rank and Stream
  std::vector<Rgb> families_;
  std::vector<bool> on_device_;  // by track; only such slices are compared
};

}  // namespace stave::gui
