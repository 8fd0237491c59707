#include "simulator/run.h"

#include <algorithm>

namespace stave::simulator {

Run::Run(const Plan& plan, const Machine& machine, const SimulateOptions& options, const NetworkModel& model,
         Folding folding, TimelineSink& sink)
    : plan_(plan),
      machine_(machine),
      options_(options),
      folding_(std::move(folding)),
      engine_(model, events_, options.unhindered),
      topology_(machine, engine_, folding_.representative.size()),
      costs_(plan, machine, options.clock),
      record_(plan, folding_, sink, options.all_ranks, options.counters) {}

// Periods of empty kernels contain the kernel.
std::int64_t Run::gap(const Number& period) const {
  return std::max<std::int64_t>((picoseconds_of(period) - picoseconds_of(machine_.device.kernel_minimum_ps)).count(),
                                0);
}

Problems Run::missing_outcomes() {
  Problems problems;
  for (std::uint32_t c = 0; c < plan_.classes.size(); ++c) {
    const Expanded& expanded = plan_.classes[c].expanded;
    std::map<std::string, std::int64_t> given;
    for (const Outcome& o : options_.outcomes) given[o.command] = o.value;
    for (std::size_t i = 0; i < expanded.commands.size(); ++i) {
      const CommandId id{i};
      const Command& command = expanded[id];
      const bool loops = std::holds_alternative<While>(command.payload);
      if (!loops && !std::holds_alternative<Cond>(command.payload) && !std::holds_alternative<Switch>(command.payload))
        continue;
      std::optional<std::int64_t> value;
      if (command.cost) value = loops ? expanded.costs[command.cost].trips : expanded.costs[command.cost].taken;
      if (!given.empty())
        if (const auto at = given.find(expanded.path(id)); at != given.end()) value = at->second;
      if (value && loops && *value > max_executed) {
        problems.push_back(error_at(expanded.place(command), "STV0858",
                                    "`trips = {}`: a prediction executes at most {} commands of a rank", *value,
                                    max_executed)
                               .problems.front());
        continue;
      }
      if (value) {
        outcomes_[{c, id.value}] = *value;
        continue;
      }
      const std::string_view op = std::visit([]<class T>(const T&) { return T::info.name; }, command.payload);
      problems.push_back(
          error_at(expanded.place(command), "STV0851", "a prediction must know {}: give `{}` its `cost = {{{} = ...}}`",
                   loops ? "how often the body runs" : "which branch is taken", op, loops ? "trips" : "taken")
              .problems.front());
    }
  }
  return problems;
}

std::int64_t Run::outcome(const RankState& rank, std::uint32_t command) const {
  const auto at = outcomes_.find({rank.rank_class, command});
  return at == outcomes_.end() ? 0 : at->second;
}

Result<void> Run::set_up() {
  if (Problems problems = missing_outcomes(); !problems.empty()) return Failure(std::move(problems));
  engine_.set_rivalries(costs_.rivals(), costs_.rivalries());
  if (options_.counters) engine_.observe();
  kernel_gap_ = gap(machine_.device.kernel_gap_ps);
  stream_gap_ = gap(machine_.device.stream_gap_ps);
  node_gap_ = gap(machine_.graph.node_gap_ps);
  while_gap_ = gap(machine_.graph.while_kernel_ps);
  // A stage that forks and joins holds two nodes of a chain besides.
  join_extra_ = std::max<std::int64_t>(
      (picoseconds_of(machine_.graph.fork_join_ps) - 2 * picoseconds_of(machine_.graph.node_gap_ps)).count(), 0);
  join_branch_ = picoseconds_of(machine_.graph.fork_join_per_branch_ps).count();

  for (const RankClass& c : plan_.classes) {
    std::vector<std::uint8_t>& flags = collective_.emplace_back();
    for (const Command& command : c.expanded.commands)
      flags.push_back(std::visit(
          []<class T>(const T&) { return CollectiveOp<T> || std::is_same_v<T, CollectiveGroup>; }, command.payload));
  }
  record_.begin(machine_.name);
  names_ = {record_.name("launch"),
            record_.name("event_record"),
            record_.name("event_wait"),
            record_.name("synchronize"),
            record_.name("graph_launch"),
            record_.name("host_work"),
            record_.name("read_predicate"),
            record_.name("residence_wait"),
            record_.name("arrival_wait"),
            record_.name("transfer"),
            record_.name("gang")};
  for (std::uint32_t i = 0; i < folding_.colours(); ++i) {
    RankState& rank = ranks_.emplace_back();
    rank.rank = folding_.representative[i];
    rank.rank_class = plan_.class_of_rank[rank.rank];
    const RankClass& rank_class = plan_.classes[rank.rank_class];
    rank.expanded = &rank_class.expanded;
    rank.program = &rank_class.program;
    rank.first_stream = static_cast<std::uint32_t>(stream_ids_.size());
    rank.streams.resize(rank.program->streams.size());
    for (std::uint32_t s = 0; s < rank.streams.size(); ++s) {
      // Communication streams have the highest priority.
      rank.streams[s].priority = rank.program->streams[s].kind == StreamRef::Kind::Communication ? 1 : 0;
      stream_ids_.emplace_back(i, s);
    }
    rank.event_now.assign(rank.program->events, none);
    rank.comm_of_command.assign(rank.expanded->commands.size(), none);
    bool loops = false;
    for (const Command& command : rank.expanded->commands)
      loops = loops || std::holds_alternative<While>(command.payload);
    if (loops) rank.counts.assign(rank.expanded->commands.size(), 0);
    std::vector<bool> handed(rank.program->hosts.size());
    for (const Action& action : rank.program->actions)
      if (action.kind == Action::Kind::Handoff) handed[action.to.value] = true;
    for (std::uint32_t h = 0; h < rank.program->hosts.size(); ++h) {
      Lane& lane = lanes_.emplace_back();
      lane.rank = i;
      lane.index = h;
      lane.pc = rank.program->hosts[HostId{h}].actions.first;
      lane.handed = handed[h];
      if (lane.handed) lane.state = Lane::State::Waiting;
      rank.lanes.push_back(static_cast<std::uint32_t>(lanes_.size() - 1));
    }
    rank.lanes_left = static_cast<std::uint32_t>(rank.lanes.size());
  }
  for (const HostDelay& delay : options_.host_delays) {
    if (delay.rank >= plan_.ranks())
      return error_at({}, "STV0855", "host delay: there is no rank {} among {}", delay.rank, plan_.ranks());
    const Expanded& expanded = plan_.of_rank(delay.rank).expanded;
    bool found = false;
    for (std::size_t i = 0; i < expanded.commands.size() && !found; ++i)
      if (expanded.path(CommandId{i}) == delay.command) {
        found = true;
        delays_[{folding_.colour_of_rank[delay.rank], static_cast<std::uint32_t>(i)}] = delay.not_before.count();
      }
    if (!found) return error_at({}, "STV0855", "host delay: no command '{}' on rank {}", delay.command, delay.rank);
  }
  return {};
}

void Run::handle(const Event& event) {
  switch (event.what) {
    case HostWake: run_lane(event.id, event.time); return;
    case StreamWake: {
      const auto [rank, stream] = stream_ids_[event.id];
      Stream& s = ranks_[rank].streams[stream];
      if (s.wake == event.time) s.wake = -1;
      advance_stream(rank, stream, event.time);
      return;
    }
    case NodeBegin: begin_node(event.id, event.time); return;
    default: engine_.handle(event); finish_ops(event.time);
  }
}

// 0: that run of the op has not ended, or another one has since.
std::uint32_t Run::ended_slice(const OpRun& run) const {
  return run.op < ended_.size() && ended_[run.op].first == run.run ? ended_[run.op].second : 0;
}

void Run::finish_ops(std::int64_t now) {
  // Ending one may start others, which may end at once.
  while (!engine_.finished().empty()) {
    ending_.clear();
    ending_.swap(engine_.finished());
    for (const OpId op : ending_) end_launch(op, now);
  }
}

Result<PredictionSummary> Run::run() {
  TRY_VOID(set_up());
  for (std::uint32_t i = 0; i < lanes_.size(); ++i)
    if (lanes_[i].state == Lane::State::Running) events_.push({0, HostWake, i});
  std::int64_t now = 0;
  std::int64_t look = 0;  // at `progress`, now and then
  while (!events_.empty()) {
    now = events_.next_time();
    while (!events_.empty() && events_.next_time() == now) {
      handle(events_.pop());
      ++summary_.events_count;
    }
    engine_.settle(now);
    for (const OpId op : engine_.take_late()) launches_[op].room_from = ended_slice(engine_.op(op).waited_for);
    finish_ops(now);
    if (options_.counters) sample(now);
    if (mismatch_) return Failure(*mismatch_);
    if (executed_ > max_executed)
      return error_at({.file = plan_.classes[0].expanded.module->file}, "STV0858",
                      "more than {} commands ran on one rank of each kind; is a `trips` too large?", max_executed);
    if (options_.progress && summary_.events_count >= look) {
      look = summary_.events_count + 4096;
      options_.progress->commands = summary_.instances_count;
      options_.progress->done = summary_.instances_count;
      summary_.cancelled = options_.progress->cancelled();
      if (summary_.cancelled) break;
    }
  }
  Problems& problems = costs_.problems();
  for (const Problem& p : problems)
    if (p.severity == Severity::Error) return Failure(std::move(problems));
  if (!summary_.cancelled) summary_.deadlock = find_deadlock(now);
  summary_.notes = std::move(problems);
  summary_.simulated_ranks = static_cast<std::uint32_t>(folding_.colours());
  std::int64_t makespan = 0;
  for (const RankState& rank : ranks_) makespan = std::max(makespan, rank.end);
  summary_.makespan = Picoseconds{makespan};
  for (const std::uint32_t colour : folding_.colour_of_rank) {
    summary_.rank_end.emplace_back(ranks_[colour].end);
    summary_.rank_energy.push_back(ranks_[colour].energy);
  }
  if (options_.unhindered) {
    const Topology::Busiest busiest = topology_.busiest();
    summary_.busiest = busiest.time;
    summary_.busiest_resource = fmt::format("{} of rank {}", busiest.what, ranks_[busiest.device].rank);
  }
  std::vector<TimelineProblem> rows;
  for (const Problem& note : summary_.notes) rows.push_back(to_row(note));
  if (summary_.deadlock) {
    TimelineProblem& row = rows.emplace_back();
    row.severity = Severity::Error;
    row.code = "STV0861";
    row.message = summary_.deadlock->to_text();
  }
  TRY_VOID(record_.finish(rows));
  return std::move(summary_);
}

void Run::sample(std::int64_t now) {
  const Link* const link = machine_.device_link();
  for (const std::uint32_t device : engine_.take_changed()) {
    record_.counter(device, Recorder::Counter::SmsHeld, now, engine_.sms(device).held());
    record_.counter(device, Recorder::Counter::Memory, now,
                    topology_.memory_load(device) * machine_.device.memory_bandwidth_bytes_per_s.value);
    record_.counter(device, Recorder::Counter::LinkOut, now,
                    topology_.link_load(device) * (link ? link->bandwidth_bytes_per_s.value : 0));
  }
}

TimelineProblem Run::to_row(const Problem& problem) const {
  TimelineProblem row;
  row.severity = problem.severity;
  row.code = problem.code;
  row.message = problem.message;
  row.file = problem.place.file;
  row.line = problem.place.line;
  row.column = problem.place.column;
  return row;
}

}  // namespace stave::simulator
