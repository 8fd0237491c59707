#include "simulator/fold.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/lower/collective_contract.h"

namespace stave::simulator {
namespace {

// What decides a rank's partners in one collective: enough to tell apart those
// that differ, and few of them in a program.
struct Shape {
  AxesId axis;
  GroupsId groups;
  PairsId pairs;
  std::optional<std::int32_t> shift;
  std::optional<CoordInt> peer;
  CommandId command;  // the first with this shape

  auto key() const {
    return std::tuple(axis.value, groups.value, pairs.value, shift.value_or(0), shift.has_value(), peer.has_value(),
                      peer ? peer->constant : 0, peer ? peer->varying.value : 0);
  }
};

std::vector<Shape> shapes_of(const Expanded& expanded) {
  std::map<decltype(Shape{}.key()), Shape> found;
  for (std::size_t i = 0; i < expanded.commands.size(); ++i) {
    const CommandId id{i};
    std::visit(
        [&]<class T>(const T& op) {
          if constexpr (CollectiveOp<T>) {
            Shape s{op.axis, op.groups, {}, {}, {}, id};
            if constexpr (std::is_same_v<T, CollectivePermute>) {
              s.pairs = op.pairs;
              s.shift = op.shift;
            }
            if constexpr (std::is_same_v<T, Send> || std::is_same_v<T, Recv>) s.peer = op.peer;
            found.emplace(s.key(), s);
          }
        },
        expanded[id].payload);
  }
  std::vector<Shape> shapes;
  for (const auto& [key, shape] : found) shapes.push_back(shape);
  return shapes;
}

using Signature = std::vector<std::int64_t>;

class Refinement {
 public:
  Refinement(const Plan& plan, int devices_per_node, const std::vector<std::uint32_t>& colour)
      : plan_(plan), per_node_(static_cast<Rank>(devices_per_node)), colour_(colour), signatures_(colour.size()) {
    for (Rank r = 0; r < colour.size(); ++r) signatures_[r].push_back(colour[r]);
  }

  // Each group is looked at once, for all of its members.
  void add(std::uint32_t rank_class, const Shape& shape) {
    const Expanded& expanded = plan_.classes[rank_class].expanded;
    std::vector<bool> done(colour_.size());
    for (Rank r = 0; r < colour_.size(); ++r) {
      if (plan_.class_of_rank[r] != rank_class || done[r]) continue;
      std::visit(
          [&]<class T>(const T& op) {
            if constexpr (CollectiveOp<T>) {
              const GroupOfRank group = expanded.group_of(op, r);
              if constexpr (std::is_same_v<T, Send> || std::is_same_v<T, Recv>) {
                done[r] = true;
                add_peer(expanded, op.peer, r, group);
              } else {
                done[r] = true;
                for (const Rank member : group.members) done[member] = true;
                if constexpr (std::is_same_v<T, CollectivePermute>)
                  add_pairs(rank_class, expanded.pairs_of(op, group.members.size()), group.members);
                else
                  add_group(rank_class, group.members);
              }
            }
          },
          expanded[shape.command].payload);
    }
  }

  // Dense colours; how many.
  std::size_t colours(std::vector<std::uint32_t>& refined) const {
    std::map<Signature, std::uint32_t> seen;
    refined.resize(signatures_.size());
    for (std::size_t r = 0; r < signatures_.size(); ++r)
      refined[r] = seen.emplace(signatures_[r], static_cast<std::uint32_t>(seen.size())).first->second;
    return seen.size();
  }

 private:
  Rank node(Rank r) const { return r / per_node_; }
  std::int64_t id_of(Signature signature) {
    return keys_.emplace(std::move(signature), static_cast<std::int64_t>(keys_.size())).first->second;
  }

  void add_peer(const Expanded& expanded, CoordInt to, Rank rank, const GroupOfRank& group) {
    const std::int64_t peer = expanded.at(to, rank);
    if (peer < 0 || peer >= static_cast<std::int64_t>(group.members.size())) return;
    const Rank other = group.members[static_cast<std::size_t>(peer)];
    signatures_[rank].push_back(2 * static_cast<std::int64_t>(colour_[other]) + (node(rank) != node(other)));
  }

