#include "analysis/check/memory_faults.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/check/written.h"
#include "core/ir/expand_coord.h"

namespace stave::check {
namespace {

bool undefined_at_entry(const Buffer& buffer) {
  return buffer.kind == Buffer::Kind::Scratch ||
         (buffer.kind == Buffer::Kind::Parameter && buffer.direction == Direction::Out);
}

// True if who reads depends on the rank.
bool is_partial_read(const Expanded& e, const Access& access) {
  const Payload& payload = e[access.command].payload;
  return !access.write &&
         (std::holds_alternative<Broadcast>(payload) || std::holds_alternative<CollectivePermute>(payload));
}

// Which ranks put something into a broadcast or a permute.
class Contributors {
 public:
  explicit Contributors(const Expanded& e) : e_(e) {}

  // True if the access happens on the rank.
  bool operator()(const Access& access, Rank rank) {
    if (!is_partial_read(e_, access)) return true;
    const Payload& payload = e_[access.command].payload;
    if (const auto* broadcast = std::get_if<Broadcast>(&payload))
      return of({broadcast->axis.value, broadcast->groups.value, 0, broadcast->root, true}, *broadcast)[rank];
    const auto& permute = std::get<CollectivePermute>(payload);
    return of({permute.axis.value, permute.groups.value, permute.pairs.value, permute.shift.value_or(0), false},
              permute)[rank];
  }

 private:
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int32_t, bool>;

  template <class Op>
  const std::vector<bool>& of(const Key& key, const Op& op) {
    const auto [at, added] = known_.try_emplace(key);
    if (!added) return at->second;
    const auto ranks = static_cast<std::size_t>(e_.mesh.ranks());
    std::vector<bool>& puts_in = at->second;
    puts_in.resize(ranks);
    std::vector<bool> seen(ranks);
    for (Rank rank = 0; rank < ranks; ++rank) {
      if (seen[rank]) continue;
      const std::vector<Rank> members = e_.group_of(op, rank).members;
      if (members.empty()) continue;
      for (const Rank member : members) seen[member] = true;
      for (const std::uint32_t position : positions(op, members.size())) puts_in[members[position]] = true;
    }
    return puts_in;
  }

  std::vector<std::uint32_t> positions(const Broadcast& op, std::size_t) const {
    return {static_cast<std::uint32_t>(op.root)};
  }
  std::vector<std::uint32_t> positions(const CollectivePermute& op, std::size_t members) const {
    std::vector<std::uint32_t> out;
    for (const auto& [from, to] : e_.pairs_of(op, members)) out.push_back(from);
    return out;
  }

  const Expanded& e_;
  std::map<Key, std::vector<bool>> known_;
};

// The last accesses to pieces of one buffer, by stream; accesses of one stream are ordered.
class Footprints {
 public:
  Footprints(const Line& line, const Clocks& clocks) : line_(line), clocks_(clocks) {}

  // Calls clash(access before, begin, end) for bytes where an earlier access is not ordered before this one;
  // false: it is, after all.
  template <class F>
  void access(const Access& access, std::int64_t begin, std::int64_t end, F&& clash) {
    split(begin);
    split(end);
    bool clean = true;
    const auto from = pieces_.lower_bound(begin);
    for (auto at = from; at != pieces_.end() && at->first < end; ++at)
      for (const Last& last : at->second.lasts)
        for (const Access* before : {&last.write, &last.read}) {
          if (!before->node || (!access.write && !before->write)) continue;
          if (before->node == access.node || clocks_.ordered(before->node, access.node)) continue;
          if (clash(*before, at->first, at->second.end)) clean = false;
        }
    if (access.write && clean) {
      auto at = pieces_.erase(from, pieces_.lower_bound(end));
      at = pieces_.emplace_hint(at, begin, Piece{end, {}});
      note(at->second, access);
      return;
    }
    fill(begin, end);
    for (auto at = pieces_.lower_bound(begin); at != pieces_.end() && at->first < end; ++at) note(at->second, access);
  }

 private:
  struct Last {
    StreamId stream{};
    Access write, read;
  };
  struct Piece {
    std::int64_t end = 0;
    std::vector<Last> lasts;
  };

  void split(std::int64_t at) {
    auto piece = pieces_.upper_bound(at);
    if (piece == pieces_.begin()) return;
    --piece;
    if (piece->first == at || piece->second.end <= at) return;
    Piece rest = piece->second;
    piece->second.end = at;
    pieces_.emplace(at, std::move(rest));
  }

  void fill(std::int64_t begin, std::int64_t end) {
    std::int64_t at = begin;
    for (auto piece = pieces_.lower_bound(begin); at < end;) {
      const std::int64_t next = piece == pieces_.end() ? end : std::min(end, piece->first);
      if (at < next) pieces_.emplace(at, Piece{next, {}});
      if (piece == pieces_.end()) break;
      at = piece->second.end;
      ++piece;
    }
  }

  void note(Piece& piece, const Access& access) {
    const StreamId stream = line_.nodes[access.node].stream;
    auto last = std::find_if(piece.lasts.begin(), piece.lasts.end(), [&](const Last& l) { return l.stream == stream; });
    if (last == piece.lasts.end()) last = piece.lasts.insert(last, Last{stream, {}, {}});
    (access.write ? last->write : last->read) = access;
  }

