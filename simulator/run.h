// One simulation: hosts issue actions, streams hold them in order, devices run
// them. Everything that happens is an event of the one queue; at each instant
// all events are handled, then room and rates are settled once.
#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "simulator/costs.h"
#include "simulator/engine.h"
#include "simulator/fold.h"
#include "simulator/recorder.h"
#include "simulator/simulate.h"
#include "simulator/topology.h"

namespace stave::simulator {

class Run {
 public:
  Run(const Plan& plan, const Machine& machine, const SimulateOptions& options, const NetworkModel& model,
      Folding folding, TimelineSink& sink);

  Result<PredictionSummary> run();

 private:
  enum : std::uint32_t { HostWake = Engine::first_free_event, StreamWake, NodeBegin };
  static constexpr std::uint32_t no_command = Id<Command>::none;

  // What a stream holds. `ref`: a command, an event's occurrence, or a graph.
  struct Item {
    enum class Kind : std::uint8_t { Launch, Record, Wait, Graph };
    std::int64_t issued = 0;  // when the host call returned
    std::uint32_t ref = 0;
    std::uint32_t occurrence = 0;
    std::uint32_t host_slice = 0;
    std::uint32_t ticket = none;  // of its communicator
    Kind kind = Kind::Launch;
  };
  struct Stream {
    std::vector<Item> items;
    std::size_t head = 0;
    std::int64_t end = 0;    // of what ran last, or of the last wait
    std::int64_t ready = 0;  // when the next may start
    std::int64_t wake = -1;  // pending event
    std::uint32_t last_slice = 0;
    std::uint32_t comm_waiting = none;  // the communicator whose turn the head waits for
    std::int32_t priority = 0;
    bool running = false;
    std::vector<std::uint32_t> flows;          // slices of other streams that the next start waited for
    std::vector<std::uint32_t> waiting_hosts;  // lanes

    bool empty() const { return head == items.size(); }
  };
  struct Lane {
    enum class State : std::uint8_t { Running, Syncing, Reading, Waiting, Done };
    std::uint32_t rank = 0;  // colour
    std::uint32_t index = 0;
    std::uint32_t pc = 0;
    std::int64_t clock = 0;
    State state = State::Running;
    std::uint32_t stream = 0;  // Syncing, Reading
    std::int64_t blocked_at = 0;
    std::uint32_t predicate = no_command;  // the command whose predicate was read last
    bool handed = false;
    std::uint64_t calls = 0;                                     // for jitter
    std::vector<std::pair<std::uint32_t, std::int64_t>> ranges;  // command, since
  };
  struct Occurrence {  // of an event: one record and those that wait for it
    std::int64_t time = -1;
    std::uint32_t slice = 0;
    std::uint32_t stream = 0;
    std::vector<std::uint32_t> streams;  // that wait
  };
  struct Comm {
    std::uint32_t next_ticket = 0;
    std::uint32_t serving = 0;
    std::int64_t ready = 0;
    std::int64_t sequence = 0;
    std::uint32_t id = 0;                            // of all ranks together
    std::map<std::uint32_t, std::uint32_t> waiting;  // ticket -> stream
  };
  struct RankState {
    Rank rank = 0;
    std::uint32_t rank_class = 0;
    const Expanded* expanded = nullptr;
    const IssueProgram* program = nullptr;
    std::vector<Stream> streams;
    std::uint32_t first_stream = 0;  // in event ids
    std::vector<std::uint32_t> lanes;
    std::vector<std::uint32_t> event_now;  // the last record of each event
    std::vector<Occurrence> occurrences;
    std::vector<std::uint32_t> counts;  // executions by command; empty where each runs once
    std::map<std::uint32_t, std::int64_t> trips;
    std::vector<Comm> comms;
    std::vector<std::uint32_t> comm_of_command;  // position in comms
    std::uint32_t step = 0;
    std::int64_t step_start = 0;
    std::int64_t end = 0;
    RankEnergy energy;
    std::uint32_t lanes_left = 0;
  };
  // A command that runs: where it came from and what its slice needs.
  struct Launch {
    std::uint32_t rank = 0;
    std::uint32_t stream = 0;
    std::uint32_t graph_run = none;
    std::uint32_t node = 0;
    std::uint32_t command = 0;
    std::uint32_t occurrence = 0;
    std::uint32_t host_slice = 0;
    std::uint32_t comm = none;
    std::int64_t eligible = 0;
    std::int64_t sequence = 0;
    const Costed* costed = nullptr;
    std::vector<std::uint32_t> transfers;
    std::vector<std::uint32_t> flows;
    std::uint32_t room_from = 0;  // the slice that it waited for room of; 0: none, or one that has not ended yet
    FlowKind flow_kind = FlowKind::Event;
    std::uint32_t group_size = 1;
  };
  using TransferKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t>;
  struct Issued {
    std::uint32_t rank = 0;
    std::uint32_t command = 0;
  };
  struct Transfer {
    ActivityId activity = 0;
    TransferKey key;
    std::uint32_t to_join = 0;
    std::uint32_t to_end = 0;
    std::int64_t last_arrival = -1;
    struct End {
      std::uint32_t rank = 0;
      std::int64_t arrival = 0;
      std::uint32_t slice = 0;
    };
    std::vector<End> ends;
    std::uint32_t contract = 0;  // what the rank that came first said
    Issued opened_by;
  };
  // A graph, or a conditional's body, that is being executed.
  struct GraphRun {
    std::uint32_t rank = 0;
    std::uint32_t graph = 0;
    std::uint32_t stream = 0;
    std::uint32_t parent = none;
    std::uint32_t parent_node = 0;
    std::uint32_t host_slice = 0;
    std::uint32_t left = 0;
    bool in_while = false;
    std::vector<std::uint32_t> waiting;  // by node: dependencies left
    std::vector<std::int64_t> ready;
    std::vector<std::uint32_t> slices;
    std::vector<std::int64_t> trips;  // by node
  };
  struct Clique {
    std::vector<Rank> members;           // of the representative's group, in group order
    std::vector<std::uint32_t> colours;  // of all members, in group order
    std::vector<std::uint32_t> distinct;
    std::uint32_t position = 0;
    std::uint32_t id = 0;
    bool crosses = false;
  };

