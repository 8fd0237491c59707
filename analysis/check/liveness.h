// Whether all ranks come to their ends on one way, and if not, who waits for whom.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/check/meetings.h"

namespace stave::check {

// The abstract execution of the collectives of all ranks. Nothing in it is a
// matter of timing, so it stops where every run does. What meets in different
// collectives never ends.
class Liveness {
 public:
  // All must outlive this.
  Liveness(const Plan& plan, const World& world, const Meetings& meetings, const Cliques& cliques);

  bool ended() const { return left_ == 0; }
  // Two parts of a meeting that agreed to different collectives.
  struct Mismatch {
    MeetingPart first, other;
    std::string first_says, other_says;
  };
  const std::vector<Mismatch>& mismatches() const { return mismatches_; }

  bool started(RankItem at) const { return states_[at.rank][at.item.value].waits == 0; }
  bool finished(RankItem at) const { return states_[at.rank][at.item.value].finished; }
  // Whether the rank comes to the node of its line.
  bool begins(Rank rank, NodeIndex node) const;

  // A chain of waits: each item has started and waits for a meeting, which `missing` has not come to.
  // Where it ends, either `missing` never comes (it has no such part), or its part is held up by the next link.
  struct Link {
    RankItem at;
    MeetingId meeting{};
    Rank missing = 0;
    std::optional<ItemId> part;  // of `missing`, not started; none: it has none
    friend bool operator==(const Link& a, const Link& b) { return a.at == b.at && a.meeting == b.meeting; }
  };
  struct Chain {
    std::vector<Link> links;
    bool cycle = false;  // the last link is held up by the first
  };
  // Of the first rank that stands still; a cycle without what leads to it.
  Chain chain() const;

 private:
  struct State {
    std::uint32_t waits = 0;  // for items before it
    std::uint32_t parts = 0;  // that have not met
    bool finished = false;
  };

  void start(RankItem at);
  void meet(MeetingId id);
  void finish(RankItem at);
  Link link(RankItem at) const;
  // What holds up a part that has not started: the item before it that started and did not finish.
  RankItem holding(RankItem at) const;

  const Plan& plan_;
  const World& world_;
  const Meetings& meetings_;
  const Cliques& cliques_;
  std::vector<std::vector<State>> states_;             // by rank, then item
  std::vector<std::uint32_t> arrived_;                 // by meeting
  std::vector<std::vector<std::uint32_t>> stands_at_;  // by rank, then stream: the position that never ends
  std::vector<RankItem> ready_;
  std::size_t left_ = 0;
  std::vector<Mismatch> mismatches_;
};

}  // namespace stave::check
