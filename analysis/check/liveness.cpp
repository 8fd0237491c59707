#include "analysis/check/liveness.h"

#include <algorithm>
#include <limits>

#include "core/lower/collective_contract.h"

namespace stave::check {

Liveness::Liveness(const Plan& plan, const World& world, const Meetings& meetings, const Cliques& cliques)
    : plan_(plan),
      world_(world),
      meetings_(meetings),
      cliques_(cliques),
      states_(plan.ranks()),
      arrived_(meetings.all.size()),
      stands_at_(plan.ranks()) {
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const Skeleton& skeleton = world.of(rank).skeleton;
    states_[rank].reserve(skeleton.items.size());
    for (const Skeleton::Item& item : skeleton.items) {
      states_[rank].push_back({item.after.count, item.parts.count, false});
      if (item.after.empty()) ready_.push_back({rank, ItemId{states_[rank].size() - 1}});
    }
    left_ += skeleton.items.size();
  }
  while (!ready_.empty()) {
    const RankItem at = ready_.back();
    ready_.pop_back();
    start(at);
  }
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const ClassLine& line = world.of(rank);
    stands_at_[rank].assign(line.line.streams, std::numeric_limits<std::uint32_t>::max());
    for (std::uint32_t i = 0; i < states_[rank].size(); ++i) {
      if (states_[rank][i].finished) continue;
      const LineNode& node = line.line.nodes[line.skeleton.items[ItemId{i}].node];
      std::uint32_t& first = stands_at_[rank][node.stream.value];
      first = std::min(first, node.position);
    }
  }
}

void Liveness::start(RankItem at) {
  if (states_[at.rank][at.item.value].parts == 0) return finish(at);
  for (const MeetingId id : meetings_.of(world_, at.rank, at.item))
    if (++arrived_[id.value] == meetings_.all[id].expected) meet(id);
}

void Liveness::meet(MeetingId id) {
  const Meeting& meeting = meetings_.all[id];
  const auto says = [&](const MeetingPart& part) {
    const Expanded& e = plan_.of_rank(part.rank).expanded;
    return collective_contract(e, e[part.command], meeting.parts.size());
  };
  const MeetingPart& first = meeting.parts[0];
  std::string expected;
  for (const MeetingPart& part : meeting.parts) {
    if (part.command == first.command && plan_.class_of_rank[part.rank] == plan_.class_of_rank[first.rank]) continue;
    if (expected.empty()) expected = says(first);
    if (std::string other = says(part); other != expected) {
      mismatches_.push_back({first, part, expected, std::move(other)});
      return;
    }
  }
  for (const MeetingPart& part : meeting.parts)
    if (--states_[part.rank][part.item.value].parts == 0) finish({part.rank, part.item});
}

void Liveness::finish(RankItem at) {
  states_[at.rank][at.item.value].finished = true;
  --left_;
  const Skeleton& skeleton = world_.of(at.rank).skeleton;
  for (const Id<DependentTag> ref : skeleton.items[at.item].dependents) {
    const ItemId next = skeleton.dependents[ref];
    if (--states_[at.rank][next.value].waits == 0) ready_.push_back({at.rank, next});
  }
}

bool Liveness::begins(Rank rank, NodeIndex node) const {
  const ClassLine& line = world_.of(rank);
  for (std::uint32_t s = 0; s < line.line.streams; ++s)
    if (line.clocks.at(node, StreamId{s}) > stands_at_[rank][s]) return false;
  return true;
}

RankItem Liveness::holding(RankItem at) const {
  const Skeleton& skeleton = world_.of(at.rank).skeleton;
  while (!started(at))
    for (const Id<AfterTag> ref : skeleton.items[at.item].after)
      if (const RankItem before{at.rank, skeleton.after[ref]}; !finished(before)) {
        at = before;
        break;
      }
  return at;
}

Liveness::Link Liveness::link(RankItem at) const {
  Link link{at, {}, 0, std::nullopt};
  for (const MeetingId id : meetings_.of(world_, at.rank, at.item)) {
    const Meeting& meeting = meetings_.all[id];
    if (arrived_[id.value] == meeting.expected) continue;
    link.meeting = id;
    for (const MeetingPart& part : meeting.parts)
      if (!started({part.rank, part.item})) {
        link.missing = part.rank;
        link.part = part.item;
        return link;
      }
    // All that have a part are there: another rank has none.
    if (meeting.channel) {
      link.missing = at.rank == meeting.from ? meeting.to : meeting.from;
      return link;
    }
    for (const Rank member : cliques_.members(meeting.clique))
      if (std::none_of(meeting.parts.begin(), meeting.parts.end(),
                       [&](const MeetingPart& part) { return part.rank == member; })) {
        link.missing = member;
        return link;
      }
  }
  return link;
}

Liveness::Chain Liveness::chain() const {
  Chain chain;
  for (Rank rank = 0; rank < states_.size() && chain.links.empty(); ++rank)
    for (std::uint32_t i = 0; i < states_[rank].size(); ++i)
      if (started({rank, ItemId{i}}) && !finished({rank, ItemId{i}})) {
        chain.links.push_back(link({rank, ItemId{i}}));
        break;
      }
  while (!chain.links.empty() && chain.links.back().part) {
    const Link& last = chain.links.back();
    const Link next = link(holding({last.missing, *last.part}));
    const auto seen = std::find(chain.links.begin(), chain.links.end(), next);
    if (seen != chain.links.end()) {
      chain.links.erase(chain.links.begin(), seen);
      chain.cycle = true;
      return chain;
    }
    chain.links.push_back(next);
  }
  return chain;
}

}  // namespace stave::check
