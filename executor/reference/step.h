// One step of a plan: the issue programs of all ranks, interleaved. Host lanes
// issue into streams; streams are first in, first out; events hold the last
// record that was issued; graphs run their nodes when those before are done.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "executor/driver.h"
#include "executor/reference/rendezvous.h"

namespace stave {

// What a step does to memory.
struct StepEffects {
  std::function<Result<void>(Rank, CommandId)> run;                 // all but collectives and control flow
  std::function<Result<void>(std::span<const Part>)> run_together;  // a collective of all its members
  // Operand 0 of a cond, switch or while.
  std::function<std::int64_t(Rank, CommandId)> predicate;
};

class Step {
 public:
  Step(const Plan& plan, const PrepareOptions& options, StepEffects effects);

  // Codes STV0810-0812, STV0950.
  Result<StepReport> run();

 private:
  struct Item {  // of a stream
    enum class Kind : std::uint8_t { Launch, Record, Wait, Predicate, Graph };
    Kind kind = Kind::Launch;
    bool started = false;
    CommandId command{};
    EventId event{};
    std::uint64_t number = 0;  // Record, Wait: which record of the event; Launch: ticket of its communicator
    LaunchId launch{};         // a collective that started
    std::uint32_t host = 0;    // Predicate: the lane that waits
    GraphId graph{};
    std::uint32_t graph_run = 0;
  };
  struct Stream {
    std::deque<Item> items;
    CommandId last_done{};
  };
  struct Event {
    std::uint64_t issued = 0;
    std::uint64_t done = 0;
  };
  struct Communicator {
    std::uint64_t next_ticket = 0;
    std::deque<std::pair<std::uint64_t, CommandId>> queue;  // in issue order; the front one may run
  };
  struct Host {
    std::uint32_t at = 0, end = 0;  // actions
    bool started = true;
    bool reading = false;
    std::int64_t value = 0;  // the predicate that it read last
  };
  struct GraphRun {
    GraphId graph{};
    std::optional<std::uint32_t> parent;  // run that holds the conditional node
    std::uint32_t parent_node = 0;
    std::vector<std::uint32_t> missing;                       // by node: how many before it are not done
    std::vector<std::uint32_t> ready;                         // in order of becoming so
    std::vector<std::pair<std::uint32_t, LaunchId>> waiting;  // collectives that started
    std::size_t left = 0;
    bool active = false;
  };
  // The graphs of a class, turned round: which nodes come after one.
  struct GraphLinks {
    std::vector<std::vector<std::uint32_t>> after;  // by node of the program
  };
  struct RankState {
    const RankClass* rank_class = nullptr;
    std::vector<Host> hosts;
    std::vector<Stream> streams;
    std::vector<Event> events;
    std::map<std::int32_t, Communicator> communicators;
    std::deque<GraphRun> runs;  // slots; references stay valid while nested ones are added
    std::vector<std::int64_t> executed;
    std::map<CommandId, std::int64_t> iterations;  // of each while that runs
  };
  struct Actor {
    enum class Kind : std::uint8_t { Host, Stream, Graphs };
    Kind kind = Kind::Host;
    Rank rank = 0;
    std::uint32_t index = 0;
  };

  // Each tries to do one thing; false: it cannot now.
  Result<bool> act(const Actor& actor);
  Result<bool> act_host(Rank rank, std::uint32_t index);
  Result<bool> act_stream(Rank rank, std::uint32_t index);
  Result<bool> act_graphs(Rank rank);
  Result<bool> act_graph(Rank rank, std::uint32_t index);

  Result<void> branch(Rank rank, Host& host, const Action& action);
  Result<void> execute(Rank rank, CommandId command);
  Result<void> count_iteration(Rank rank, CommandId command);
  void count(RankState& r, CommandId command);
  Result<void> start_node(Rank rank, std::uint32_t run, std::uint32_t node);
  void finish_node(Rank rank, std::uint32_t run, std::uint32_t node);
  std::uint32_t start_graph(Rank rank, GraphId graph, std::optional<std::uint32_t> parent, std::uint32_t parent_node);
  const GraphNode& node_of(const RankState& r, const GraphRun& run, std::uint32_t node) const;

  bool done() const;
  Hang hang() const;
  void blocked_stream(Rank rank, std::size_t index, std::vector<Blocked>& out) const;
  Blocked blocked_at(Rank rank, StreamId stream, CommandId command) const;
  std::uint64_t random(std::uint64_t below);

  const Plan& plan_;
  PrepareOptions options_;
  StepEffects effects_;
  Rendezvous rendezvous_;
  std::vector<GraphLinks> links_;  // by class
  std::vector<RankState> ranks_;
  std::uint64_t random_state_ = 0;
};

// Which branch of a switch of `branches` runs: out of range, also negative, the last.
constexpr std::size_t switch_branch(std::int64_t value, std::size_t branches) {
  return value < 0 || static_cast<std::uint64_t>(value) >= branches ? branches - 1 : static_cast<std::size_t>(value);
}

}  // namespace stave
