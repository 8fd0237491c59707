// Which collectives of which ranks meet, on one line of each rank: the k-th of a
// clique and communicator on each, the k-th send with the k-th recv of a channel.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include <vector>

#include "analysis/check/skeleton.h"
#include "core/lower/cliques.h"

namespace stave::check {

// A line of some ranks of one class.
struct ClassLine {
  std::uint32_t rank_class = 0;
  Line line;
  Clocks clocks;
  Skeleton skeleton;

  ClassLine(const Plan& plan, std::uint32_t of, Line unrolled)
      : rank_class(of),
        line(std::move(unrolled)),
        clocks(line),
        skeleton(skeleton_of(plan.classes[of], line, clocks)) {}
  ClassLine(const ClassLine&) = delete;  // clocks refer to the line
  ClassLine& operator=(const ClassLine&) = delete;
};

// What all ranks do on one way.
struct World {
  std::vector<std::unique_ptr<const ClassLine>> lines;
  std::vector<std::uint32_t> line_of_rank;

  const ClassLine& of(Rank rank) const { return *lines[line_of_rank[rank]]; }
};

struct MeetingPart {
  Rank rank = 0;
  ItemId item{};
  CommandId command{};
};

struct RankItem {
  Rank rank = 0;
  ItemId item{};
  friend auto operator<=>(const RankItem&, const RankItem&) = default;
};

struct Meeting {
  CliqueId clique{};
  std::int32_t communicator = 0;
  std::uint32_t number = 0;    // of its clique and communicator, or channel
  std::uint32_t expected = 0;  // parts
  Rank from = 0, to = 0;       // of a send and its recv
  bool channel = false;
  std::vector<MeetingPart> parts;  // in the order of ranks; fewer than expected: some rank has none
};
using MeetingId = Id<Meeting>;

struct Meetings {
  Store<Meeting> all;
  // By rank, then part of its skeleton.
  std::vector<std::vector<MeetingId>> of_part;

  std::span<const MeetingId> of(const World& world, Rank rank, ItemId item) const {
    const IdRange<PartTag> parts = world.of(rank).skeleton.items[item].parts;
    return std::span<const MeetingId>(of_part[rank]).subspan(parts.first, parts.count);
  }
};

Meetings meetings_of(const Plan& plan, const World& world, Cliques& cliques);

}  // namespace stave::check
