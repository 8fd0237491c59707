#include "profiles/export/run_flows.h"

#include <algorithm>
#include <tuple>

namespace stave {

RunFlows::RunFlows(std::vector<SliceFlow> flows) : flows_(std::move(flows)), by_to_(flows_.size()) {
  std::sort(flows_.begin(), flows_.end(), [](const SliceFlow& a, const SliceFlow& b) {
    return std::tuple(a.from, a.to, a.kind, a.certainty) < std::tuple(b.from, b.to, b.kind, b.certainty);
  });
  for (std::size_t i = 0; i < by_to_.size(); ++i) by_to_[i] = static_cast<std::uint32_t>(i);
  std::sort(by_to_.begin(), by_to_.end(),
            [&](std::uint32_t a, std::uint32_t b) { return std::pair(flows_[a].to, a) < std::pair(flows_[b].to, b); });
}

std::span<const SliceFlow> RunFlows::from(SliceId slice) const {
  const auto first = std::lower_bound(flows_.begin(), flows_.end(), slice,
                                      [](const SliceFlow& flow, SliceId id) { return flow.from < id; });
  auto last = first;
  while (last != flows_.end() && last->from == slice) ++last;
  return {first, last};
}

std::span<const std::uint32_t> RunFlows::to(SliceId slice) const {
  const auto first = std::lower_bound(by_to_.begin(), by_to_.end(), slice,
                                      [&](std::uint32_t at, SliceId id) { return flows_[at].to < id; });
  auto last = first;
  while (last != by_to_.end() && flows_[*last].to == slice) ++last;
  return {first, last};
}

SliceId RunFlows::launch_of(SliceId slice) const {
  for (const std::uint32_t at : to(slice))
    if (flows_[at].kind == FlowKind::Launch) return flows_[at].from;
  return {};
}

bool RunFlows::launches(SliceId slice) const {
  const std::span<const SliceFlow> flows = from(slice);
  return std::any_of(flows.begin(), flows.end(), [](const SliceFlow& flow) { return flow.kind == FlowKind::Launch; });
}

}  // namespace stave
