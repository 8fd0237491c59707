#include "analysis/check/lifetimes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis/check/memory_faults.h"

namespace stave::check {
namespace {

// More are placed apart: each is compared with each.
constexpr std::size_t max_scratch = 2048;

struct Lifetime {
  BufferId buffer{};
  std::vector<NodeIndex> firsts;     // by stream; none: not used there
  std::vector<std::uint32_t> lasts;  // by stream: one past the position of its last use, 0: none
};

bool before(const Lifetime& a, const Lifetime& b, const Clocks& clocks) {
  for (const NodeIndex first : b.firsts)
    if (first)
      for (std::uint32_t s = 0; s < a.lasts.size(); ++s)
        if (clocks.at(first, StreamId{s}) < a.lasts[s]) return false;
  return true;
}

// In order of first use.
std::vector<Lifetime> lifetimes(const Expanded& e, const Line& line) {
  std::vector<Lifetime> out;
  std::vector<std::size_t> slot(e.buffers.size(), SIZE_MAX);
  for (std::uint32_t i = 0; i < line.nodes.size(); ++i)
    for_each_access(e, line, NodeIndex{i}, [&](const Access& access) {
      const BufferId buffer = e[access.view].buffer;
      if (e.buffers[buffer].kind != Buffer::Kind::Scratch || e.buffers[buffer].space == Space::Host) return;
      std::size_t& at = slot[buffer.value];
      if (at == SIZE_MAX) {
        at = out.size();
        out.push_back({buffer, std::vector<NodeIndex>(line.streams), std::vector<std::uint32_t>(line.streams)});
      }
      const LineNode& node = line.nodes[access.node];
      NodeIndex& first = out[at].firsts[node.stream.value];
      if (!first) first = access.node;
      out[at].lasts[node.stream.value] = node.position + 1;
    });
  return out;
}

}  // namespace

std::int64_t shared_device_bytes(const RankClass& rank_class, const Line& line, const Clocks& clocks) {
  const Expanded& e = rank_class.expanded;
  const std::int64_t apart = device_bytes(e);
  const std::vector<Lifetime> scratch = lifetimes(e, line);
  if (scratch.size() > max_scratch) return apart;
  std::vector<std::pair<std::int64_t, std::int64_t>> places;  // by scratch: begin, end
  std::int64_t peak = 0, alone = 0;
  for (std::size_t i = 0; i < scratch.size(); ++i) {
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;
    for (std::size_t j = 0; j < i; ++j)
      if (!before(scratch[j], scratch[i], clocks)) taken.push_back(places[j]);
    std::sort(taken.begin(), taken.end());
    const std::int64_t bytes = allocated_bytes(e.buffers[scratch[i].buffer].bytes);
    std::int64_t begin = 0;
    for (const auto& [from, to] : taken) {
      if (from - begin >= bytes) break;
      begin = std::max(begin, to);
    }
    places.emplace_back(begin, begin + bytes);
    peak = std::max(peak, begin + bytes);
    alone += bytes;
  }
  return apart - alone + peak;
}

}  // namespace stave::check