  const Line& line_;
  const Clocks& clocks_;
  std::map<std::int64_t, Piece> pieces_;  // by first byte
};

class Finder {
 public:
  Finder(const RankClass& rank_class, const Line& line, const Clocks& clocks, const MemoryOptions& options)
      : e_(rank_class.expanded),
        line_(line),
        clocks_(clocks),
        options_(options),
        left_(options.max_accesses),
        contributes_(e_),
        buffers_(e_.buffers.size()) {}

  MemoryFaults run() {
    for (std::uint32_t i = 0; i < line_.nodes.size(); ++i)
      for_each_access(e_, line_, NodeIndex{i}, [&](const Access& access) { glance(access); });
    std::vector<std::vector<Access>> accesses(buffers_.size());
    for (std::uint32_t i = 0; i < line_.nodes.size(); ++i)
      for_each_access(e_, line_, NodeIndex{i}, [&](const Access& access) {
        const std::uint32_t buffer = e_[access.view].buffer.value;
        if (buffers_[buffer].suspect) accesses[buffer].push_back(access);
      });
    for (std::uint32_t b = 0; b < buffers_.size(); ++b)
      if (buffers_[b].suspect) look(BufferId{b}, accesses[b]);
    return std::move(faults_);
  }

 private:
  // What all of a buffer's accesses come to, as if each touched the whole of it.
  struct Whole {
    std::vector<std::uint32_t> writes, touches;  // by stream: one past the position of the last
    bool written = false;                        // all of it
    bool suspect = false;
    bool varies = false;  // with the rank
  };

  void glance(const Access& access) {
    const View& view = e_[access.view];
    const Buffer& buffer = e_.buffers[view.buffer];
    Whole& whole = buffers_[view.buffer.value];
    whole.varies |= bool{view.offset.varying} || is_partial_read(e_, access);
    if (whole.suspect) return;
    if (whole.touches.empty()) {
      whole.writes.resize(line_.streams);
      whole.touches.resize(line_.streams);
    }
    const LineNode& node = line_.nodes[access.node];
    const std::vector<std::uint32_t>& before = access.write ? whole.touches : whole.writes;
    for (std::uint32_t s = 0; s < line_.streams; ++s)
      if (s != node.stream.value && clocks_.at(access.node, StreamId{s}) < before[s]) whole.suspect = true;
    if (undefined_at_entry(buffer)) {
      if (access.write)
        whole.written |= view.bytes == buffer.bytes;
      else if (!whole.written)
        whole.suspect = true;
    }
    whole.touches[node.stream.value] = node.position + 1;
    if (access.write) whole.writes[node.stream.value] = node.position + 1;
  }

  void look(BufferId buffer, const std::vector<Access>& accesses) {
    const bool varies = buffers_[buffer.value].varies || options_.elsewhere || options_.begins;
    for (const Rank rank : options_.ranks) {
      left_ -= static_cast<std::int64_t>(accesses.size());
      if (left_ < 0) {
        faults_.exact = false;
        return;
      }
      look(buffer, accesses, rank);
      if (!varies) return;
    }
  }

  void look(BufferId buffer, const std::vector<Access>& accesses, Rank rank) {
    const std::vector<std::int64_t> at = e_.mesh.coordinates(rank);
    const bool undefined = undefined_at_entry(e_.buffers[buffer]);
    Footprints footprints(line_, clocks_);
    Written written;
    for (const Access& access : accesses) {
      const View& view = e_[access.view];
      if (!contributes_(access, rank) || (options_.begins && !options_.begins(rank, access.node))) continue;
      const std::int64_t begin = value_at(e_.coord_exprs, view.offset, at);
      const std::int64_t end = begin + view.bytes;
      footprints.access(access, begin, end, [&](const Access& before, std::int64_t from, std::int64_t to) {
        if (options_.elsewhere && options_.elsewhere(rank, before.node, access.node)) return false;
        race({before, access, buffer, std::max(from, begin), std::min(to, end), rank});
        return true;
      });
      if (!undefined) continue;
      if (access.write) {
        written.add(begin, end);
      } else if (const auto missing = written.missing(begin, end)) {
        if (unwritten_.emplace(e_[access.command].op, buffer).second)
          faults_.unwritten.push_back({access, buffer, missing->first, missing->second, rank});
      }
    }
  }

  void race(const Race& race) {
    const auto pair = std::tuple(e_[race.first.command].op, e_[race.second.command].op, race.buffer);
    if (races_.insert(pair).second) faults_.races.push_back(race);
  }

  const Expanded& e_;
  const Line& line_;
  const Clocks& clocks_;
  const MemoryOptions& options_;
  std::int64_t left_;
  Contributors contributes_;
  std::vector<Whole> buffers_;
  std::set<std::tuple<OpId, OpId, BufferId>> races_;
  std::set<std::pair<OpId, BufferId>> unwritten_;
  MemoryFaults faults_;
};

}  // namespace

MemoryFaults memory_faults(const RankClass& rank_class, const Line& line, const Clocks& clocks,
                           const MemoryOptions& options) {
  return Finder(rank_class, line, clocks, options).run();
}

}  // namespace stave::check
