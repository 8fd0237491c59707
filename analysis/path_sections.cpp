#include "analysis/path_sections.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace stave {
namespace {

// The order along a track, which no edge says, is sure.
int doubt(Certainty certainty) {
  switch (certainty) {
    case Certainty::Possible: return 2;
    case Certainty::Inferred: return 1;
    default: return 0;
  }
}

class Sections {
 public:
  Sections(const Timeline& timeline, std::span<const PathPart> path) : timeline_(timeline), path_(path) {}

  // The `kept` longest parts, and what is between them; one more than `most` at most.
  std::vector<PathSection> make(std::size_t kept, bool by_track, std::size_t most) const {
    std::vector<std::size_t> order(path_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(kept);
    std::nth_element(order.begin(), end, order.end(), [&](std::size_t a, std::size_t b) {
      return path_[a].duration != path_[b].duration ? path_[a].duration > path_[b].duration : a < b;
    });
    std::vector<bool> longest(path_.size());
    for (auto at = order.begin(); at != end; ++at) longest[*at] = true;
    std::vector<PathSection> sections;
    for (std::size_t at = 0; at < path_.size() && sections.size() <= most;) {
      std::size_t next = at + 1;
      while (!longest[at] && next < path_.size() && !longest[next] && (!by_track || track(next) == track(at))) ++next;
      sections.push_back(section_of(path_.subspan(at, next - at)));
      at = next;
    }
    return sections;
  }

 private:
  TrackId track(std::size_t part) const { return timeline_.slice(path_[part].slice).track; }

  PathSection section_of(std::span<const PathPart> parts) const {
    PathSection section{.part = parts[0], .parts = parts.size(), .gap = {}};
    section.part.duration = {};
    struct OnTrack {
      Picoseconds sum{};
      const PathPart* longest = nullptr;
    };
    std::map<std::uint32_t, OnTrack> tracks;
    for (const PathPart& part : parts) {
      section.part.duration += part.duration;
      if (part.kind == PathPart::Kind::Gap) section.gap += part.duration;
      if (doubt(part.certainty) > doubt(section.part.certainty)) section.part.certainty = part.certainty;
      OnTrack& on = tracks[timeline_.slice(part.slice).track.value];
      on.sum += part.duration;
      if (on.longest == nullptr || part.duration > on.longest->duration) on.longest = &part;
    }
    const auto most = std::max_element(tracks.begin(), tracks.end(),
                                       [](const auto& a, const auto& b) { return a.second.sum < b.second.sum; });
    section.part.slice = most->second.longest->slice;
    section.part.kind = section.gap > section.part.duration - section.gap ? PathPart::Kind::Gap : PathPart::Kind::Work;
    return section;
  }

  const Timeline& timeline_;
  std::span<const PathPart> path_;
};

}  // namespace

std::vector<PathSection> path_sections(const Timeline& timeline, std::span<const PathPart> path, std::size_t most) {
  most = std::max(most, std::size_t{1});
  const Sections sections(timeline, path);
  if (path.size() <= most) return sections.make(path.size(), false, most);
  const std::size_t half = (most - 1) / 2;
  for (const std::size_t kept : {half, half / 2, half / 4}) {
    std::vector<PathSection> made = sections.make(kept, true, most);
    if (made.size() <= most) return made;
  }
  return sections.make(half, false, most);
}

}  // namespace stave
