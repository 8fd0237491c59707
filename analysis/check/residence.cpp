#include "analysis/check/residence.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "core/lower/collective_contract.h"

namespace stave::check {
namespace {

// Searched in full: items of all ranks together, states.
constexpr std::size_t max_items = 256;
constexpr std::size_t max_states = 50'000;

std::int32_t held(const Skeleton::Item& item, std::int32_t sms) { return std::min(item.ctas, sms); }

// The most that can be held at once, as a communicator has one item in flight.
bool may_run_out(const Skeleton& skeleton, std::int32_t sms) {
  std::map<std::int32_t, std::int32_t> most;
  for (const Skeleton::Item& item : skeleton.items) {
    std::int32_t& m = most[item.communicator];
    m = std::max(m, held(item, sms));
  }
  std::int64_t sum = 0;
  for (const auto& [communicator, ctas] : most) sum += ctas;
  return sum > sms;
}

// All orders in which items may get their SMs. What can meet, meets at once, and what
// holds no SM starts at once: neither takes anything from others.
class Search {
 public:
  Search(const World& world, const Meetings& meetings, std::int32_t sms)
      : world_(world), meetings_(meetings), sms_(sms) {
    for (Rank rank = 0; rank < world.line_of_rank.size(); ++rank) {
      first_.push_back(items_.size());
      for (std::uint32_t i = 0; i < world.of(rank).skeleton.items.size(); ++i) items_.push_back({rank, ItemId{i}});
    }
  }

  bool small() const { return items_.size() <= max_items; }
  bool too_large() const { return seen_.size() >= max_states; }

