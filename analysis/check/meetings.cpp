#include "analysis/check/meetings.h"

#include <map>
#include <tuple>
#include <unordered_map>

#include "core/lower/collective_contract.h"

namespace stave::check {
namespace {

class Matching {
 public:
  Matching(const Plan& plan, const World& world, Cliques& cliques) : plan_(plan), world_(world), cliques_(cliques) {}

  Meetings run() {
    out_.of_part.resize(plan_.ranks());
    for (Rank rank = 0; rank < plan_.ranks(); ++rank) {
      next_.clear();
      const Skeleton& skeleton = world_.of(rank).skeleton;
      out_.of_part[rank].reserve(skeleton.parts.size());
      for (std::uint32_t i = 0; i < skeleton.items.size(); ++i)
        for (const Id<PartTag> part : skeleton.items[ItemId{i}].parts)
          out_.of_part[rank].push_back(add({rank, ItemId{i}, skeleton.parts[part]}));
    }
    return std::move(out_);
  }

 private:
  // A clique and communicator, or a channel in it, seen from one end.
  struct Key {
    CliqueId clique{};
    std::int32_t communicator = 0;
    Rank from = 0, to = 0;
    bool channel = false;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  MeetingId add(const MeetingPart& part) {
    const Expanded& e = plan_.of_rank(part.rank).expanded;
    const Command& command = e[part.command];
    const CollectiveAttributes& attributes = *attributes_of(command);
    const Cliques::Seat seat = cliques_.seat_of(part.rank, attributes);
    Key key{seat.clique, world_.of(part.rank).skeleton.items[part.item].communicator};
    bool receives = false;
    if (const auto* send = std::get_if<Send>(&command.payload)) {
      key.channel = true;
      key.from = part.rank;
      key.to = cliques_.peer(part.rank, seat.clique, send->peer);
    } else if (const auto* recv = std::get_if<Recv>(&command.payload)) {
      key.channel = true;
      key.from = cliques_.peer(part.rank, seat.clique, recv->peer);
      key.to = part.rank;
      receives = true;
    }
    std::vector<MeetingId>& meetings = by_key_[key];
    const std::uint32_t number = next_[{key, receives}]++;
    if (number == meetings.size()) {
      const std::size_t size = key.channel ? 2 : cliques_.members(seat.clique).size();
      meetings.push_back(out_.all.add(
          {key.clique, key.communicator, number, static_cast<std::uint32_t>(size), key.from, key.to, key.channel, {}}));
      out_.all[meetings.back()].parts.reserve(size);
    }
    out_.all[meetings[number]].parts.push_back(part);
    return meetings[number];
  }

  const Plan& plan_;
  const World& world_;
  Cliques& cliques_;
  std::map<Key, std::vector<MeetingId>> by_key_;
  std::map<std::pair<Key, bool>, std::uint32_t> next_;  // of the rank in hand: sends apart from recvs
  Meetings out_;
};

}  // namespace

Meetings meetings_of(const Plan& plan, const World& world, Cliques& cliques) {
  return Matching(plan, world, cliques).run();
}

}  // namespace stave::check