  void add_pairs(std::uint32_t rank_class, const Pairs& pairs, const std::vector<Rank>& members) {
    std::vector<Signature> in(members.size()), out(members.size());
    for (const auto& [source, target] : pairs) {
      if (source >= members.size() || target >= members.size()) continue;
      const bool crosses = node(members[source]) != node(members[target]);
      out[source].push_back(2 * static_cast<std::int64_t>(colour_[members[target]]) + crosses);
      in[target].push_back(2 * static_cast<std::int64_t>(colour_[members[source]]) + crosses);
    }
    for (std::size_t p = 0; p < members.size(); ++p) {
      if (plan_.class_of_rank[members[p]] != rank_class) continue;
      std::sort(in[p].begin(), in[p].end());
      std::sort(out[p].begin(), out[p].end());
      Signature s = std::move(in[p]);
      s.push_back(-1);
      s.insert(s.end(), out[p].begin(), out[p].end());
      signatures_[members[p]].push_back(id_of(std::move(s)));
    }
  }

  // The members' distances tell groups apart that only look alike by colour.
  void add_group(std::uint32_t rank_class, const std::vector<Rank>& members) {
    Signature s;
    std::set<Rank> nodes;
    for (const Rank member : members) {
      s.push_back(colour_[member]);
      nodes.insert(node(member));
    }
    std::sort(s.begin(), s.end());
    s.push_back(static_cast<std::int64_t>(nodes.size()));
    for (const Rank member : members)
      s.push_back(static_cast<std::int64_t>(member) - static_cast<std::int64_t>(members[0]));
    const std::int64_t id = id_of(std::move(s));
    for (const Rank member : members)
      if (plan_.class_of_rank[member] == rank_class) signatures_[member].push_back(id);
  }

  const Plan& plan_;
  Rank per_node_;
  const std::vector<std::uint32_t>& colour_;
  std::vector<Signature> signatures_;
  std::map<Signature, std::int64_t> keys_;
};

// A send and its receive between ranks of one colour meet in one launch of that
// colour, or never: as one rank they would not see who waits for whom.
class OwnColour {
 public:
  OwnColour(const Plan& plan, const std::vector<std::uint32_t>& colour, Rank rank)
      : expanded_(plan.of_rank(rank).expanded), colour_(colour), rank_(rank) {}

  // Whether some launch has sends to the own colour without as many receives from it.
  bool meets_in_two_launches() {
    std::vector<bool> grouped(expanded_.commands.size());
    for (std::size_t i = 0; i < expanded_.commands.size(); ++i)
      if (std::holds_alternative<CollectiveGroup>(expanded_[CommandId{i}].payload)) {
        if (balance(CommandId{i}, &grouped) != 0) return true;
      }
    for (std::size_t i = 0; i < expanded_.commands.size(); ++i)
      if (!grouped[i] && own_balance(expanded_[CommandId{i}]) != 0) return true;
    return false;
  }

 private:
  int balance(CommandId id, std::vector<bool>* grouped) {
    (*grouped)[id.value] = true;
    const Command& command = expanded_[id];
    int sum = own_balance(command);
    for (const CommandRegionId region : command.regions)
      for (const CommandId nested : expanded_.regions[region].commands) sum += balance(nested, grouped);
    return sum;
  }

  int own_balance(const Command& command) {
    if (const auto* send = std::get_if<Send>(&command.payload)) return is_own(*send, send->peer);
    if (const auto* recv = std::get_if<Recv>(&command.payload)) return -is_own(*recv, recv->peer);
    return 0;
  }

