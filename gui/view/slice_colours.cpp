#include "gui/view/slice_colours.h"

#include <map>

namespace stave::gui {
namespace {

// The same in every run: of the text, not of its number. FNV-1a.
std::size_t text_hash(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return static_cast<std::size_t>(hash ^ (hash >> 32));
}

}  // namespace

SliceColours::SliceColours(const Scene& scene, std::size_t run, Picoseconds delta_scale)
    : scene_(scene), run_(scene.runs[run]), pale_(run_.ghost), delta_scale_(delta_scale) {
  for (std::size_t i = 0; i < family_count; ++i)
    families_.push_back(toned(fill_of(static_cast<Family>(i), scene.dark)));
  for (const Track& track : run_.timeline->tracks()) on_device_.push_back(is_device_track(track));
  if (scene.colour_by != ColourBy::Rank && scene.colour_by != ColourBy::Stream) return;
  std::map<std::uint32_t, std::size_t> on_rank;
  for (const Track& track : run_.timeline->tracks()) {
    const std::size_t number = scene.colour_by == ColourBy::Rank ? track.rank : on_rank[track.rank]++;
    tracks_.push_back(toned(category(number)));
  }
}

Rgb SliceColours::toned(Rgb colour) const { return pale_ ? blend(colour, theme_of(scene_.dark).row, 150) : colour; }

Rgb SliceColours::of_track(TrackId track) const { return tracks_[track.value]; }

Rgb SliceColours::of_command(const Slice& slice) const {
  if (slice.family == Family::Idle) return families_[static_cast<std::size_t>(Family::Idle)];
  const Timeline& timeline = *run_.timeline;
  const std::string_view text =
      slice.command ? std::string_view(timeline.command(slice.command).key) : timeline.text(slice.name);
  return toned(category(text_hash(text)));
}

Rgb SliceColours::of(const Slice& slice, std::uint32_t row) const {
  switch (scene_.colour_by) {
    case ColourBy::Family: break;
    case ColourBy::Command: return of_command(slice);
    case ColourBy::Rank:
    case ColourBy::Stream: return of_track(slice.track);
    case ColourBy::Delta: return delta(row);
    case ColourBy::Problem: return toned(problem_fill(slice.flags, scene_.dark));
  }
  return families_[static_cast<std::size_t>(slice.family)];
}

Rgb SliceColours::of(const Column& column, const LaneLod& lane, TrackId track) const {
  switch (scene_.colour_by) {
    case ColourBy::Family:
    case ColourBy::Command: break;
    case ColourBy::Rank:
    case ColourBy::Stream: return of_track(track);
    case ColourBy::Delta: return delta(column, lane);
    case ColourBy::Problem: return toned(problem_fill(column.flags, scene_.dark));
  }
  return families_[column.family];
}

Rgb SliceColours::delta(std::uint32_t row) const {
  if (!run_.deltas) return toned(delta_fill({}, delta_scale_, scene_.dark));
  const Picoseconds delta = row < run_.deltas->size() ? (*run_.deltas)[row] : no_partner;
  if (delta != no_partner) return toned(delta_fill(delta, delta_scale_, scene_.dark));
  const bool compared = on_device_[run_.timeline->slices()[row].track.value];
  return toned(compared ? only_here_fill() : delta_fill({}, delta_scale_, scene_.dark));
}

}  // namespace stave::gui
