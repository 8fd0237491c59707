// The words for what a check found. One finding for each code and statement.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/check/finding.h"
#include "analysis/check/liveness.h"
#include "analysis/check/memory_faults.h"
#include "analysis/check/residence.h"

namespace stave::check {

// What a cond, switch or while did on the way in hand, on one rank.
struct Choice {
  CommandId command{};
  std::uint32_t chosen = 0;
  bool everywhere = false;  // the predicate is provably equal on all ranks
};
using Choices = std::vector<Choice>;

class FindingsReport {
 public:
  explicit FindingsReport(const Plan& plan) : plan_(plan) {}

  // Before the faults of memory of a line; a fault that all lines of the class have does not depend on choices.
  void begin_line(const RankClass& rank_class);
  void race(const RankClass& rank_class, const Line& line, const Race& race, const Choices& choices);
  void unwritten(const RankClass& rank_class, const UnwrittenRead& read, const Choices& choices);
  // Choices by rank; empty without control flow.
  void mismatch(const Liveness::Mismatch& mismatch, const Meetings& meetings, const World& world,
                const std::vector<Choices>& choices);
  void hang(const Liveness::Chain& chain, const Meetings& meetings, const World& world,
            const std::vector<Choices>& choices);
  void residence(const Residence& residence, const Meetings& meetings, const World& world, std::int32_t sms);
  void overlap(const Overlap& overlap, const World& world);

  // What is reported from here on, of memory, is what runs come to although something stops them.
  void begin_reached() { telling_reached_ = true; }
  // Of memory, all that was not reported again since.
  void rest_is_behind_stop();

  bool has_stop() const;  // a run that does not come to its end
  bool has_memory_fault() const;
  bool full() const { return findings_.size() >= max_findings; }
  Findings take();

 private:
  static constexpr std::size_t max_findings = 100;

  // Null if there is one already.
  Finding* add(Severity severity, std::string_view code, Rank rank, CommandId command, std::string message);
  // STV1011 if the two ranks went different ways at a predicate that nothing proves equal: true if so.
  bool not_uniform(Rank a, Rank b, const std::vector<Choices>& choices, std::string consequence, CommandId command);
  void note(Finding& finding, Rank rank, CommandId command, std::string message) const;
  const Expanded& of(Rank rank) const { return plan_.of_rank(rank).expanded; }
  CommandId command_of(const World& world, RankItem at) const {
    return world.of(at.rank).skeleton.items[at.item].command;
  }
  std::string path(Rank rank, CommandId command) const { return of(rank).path(command); }
  std::string at_line(Rank rank, CommandId command) const;
  void cycle(const Liveness::Chain& chain, const World& world, const std::vector<Choices>& choices);
  void missing(const Liveness::Link& link, const Meetings& meetings, const World& world,
               const std::vector<Choices>& choices);

  using Key = std::pair<std::string, std::uint64_t>;  // code and statement
  // The lines that show a fault of memory.
  struct OnWays {
    const RankClass* rank_class = nullptr;
    Choices first, common;
    std::size_t last_line = 0, count = 0;
  };

  void on_way(const RankClass& rank_class, const Key& key, const Choices& choices);
  void note_ways();

  const Plan& plan_;
  Findings findings_;
  std::vector<Key> keys_;  // beside findings_
  std::set<Key> seen_;
  std::set<Key> reached_;
  bool telling_reached_ = false;
  std::map<const RankClass*, std::size_t> lines_;  // looked at
  std::map<Key, OnWays> ways_;
};

// Where each command stands: the async_start around it, none outside of all.
std::vector<CommandId> starts_around(const Expanded& expanded);

}  // namespace stave::check