  int is_own(const CollectiveAttributes& op, CoordInt peer) {
    const auto key = std::tuple(op.axis.value, op.groups.value, peer.constant, peer.varying.value);
    const auto [at, fresh] = known_.try_emplace(key, 0);
    if (!fresh) return at->second;
    const std::vector<Rank> members = expanded_.group_of(op, rank_).members;
    const std::int64_t position = expanded_.at(peer, rank_);
    if (position < 0 || position >= static_cast<std::int64_t>(members.size())) return 0;
    const Rank other = members[static_cast<std::size_t>(position)];
    at->second = other != rank_ && colour_[other] == colour_[rank_];
    return at->second;
  }

  const Expanded& expanded_;
  const std::vector<std::uint32_t>& colour_;
  Rank rank_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::uint32_t>, int> known_;
};

// Several of these ranks send to one rank, or receive from one: it has as many partners, and one of them would not do.
bool share_a_peer(const Plan& plan, const std::vector<Shape>& shapes, const std::vector<Rank>& ranks) {
  const Expanded& expanded = plan.of_rank(ranks[0]).expanded;
  for (const Shape& shape : shapes) {
    if (!shape.peer) continue;
    const CollectiveAttributes& op = *attributes_of(expanded[shape.command]);
    std::set<Rank> peers;
    for (const Rank rank : ranks) {
      const std::vector<Rank> members = expanded.group_of(op, rank).members;
      const std::int64_t position = expanded.at(*shape.peer, rank);
      if (position < 0 || position >= static_cast<std::int64_t>(members.size())) continue;
      if (!peers.insert(members[static_cast<std::size_t>(position)]).second) return true;
    }
  }
  return false;
}

Folding folding_of(const std::vector<std::uint32_t>& colour) {
  Folding f;
  std::map<std::uint32_t, std::uint32_t> dense;
  for (Rank r = 0; r < colour.size(); ++r) {
    const auto [at, fresh] = dense.emplace(colour[r], static_cast<std::uint32_t>(dense.size()));
    if (fresh) {
      f.representative.push_back(r);
      f.ranks.emplace_back();
    }
    f.colour_of_rank.push_back(at->second);
    f.ranks[at->second].push_back(r);
  }
  return f;
}

}  // namespace

Folding unfolded(std::size_t ranks) {
  std::vector<std::uint32_t> colour(ranks);
  for (std::size_t r = 0; r < ranks; ++r) colour[r] = static_cast<std::uint32_t>(r);
  return folding_of(colour);
}

Folding fold(const Plan& plan, int devices_per_node, const std::vector<Rank>& apart) {
  devices_per_node = std::max(devices_per_node, 1);
  std::vector<std::vector<Shape>> shapes;
  for (const RankClass& c : plan.classes) shapes.push_back(shapes_of(c.expanded));
  std::vector<std::uint32_t> colour = plan.class_of_rank;
  auto next = static_cast<std::uint32_t>(plan.classes.size());
  for (const Rank r : apart)
    if (r < colour.size()) colour[r] = next++;
  const auto refine = [&] {
    for (std::size_t colours = 0;;) {
      Refinement refinement(plan, devices_per_node, colour);
      for (std::uint32_t c = 0; c < shapes.size(); ++c)
        for (const Shape& shape : shapes[c]) refinement.add(c, shape);
      std::vector<std::uint32_t> refined;
      const std::size_t found = refinement.colours(refined);
      colour = std::move(refined);
      if (found == colours) return;
      colours = found;
    }
  };
  refine();
  const Folding equal = folding_of(colour);
  std::vector<Rank> parts;
  for (std::size_t c = 0; c < equal.colours(); ++c) {
    const Rank rank = equal.representative[c];
    if (equal.ranks[c].size() == 1 || (!OwnColour(plan, colour, rank).meets_in_two_launches() &&
                                       !share_a_peer(plan, shapes[plan.class_of_rank[rank]], equal.ranks[c])))
      continue;
    parts.insert(parts.end(), equal.ranks[c].begin(), equal.ranks[c].end());
  }
  // Their partners may part then, too.
  auto next_colour = static_cast<std::uint32_t>(equal.colours());
  for (const Rank r : parts) colour[r] = next_colour++;
  if (!parts.empty()) refine();
  return folding_of(colour);
}

}  // namespace stave::simulator
