// Timelines written by hand, slice by slice.
#pragma once

#include <string>
#include <string_view>

#include "analysis/intervals.h"
#include "core/timeline/timeline.h"

namespace stave {

inline Interval span(std::int64_t begin, std::int64_t end) { return {Time{begin}, Time{end}}; }

struct HandMade {
  Timeline timeline;

  TrackId stream(std::uint32_t rank, std::string name) {
    return timeline.add(Track{.rank = rank, .name = std::move(name)});
  }
  TrackId host(std::uint32_t rank) {
    return timeline.add(Track{.rank = rank, .kind = TrackKind::Host, .name = "host"});
  }
  TrackId ranges(std::uint32_t rank) {
    return timeline.add(Track{.rank = rank, .kind = TrackKind::Range, .name = "ranges"});
  }
  SliceId slice(TrackId track, std::int64_t begin, std::int64_t end, Family family, std::string_view name = "work") {
    return timeline.add(Slice{.start = Time{begin},
                              .duration = Picoseconds{end - begin},
                              .track = track,
                              .name = timeline.intern(name),
                              .family = family});
  }
  void flow(SliceId from, SliceId to, FlowKind kind, Certainty certainty = Certainty::Predicted) {
    timeline.add(SliceFlow{from, to, kind, certainty});
  }
  void part(SliceId slice, std::string_view name, std::int64_t duration) {
    timeline.add(CostPart{.slice = slice,
                          .part = timeline.intern(name),
                          .duration = Picoseconds{duration},
                          .model = timeline.intern("by hand"),
                          .source = timeline.intern("by hand")});
  }
};

}  // namespace stave
