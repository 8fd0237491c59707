#include "profiles/import/stream_lanes.h"

#include <algorithm>

namespace stave {

bool StreamLanes::insert(Lane& lane, const Taken& taken, bool always) {
  std::deque<Block>& blocks = lane.blocks;
  if (!always && lane.busy_until > taken.start) return false;
  if (!blocks.empty() && blocks.back().back().start <= taken.start) {
    // Most slices come behind all others.
    if (!always && blocks.back().back().end() > taken.start) return false;
    if (blocks.back().size() >= block_rows) blocks.emplace_back();
    blocks.back().push_back(taken);
    return true;
  }
  const auto later = [](std::int64_t start, const Taken& other) { return start < other.start; };
  const auto next_block = std::upper_bound(blocks.begin(), blocks.end(), taken.start,
                                           [](std::int64_t start, const Block& b) { return start < b.front().start; });
  if (blocks.empty()) {
    blocks.push_back({taken});
    return true;
  }
  const auto block = next_block == blocks.begin() ? next_block : next_block - 1;
  const auto at = std::upper_bound(block->begin(), block->end(), taken.start, later);
  if (!always) {
    if (at != block->begin() && (at - 1)->end() > taken.start) return false;
    const Taken* next = at != block->end() ? &*at : next_block != blocks.end() ? &next_block->front() : nullptr;
    if (next != nullptr && next->start < taken.end()) return false;
  }
  if (at == block->end() && block->size() >= block_rows) {
    blocks.insert(next_block, Block{taken});
    return true;
  }
  block->insert(at, taken);
  if (block->size() > 2 * block_rows) {
    Block half(block->begin() + block_rows, block->end());
    block->resize(block_rows);
    blocks.insert(block + 1, std::move(half));
  }
  return true;
}

std::uint16_t StreamLanes::place(Time start, Picoseconds duration, bool kernel) {
  const Taken taken{start.count(), static_cast<std::uint64_t>(duration.count()), kernel ? 1U : 0U};
  if (kept_ >= most_kept_) {
    // About a half.
    const auto fullest = std::max_element(
        lanes_.begin(), lanes_.end(), [](const Lane& a, const Lane& b) { return a.blocks.size() < b.blocks.size(); });
    const Block& middle = fullest->blocks[fullest->blocks.size() / 2];
    forget(middle[middle.size() / 2].start);
  }
  ++kept_;
  for (std::uint16_t lane = 0;; ++lane) {
    if (lane == lanes_.size()) lanes_.emplace_back();
    if (insert(lanes_[lane], taken, lane + 1 == most_lanes)) return lane;
  }
}

void StreamLanes::forget(std::int64_t before) {
  std::vector<Taken> kernels;
  for (Lane& lane : lanes_) {
    while (!lane.blocks.empty() && lane.blocks.front().front().start < before) {
      Block& block = lane.blocks.front();
      const auto end = std::lower_bound(block.begin(), block.end(), before,
                                        [](const Taken& taken, std::int64_t time) { return taken.start < time; });
      for (auto taken = block.begin(); taken != end; ++taken) {
        lane.busy_until = std::max(lane.busy_until, taken->end());
        if (taken->kernel != 0) kernels.push_back(*taken);
      }
      kept_ -= static_cast<std::size_t>(end - block.begin());
      block.erase(block.begin(), end);
      if (!block.empty()) break;
      lane.blocks.pop_front();
    }
  }
  const auto earlier = [](const Taken& a, const Taken& b) {
    return a.start != b.start ? a.start < b.start : a.end() < b.end();
  };
  if (!std::is_sorted(kernels.begin(), kernels.end(), earlier)) std::sort(kernels.begin(), kernels.end(), earlier);
  for (const Taken& kernel : kernels) {
    if (!last_kernels_.empty() && kernel.start < last_kernels_.back().end()) ++found_.kernels;
    if (last_kernels_.size() == many_covered) {
      if (kernel.start < last_kernels_.front().end()) ++found_.covers;
      last_kernels_.pop_front();
    }
    last_kernels_.push_back(kernel);
  }
}

StreamLanes::Overlaps StreamLanes::overlaps() {
  forget(INT64_MAX);
  return found_;
}

}  // namespace stave
