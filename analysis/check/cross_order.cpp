#include "analysis/check/cross_order.h"

#include <set>
#include <vector>

namespace stave::check {

bool CrossOrder::ordered(Rank rank, NodeIndex first, NodeIndex second) const {
  const ClassLine& own = world_.of(rank);
  std::vector<RankItem> open;  // known to end before `second` begins
  std::set<RankItem> seen;
  const auto reach = [&](RankItem at) {
    if (seen.insert(at).second) open.push_back(at);
  };
  for (std::uint32_t i = 0; i < own.skeleton.items.size(); ++i)
    if (own.clocks.ordered(own.skeleton.items[ItemId{i}].node, second)) reach({rank, ItemId{i}});
  while (!open.empty()) {
    const RankItem at = open.back();
    open.pop_back();
    if (at.rank == rank && own.skeleton.items[at.item].node == first) return true;
    for (const MeetingId id : meetings_.of(world_, at.rank, at.item))
      for (const MeetingPart& part : meetings_.all[id].parts) {  // all of them have begun
        const Skeleton& skeleton = world_.of(part.rank).skeleton;
        if (part.rank == rank && own.clocks.ordered(first, skeleton.items[part.item].node)) return true;
        for (const Id<AfterTag> ref : skeleton.items[part.item].after) reach({part.rank, skeleton.after[ref]});
      }
  }
  return false;
}

}  // namespace stave::check
