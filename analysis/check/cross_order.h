// Orders between nodes of one rank that lead through other ranks: what ends before
// a send begins, ends before whatever waits for something that its recv let go on.
#pragma once

#include "analysis/check/meetings.h"

namespace stave::check {

class CrossOrder {
 public:
  // Both must outlive this.
  CrossOrder(const World& world, const Meetings& meetings) : world_(world), meetings_(meetings) {}

  // True if `first` ends before `second` begins, by way of other ranks.
  bool ordered(Rank rank, NodeIndex first, NodeIndex second) const;

 private:
  const World& world_;
  const Meetings& meetings_;
};

}  // namespace stave::check