  // run.cpp
  Problems missing_outcomes();
  std::int64_t outcome(const RankState& rank, std::uint32_t command) const;
  Result<void> set_up();
  void handle(const Event& event);
  void finish_ops(std::int64_t now);
  std::uint32_t ended_slice(const OpRun& run) const;
  void sample(std::int64_t now);
  std::int64_t gap(const Number& period) const;
  TimelineProblem to_row(const Problem& problem) const;

  // run_host.cpp
  void run_lane(std::uint32_t id, std::int64_t now);
  bool perform(Lane& lane, const Action& action, std::int64_t now);
  std::int64_t pay(Lane& lane, std::int64_t cost);
  std::uint32_t host_slice(Lane& lane, std::int64_t start, StringId name, std::uint32_t command, Family family);
  bool sync(Lane& lane, const Action& action, std::int64_t now);
  void lane_done(Lane& lane);
  std::int64_t call_cost(const RankState& rank, std::uint32_t command);
  void push_item(RankState& rank, std::uint32_t stream, const Item& item, std::int64_t now);

  // run_stream.cpp
  void advance_stream(std::uint32_t rank, std::uint32_t stream, std::int64_t now);
  void wake_at(RankState& rank, std::uint32_t stream, std::int64_t time);
  void stream_idle(RankState& rank, std::uint32_t rank_id, std::uint32_t stream, std::int64_t now);
  void begin(Launch&& launch, std::int64_t now);
  void begin_here(Launch&& launch, const Costed& costed, std::int64_t now);
  void end_launch(OpId op, std::int64_t now);
  void emit(const OpState& op, Launch& launch, std::int64_t now);
  void stream_op_done(std::uint32_t rank, std::uint32_t stream, std::uint32_t slice, std::int64_t now);

  // run_collective.cpp
  bool is_collective(std::uint32_t rank_class, std::uint32_t command) const;
  const Clique& clique_of(std::uint32_t rank, const CollectiveAttributes& op);
  std::uint32_t comm_of(std::uint32_t rank, std::uint32_t command);
  void begin_collective(Launch&& launch, std::int64_t now);
  void add_transfers(Launch& launch, std::uint32_t command, std::vector<ActivityId>& activities, std::int64_t now);
  std::uint32_t contract_of(std::uint32_t rank_class, std::uint32_t command, std::size_t members);
  void report_mismatch(const Transfer& transfer);
  void join_all(Launch& launch, const Clique& clique, const Costed& costed, std::vector<ActivityId>& activities,
                std::int64_t now);
  void join_pair(Launch& launch, const Clique& clique, std::uint32_t source, std::uint32_t target, const Costed& costed,
                 std::vector<ActivityId>& activities, std::int64_t now);
  std::uint32_t join(const TransferKey& key, Launch& launch, std::span<const std::uint32_t> devices,
                     const Costed& costed, std::vector<ActivityId>& activities, std::int64_t now);
  void emit_parts(const OpState& op, const Launch& launch, std::uint32_t slice, std::int64_t now);
  void end_transfers(Launch& launch, std::uint32_t slice);

