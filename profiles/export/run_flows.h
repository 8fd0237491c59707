// The edges of a run whose both ends are meant, to be found by either: 16 bytes each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/timeline/rows.h"

namespace stave {

class RunFlows {
 public:
  explicit RunFlows(std::vector<SliceFlow> flows);

  std::size_t size() const { return flows_.size(); }
  // Those that leave a slice.
  std::span<const SliceFlow> from(SliceId slice) const;
  std::uint32_t number(const SliceFlow& flow) const { return static_cast<std::uint32_t>(&flow - flows_.data()); }
  const SliceFlow& flow(std::uint32_t number) const { return flows_[number]; }
  // Numbers of those that lead to it.
  std::span<const std::uint32_t> to(SliceId slice) const;
  // The slice whose call launched it; none if no edge says.
  SliceId launch_of(SliceId slice) const;
  bool launches(SliceId slice) const;

 private:
  std::vector<SliceFlow> flows_;      // by from, to
  std::vector<std::uint32_t> by_to_;  // positions in flows_
};

}  // namespace stave
