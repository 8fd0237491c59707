#include "analysis/check/clocks.h"

#include <algorithm>

namespace stave::check {

Clocks::Clocks(const Line& line) : line_(line), clock_of_(line.nodes.size()), times_(line.streams, 0) {
  std::vector<std::uint32_t> last_clock(line.streams, 0);  // of each stream's last node
  std::uint32_t clocks = 1;
  for (std::uint32_t i = 0; i < line.nodes.size(); ++i) {
    const LineNode& node = line.nodes[NodeIndex{i}];
    std::uint32_t own = last_clock[node.stream.value];
    bool shared = true;
    for (const Id<BeforeTag> ref : node.before) {
      const NodeIndex before = line.before[ref];
      const LineNode& b = line.nodes[before];
      if (b.stream == node.stream) continue;
      if (times_[std::size_t{own} * line.streams + b.stream.value] > b.position) continue;  // known already
      if (shared) {
        times_.resize(times_.size() + line.streams);
        std::copy_n(times_.begin() + std::ptrdiff_t{own} * line.streams, line.streams, times_.end() - line.streams);
        own = clocks++;
        shared = false;
      }
      std::uint32_t* mine = &times_[std::size_t{own} * line.streams];
      const std::uint32_t* theirs = &times_[std::size_t{clock_of_[before.value]} * line.streams];
      for (std::uint32_t s = 0; s < line.streams; ++s) mine[s] = std::max(mine[s], theirs[s]);
      mine[b.stream.value] = std::max(mine[b.stream.value], b.position + 1);
    }
    clock_of_[i] = own;
    last_clock[node.stream.value] = own;
  }
}

}  // namespace stave::check