  std::optional<Residence> run() {
    std::vector<std::string> open{std::string(items_.size(), idle)};
    while (!open.empty() && !too_large()) {
      std::string state = std::move(open.back());
      open.pop_back();
      const std::vector<std::size_t> next = settle(state);
      if (!seen_.insert(state).second) continue;
      if (next.empty() && state.find_first_not_of(done) != std::string::npos) return stuck(state);
      for (const std::size_t at : next) {
        std::string after = state;
        after[at] = started;
        open.push_back(std::move(after));
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr char idle = 'i', started = 's', done = 'd';

  const Skeleton::Item& item(std::size_t at) const {
    return world_.of(items_[at].rank).skeleton.items[items_[at].item];
  }
  bool is_ready(const std::string& state, std::size_t at) const {
    if (state[at] != idle) return false;
    const Skeleton& skeleton = world_.of(items_[at].rank).skeleton;
    for (const Id<AfterTag> ref : item(at).after)
      if (state[first_[items_[at].rank] + skeleton.after[ref].value] != done) return false;
    return true;
  }
  bool can_finish(const std::string& state, std::size_t at) const {
    for (const MeetingId id : meetings_.of(world_, items_[at].rank, items_[at].item)) {
      const Meeting& meeting = meetings_.all[id];
      if (meeting.parts.size() < meeting.expected) return false;
      for (const MeetingPart& part : meeting.parts)
        if (state[first_[part.rank] + part.item.value] == idle) return false;
    }
    return true;
  }
  std::int32_t free(const std::string& state, Rank rank) const {
    std::int32_t left = sms_;
    for (std::size_t at = first_[rank]; at < items_.size() && items_[at].rank == rank; ++at)
      if (state[at] == started) left -= held(item(at), sms_);
    return left;
  }

  // Does what takes nothing from others; which items could start now.
  std::vector<std::size_t> settle(std::string& state) const {
    std::vector<std::size_t> next;
    for (bool changed = true; changed;) {
      changed = false;
      next.clear();
      for (std::size_t at = 0; at < items_.size(); ++at) {
        if (state[at] == started && can_finish(state, at)) {
          state[at] = done;
          changed = true;
        } else if (is_ready(state, at)) {
          if (item(at).ctas == 0) {
            state[at] = started;
            changed = true;
          } else if (held(item(at), sms_) <= free(state, items_[at].rank)) {
            next.push_back(at);
          }
        }
      }
    }
    return next;
  }

  Residence stuck(const std::string& state) const {
    Residence out;
    for (std::size_t at = 0; at < items_.size(); ++at) {
      if (state[at] == started) out.holding.push_back(items_[at]);
      if (is_ready(state, at)) out.waiting.push_back(items_[at]);
    }
    return out;
  }

  const World& world_;
  const Meetings& meetings_;
  std::int32_t sms_;
  std::vector<RankItem> items_;
  std::vector<std::size_t> first_;  // by rank
  std::set<std::string> seen_;
};

// Calls f(a, b) for items of different communicators that no order of this rank keeps apart, a issued first;
// the last of each stream before b only.
template <class F>
void for_each_pair_in_flight(const ClassLine& line, F&& f) {
  const Skeleton& skeleton = line.skeleton;
  std::vector<ItemId> last(line.line.streams);
  for (std::uint32_t i = 0; i < skeleton.items.size(); ++i) {
    const Skeleton::Item& b = skeleton.items[ItemId{i}];
    for (const ItemId a : last)
      if (a && skeleton.items[a].communicator != b.communicator && !line.clocks.ordered(skeleton.items[a].node, b.node))
        f(a, ItemId{i});
    last[line.line.nodes[b.node].stream.value] = ItemId{i};
  }
}

// The ranks that a rank's item meets with.
std::vector<Rank> met(const Plan& plan, const World& world, Cliques& cliques, Rank rank, ItemId item) {
  const Expanded& e = plan.of_rank(rank).expanded;
  const Skeleton& skeleton = world.of(rank).skeleton;
  std::vector<Rank> out;
  for (const Id<PartTag> part : skeleton.items[item].parts) {
    const Command& command = e[skeleton.parts[part]];
    const CliqueId clique = cliques.seat_of(rank, *attributes_of(command)).clique;
    if (const auto* send = std::get_if<Send>(&command.payload))
      out.push_back(cliques.peer(rank, clique, send->peer));
    else if (const auto* recv = std::get_if<Recv>(&command.payload))
      out.push_back(cliques.peer(rank, clique, recv->peer));
    else
      out.insert(out.end(), cliques.members(clique).begin(), cliques.members(clique).end());
  }
  return out;
}

// A rank besides `rank` that both items meet with.
std::optional<Rank> shared_rank(const Plan& plan, const World& world, Cliques& cliques, Rank rank, ItemId a, ItemId b) {
  const std::vector<Rank> with_b = met(plan, world, cliques, rank, b);
  for (const Rank other : met(plan, world, cliques, rank, a))
    if (other != rank && std::find(with_b.begin(), with_b.end(), other) != with_b.end()) return other;
  return std::nullopt;
}

ItemId item_of(const World& world, const Meetings& meetings, Rank rank, ItemId item, Rank other) {
  for (const MeetingId id : meetings.of(world, rank, item))
    for (const MeetingPart& part : meetings.all[id].parts)
      if (part.rank == other) return part.item;
  return {};
}

}  // namespace

bool may_run_out(const World& world, std::int32_t sms) {
  return std::any_of(world.lines.begin(), world.lines.end(),
                     [&](const auto& line) { return may_run_out(line->skeleton, sms); });
}

std::optional<Residence> residence(const Plan& plan, const World& world, const Meetings& meetings, Cliques& cliques,
                                   std::int32_t sms, bool& exact) {
  if (!may_run_out(world, sms)) return std::nullopt;
  Search search(world, meetings, sms);
  if (search.small()) {
    std::optional<Residence> found = search.run();
    if (found || !search.too_large()) return found;
  }
  exact = false;
  std::optional<Residence> found;
  for (Rank rank = 0; rank < world.line_of_rank.size() && !found; ++rank)
    for_each_pair_in_flight(world.of(rank), [&](ItemId a, ItemId b) {
      const Skeleton& skeleton = world.of(rank).skeleton;
      if (found || held(skeleton.items[a], sms) + held(skeleton.items[b], sms) <= sms) return;
      const auto other = shared_rank(plan, world, cliques, rank, a, b);
      if (!other) return;
      const RankItem there{*other, item_of(world, meetings, rank, b, *other)};
      const RankItem waits{*other, item_of(world, meetings, rank, a, *other)};
      found = Residence{{{rank, a}, there}, {{rank, b}, waits}};
    });
  return found;
}

std::vector<Overlap> overlaps(const Plan& plan, const World& world, Cliques& cliques, std::int32_t sms) {
  std::vector<Overlap> out;
  std::set<std::pair<std::int32_t, std::int32_t>> seen;
  std::set<std::uint32_t> lines;  // looked at: ranks of one line are alike
  for (Rank rank = 0; rank < world.line_of_rank.size(); ++rank) {
    if (!lines.insert(world.line_of_rank[rank]).second) continue;
    for_each_pair_in_flight(world.of(rank), [&](ItemId a, ItemId b) {
      const Skeleton::Item& first = world.of(rank).skeleton.items[a];
      const Skeleton::Item& second = world.of(rank).skeleton.items[b];
      if (!first.on_sms || !second.on_sms) return;
      if (first.ctas > 0 && second.ctas > 0 && held(first, sms) + held(second, sms) <= sms) return;
      const std::pair key = std::minmax(first.communicator, second.communicator);
      if (seen.count(key)) return;
      const auto other = shared_rank(plan, world, cliques, rank, a, b);
      if (!other) return;
      seen.insert(key);
      out.push_back({rank, *other, a, b});
    });
  }
  return out;
}

}  // namespace stave::check
