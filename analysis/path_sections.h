// A critical path of any length in a number of lines that somebody reads.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/critical_path.h"

namespace stave {

// Consecutive parts of a path as one. Sections touch and add up as the parts do.
struct PathSection {
  // Its slice is that of the longest part on the track that most of it is on. Kind: what most of it is.
  // Certainty: of its least certain edge.
  PathPart part;
  std::size_t parts = 1;
  Picoseconds gap{};  // of the duration
};

// A path of at most `most` parts stays as it is, each a section. Of a longer one
// the longest parts do, and what is between two of them on one track is one
// section; across tracks where there would still be too many. 0 counts as 1.
std::vector<PathSection> path_sections(const Timeline& timeline, std::span<const PathPart> path, std::size_t most);

}  // namespace stave
