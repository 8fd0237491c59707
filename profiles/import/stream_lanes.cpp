#include "profiles/import/stream_lanes.h"

#include <algorithm>

namespace stave {

bool StreamLanes::insert(Lane& lane, const Taken& taken, bool always) {
  const auto later = [](std::int64_t start, const Taken& other) { return start < other.start; };
  const auto next_block = std::upper_bound(lane.begin(), lane.end(), taken.start,
                                           [](std::int64_t start, const Block& b) { return start < b.front().start; });
  if (lane.empty()) {
    lane.push_back({taken});
    return true;
  }
  const auto block = next_block == lane.begin() ? next_block : next_block - 1;
  const auto at = std::upper_bound(block->begin(), block->end(), taken.start, later);
  if (!always) {
    if (at != block->begin() && (at - 1)->end() > taken.start) return false;
    const Taken* next = at != block->end() ? &*at : next_block != lane.end() ? &next_block->front() : nullptr;
    if (next != nullptr && next->start < taken.end()) return false;
  }
  if (at == block->end() && block->size() >= block_rows) {
    lane.insert(next_block, Block{taken});
    return true;
  }
  block->insert(at, taken);
  if (block->size() > 2 * block_rows) {
    Block half(block->begin() + block_rows, block->end());
    block->resize(block_rows);
    lane.insert(block + 1, std::move(half));
  }
  return true;
}

std::uint16_t StreamLanes::place(Time start, Picoseconds duration, bool kernel) {
  const Taken taken{start.count(), static_cast<std::uint64_t>(duration.count()), kernel ? 1U : 0U};
  for (std::uint16_t lane = 0;; ++lane) {
    if (lane == lanes_.size()) lanes_.emplace_back();
    if (insert(lanes_[lane], taken, lane + 1 == most_lanes)) return lane;
  }
}

StreamLanes::Overlaps StreamLanes::overlaps() const {
  if (lanes_.size() < 2) return {};
  std::vector<Taken> kernels;
  for (const Lane& lane : lanes_)
    for (const Block& block : lane)
      for (const Taken& taken : block)
        if (taken.kernel != 0) kernels.push_back(taken);
  std::sort(kernels.begin(), kernels.end(),
            [](const Taken& a, const Taken& b) { return a.start != b.start ? a.start < b.start : a.end() < b.end(); });
  Overlaps found;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (i > 0 && kernels[i].start < kernels[i - 1].end()) ++found.kernels;
    if (i + many_covered < kernels.size() && kernels[i + many_covered].start < kernels[i].end()) ++found.covers;
  }
  return found;
}

}  // namespace stave
