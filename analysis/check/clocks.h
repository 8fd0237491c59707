// Which nodes of a line end before another begins: a clock for each node says,
// for each stream, how many of its nodes do. Nodes share clocks, as most wait
// for their own stream only.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/check/line.h"

namespace stave::check {

class Clocks {
 public:
  explicit Clocks(const Line& line);

  // How many nodes of `stream` end before the node begins.
  std::uint32_t at(NodeIndex node, StreamId stream) const {
    const LineNode& n = line_.nodes[node];
    return n.stream == stream ? n.position : times_[std::size_t{clock_of_[node.value]} * line_.streams + stream.value];
  }
  // True if `first` ends before `second` begins.
  bool ordered(NodeIndex first, NodeIndex second) const {
    const LineNode& n = line_.nodes[first];
    return at(second, n.stream) > n.position;
  }

 private:
  const Line& line_;
  std::vector<std::uint32_t> clock_of_;  // by node
  std::vector<std::uint32_t> times_;     // by clock and stream
};

}  // namespace stave::check
