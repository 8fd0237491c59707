// What can happen next in a state, and what it does to it. The order of a step is that of
// executor/reference/step.h; here commands also take time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/explorer/explore.h"
#include "executor/explorer/state.h"

namespace stave::explorer {

struct Transition {
  enum class Kind : std::uint8_t {
    Host,   // a host lane does its next action
    Pass,   // a stream does a record, a wait whose event is there, or begins or ends a graph
    Begin,  // of a command or the read of a predicate
    Start,  // of a collective
    End,    // of any of them
  };
  Kind kind = Kind::Host;
  Rank rank = 0;
  std::uint32_t lane = 0;                // Host: the lane; the others: the stream, or the graph's run
  std::optional<std::uint32_t> node{};   // of the run
  CommandId command{};                   // Begin, Start, End; Pass and Host: where there is one
  std::optional<std::int32_t> choice{};  // End of a read of undefined bytes: what it read
};

// A defect that a transition showed.
struct Sighting {
  Defect defect = Defect::Race;
  Rank rank = 0, other_rank = 0;
  CommandId command{}, other{};
};

class Transitions {
 public:
  explicit Transitions(const Facts& facts) : facts_(facts) {}

  State initial() const;
  bool done(const State& state) const;
  // Appends what rank can do, and which collectives could start but for their CTAs.
  void enabled(const State& state, Rank rank, std::vector<Transition>& out,
               std::vector<CommandId>* held_up = nullptr) const;
  // What is held up only by CTAs races as if it were in flight: SMs order nothing.
  void race_held_up(const State& state, Rank rank, const std::vector<CommandId>& held_up,
                    std::vector<Sighting>& seen) const;
  // `touched` gets the ranks for which something changed. Codes of `interpret`.
  Result<void> apply(State& state, const Transition& transition, std::vector<Sighting>& seen,
                     std::vector<char>& touched) const;

  // Empty for what a reader need not see: actions of a host, records.
  std::string text(const Transition& transition) const;
  std::string text(const Sighting& sighting) const;
  // What stands still, a line each.
  std::vector<std::string> waiting(const State& state) const;

 private:
  void enabled_items(const State& state, Rank rank, std::vector<Transition>& out,
                     std::vector<CommandId>* held_up) const;
  void enabled_nodes(const State& state, Rank rank, std::vector<Transition>& out,
                     std::vector<CommandId>* held_up) const;
  void ends(const State& state, Transition end, std::vector<Transition>& out) const;
  bool fits(const State& state, Rank rank, CommandId command) const;
  bool all_met(const RankState& r, CommandId launch) const;

  void host(RankState& r, const Transition& transition) const;
  void pass(RankState& r, const Transition& transition) const;
  void begin(State& state, const Transition& transition, std::vector<Sighting>& seen) const;
  Result<void> arrive(State& state, const Transition& transition, std::vector<Sighting>& seen,
                      std::vector<char>& touched) const;
  Result<void> meet(State& state, Rank rank, const Arrival& arrival, std::vector<Sighting>& seen,
                    std::vector<char>& touched) const;
  Result<void> mean(State& state, const std::vector<Rank>& members, const std::vector<Seat>& seats) const;
  Result<void> end(State& state, const Transition& transition) const;
  Result<void> run(RankState& r, Rank rank, CommandId command) const;
  std::int32_t read(RankState& r, const Transition& transition) const;

  std::uint32_t start_graph(RankState& r, const RankClass& c, GraphId graph) const;
  void choose_body(RankState& r, const RankClass& c, const Transition& transition, std::int32_t value) const;
  void finish_node(RankState& r, const RankClass& c, std::uint32_t run, std::uint32_t node) const;

  const RankFacts& facts(Rank rank) const { return facts_.ranks[rank]; }
  const Expanded& expanded(Rank rank) const { return facts(rank).rank_class->expanded; }
  const GraphNode& node(const RankClass& c, const GraphRun& run, std::uint32_t number) const;
  std::string path(Rank rank, CommandId command) const;
  std::string where(const Transition& transition) const;

  const Facts& facts_;
};

}  // namespace stave::explorer