  // run_graph.cpp
  std::uint32_t start_graph(GraphRun&& run, std::int64_t now, std::int64_t delay);
  void node_ready(std::uint32_t run, std::uint32_t node, std::int64_t time);
  void node_ready_after_condition(std::uint32_t run, std::uint32_t node, std::int64_t time);
  void begin_node(std::uint32_t timer, std::int64_t now);
  void node_done(std::uint32_t run, std::uint32_t node, std::int64_t now);
  void graph_done(std::uint32_t run, std::int64_t now);
  void start_body(std::uint32_t run, std::uint32_t node, std::uint32_t body, std::int64_t now, std::int64_t delay);
  const std::vector<std::vector<std::uint32_t>>& successors(const GraphRun& run);

  // deadlock.cpp
  std::optional<Deadlock> find_deadlock(std::int64_t now);
  struct Blocked {
    std::uint32_t rank = 0;
    std::uint32_t stream = none;  // or a host lane
    std::uint32_t lane = none;
    friend auto operator<=>(const Blocked&, const Blocked&) = default;
  };
  struct Cause {
    std::string command;
    std::string words;
    std::optional<Blocked> next;
  };
  Cause cause_of(const Blocked& blocked) const;
  std::optional<Blocked> blocked_on(std::uint32_t rank) const;

  std::uint32_t count(RankState& rank, std::uint32_t command) {
    return rank.counts.empty() ? 0 : rank.counts[command]++;
  }

  const Plan& plan_;
  const Machine& machine_;
  const SimulateOptions& options_;
  Folding folding_;
  EventQueue events_;
  Engine engine_;
  Topology topology_;
  Costs costs_;
  Recorder record_;
  std::vector<std::vector<std::uint8_t>> collective_;  // by class and command: runs on a communicator
  std::vector<RankState> ranks_;
  std::vector<Lane> lanes_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> stream_ids_;  // event id -> rank, stream
  std::vector<Launch> launches_;                                     // by op
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ended_;       // by op: its last run that ended, and the slice
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> free_transfers_;
  std::map<TransferKey, std::uint32_t> open_transfers_;
  // What the command that joins now agrees to, as an id of its words.
  std::uint32_t contract_ = 0;
  Issued contract_place_;
  std::map<std::string, std::uint32_t> contract_ids_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t>, std::uint32_t> contract_of_command_;
  std::optional<Problem> mismatch_;
  std::int64_t executed_ = 0;
  // A bound for loops whose `trips` are a mistake; about 2.5 GB of timeline.
  static constexpr std::int64_t max_executed = 30'000'000;
  std::map<std::vector<std::int64_t>, std::uint32_t> clique_ids_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Clique> cliques_;  // colour, axis, groups
  std::map<std::pair<std::uint32_t, std::int32_t>, std::uint32_t> comm_ids_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, bool>, std::int64_t> pair_counts_;
  std::vector<std::vector<std::vector<std::vector<std::uint32_t>>>> successors_;  // class, graph, node
  std::vector<GraphRun> graph_runs_;
  std::vector<std::uint32_t> free_runs_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> timers_;
  std::vector<std::uint32_t> free_timers_;
  std::map<std::pair<Rank, std::uint32_t>, std::int64_t> delays_;             // colour, command
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> outcomes_;  // class, command
  std::vector<Use> uses_;
  std::vector<OpId> ending_;
  PredictionSummary summary_;

  std::int64_t kernel_gap_ = 0, stream_gap_ = 0, node_gap_ = 0, while_gap_ = 0, join_extra_ = 0, join_branch_ = 0;
  struct {
    StringId launch, record, wait, sync, graph_launch, host_work, read_predicate;
    StringId residence_wait, arrival_wait, transfer, model;
  } names_;
};

}  // namespace stave::simulator
