// The collectives of a line and their order: all that decides whether ranks meet,
// since everything else ends by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/check/clocks.h"

namespace stave::check {

struct Skeleton {
  struct Item {
    NodeIndex node{};
    CommandId command{};  // a collective or a group
    std::int32_t communicator = 0;
    std::int32_t ctas = 0;                      // that it says it holds; 0: not said, or none
    bool on_sms = true;                         // false: copy engines
    IdRange<struct PartTag> parts{};            // the collective itself, or the group's
    IdRange<struct AfterTag> after{};           // end before it begins; one a stream at most
    IdRange<struct DependentTag> dependents{};  // that have it among their `after`
  };
  Store<Item> items;  // in issue order
  Store<CommandId, PartTag> parts;
  Store<Id<Item>, AfterTag> after;
  Store<Id<Item>, DependentTag> dependents;
};
using ItemId = Id<Skeleton::Item>;

Skeleton skeleton_of(const RankClass& rank_class, const Line& line, const Clocks& clocks);

}  // namespace stave::check
