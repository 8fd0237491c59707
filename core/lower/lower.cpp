#include <algorithm>

#include "core/lower/lowering.h"
#include "core/lower/plan.h"

namespace stave {

namespace {

class StreamWalk {
 public:
  StreamWalk(const Expanded& expanded, StreamsOf& out) : expanded_(expanded), out_(out) {}

  void region(CommandRegionId id, StreamId stream) {
    for (const CommandId command : expanded_.regions[id].commands) {
      out_.of_command[command.value] = stream;
      StreamId inner = stream;
      if (const auto* start = std::get_if<AsyncStart>(&expanded_[command].payload)) {
        inner = stream_id(start->stream);
        out_.body_of_start[command.value] = inner;
      }
      for (const CommandRegionId nested : expanded_[command].regions) region(nested, inner);
    }
  }

 private:
  StreamId stream_id(StreamRef stream) {
    const auto at = std::find(out_.streams.begin(), out_.streams.end(), stream);
    if (at != out_.streams.end()) return StreamId{static_cast<std::size_t>(at - out_.streams.begin())};
    out_.streams.push_back(stream);
    return StreamId{out_.streams.size() - 1};
  }

  const Expanded& expanded_;
  StreamsOf& out_;
};

class Eager {
 public:
  Eager(const Expanded& expanded, const StreamsOf& streams, IssueProgram& program)
      : expanded_(expanded), streams_(streams), program_(program), end_of_body_(expanded.tokens.size()) {}

  void run() {
    region(expanded_.body);
    for (std::size_t s = 0; s < program_.streams.size(); ++s)
      add({.kind = Action::Kind::HostSync, .stream = StreamId{s}});
    program_.hosts.add(HostLane{program_.actions.all()});
  }

 private:
  ActionId add(Action action) { return program_.actions.add(action); }
  EventId new_event() { return EventId{program_.events++}; }

  void region(CommandRegionId id) {
    for (const CommandId command : expanded_.regions[id].commands)
      std::visit([&](const auto& op) { lower(op, command, expanded_[command]); }, expanded_[command].payload);
  }

  template <class T>
  void lower(const T&, CommandId id, const Command&) {
    add({.kind = Action::Kind::Launch, .stream = streams_.of_command[id.value], .command = id});
  }

  void lower(const CollectiveGroup&, CommandId id, const Command& command) {
    if (!has_commands(expanded_, command)) return;
    add({.kind = Action::Kind::Launch, .stream = streams_.of_command[id.value], .command = id});
  }

  void lower(const RangeMark&, CommandId id, const Command& command) {
    add({.kind = Action::Kind::RangePush, .command = id});
    for (const CommandRegionId body : command.regions) region(body);
    add({.kind = Action::Kind::RangePop, .command = id});
  }

  void lower(const AsyncStart&, CommandId id, const Command& command) {
    const StreamId from = streams_.of_command[id.value];
    const StreamId to = streams_.body_of_start[id.value];
    if (from != to) {
      const EventId event = new_event();
      add({.kind = Action::Kind::Record, .stream = from, .event = event, .command = id});
      add({.kind = Action::Kind::Wait, .stream = to, .event = event, .command = id});
    }
    for (const CommandRegionId body : command.regions) region(body);
    const CommandId done = expanded_.tokens[command.token].done;
    if (!done || streams_.of_command[done.value] == to) return;  // the stream's own order holds it
    const EventId event = new_event();
    end_of_body_[command.token.value] = event;
    add({.kind = Action::Kind::Record, .stream = to, .event = event, .command = id});
  }

  void lower(const AsyncDone&, CommandId id, const Command& command) {
    const EventId event = end_of_body_[command.token.value];
    if (event)
      add({.kind = Action::Kind::Wait, .stream = streams_.of_command[id.value], .event = event, .command = id});
  }

  // Reads the predicate and branches; the targets are filled in later.
  IdRange<TargetTag> branch(CommandId id, std::size_t targets) {
    add({.kind = Action::Kind::ReadPredicate, .stream = streams_.of_command[id.value], .command = id});
    const std::size_t first = program_.targets.size();
    for (std::size_t i = 0; i < targets; ++i) program_.targets.add({});
    const IdRange<TargetTag> range = program_.targets.range_from(first);
    add({.kind = Action::Kind::Branch, .command = id, .targets = range});
    return range;
  }

  // One of the bodies runs, then all meet; a body that is missing is empty.
  void choice(CommandId id, const Command& command, std::size_t bodies) {
    const auto targets = branch(id, bodies);
    std::vector<ActionId> leave;
    for (std::size_t i = 0; i < bodies; ++i) {
      program_.targets[targets[i]] = program_.actions.next_id();
      if (i >= command.regions.size()) continue;
      region(command.regions[i]);
      if (i + 1 < command.regions.size()) leave.push_back(add({.kind = Action::Kind::Jump, .command = id}));
    }
    for (const ActionId jump : leave) program_.actions[jump].target = program_.actions.next_id();
  }

  void lower(const Cond&, CommandId id, const Command& command) { choice(id, command, 2); }
  void lower(const Switch&, CommandId id, const Command& command) { choice(id, command, command.regions.size()); }

  void lower(const While&, CommandId id, const Command& command) {
    const ActionId again = program_.actions.next_id();
    region(command.regions[0]);
    const auto targets = branch(id, 2);
    program_.targets[targets[0]] = program_.actions.next_id();
    region(command.regions[1]);
    add({.kind = Action::Kind::Jump, .command = id, .target = again});
    program_.targets[targets[1]] = program_.actions.next_id();
  }

  const Expanded& expanded_;
  const StreamsOf& streams_;
  IssueProgram& program_;
  std::vector<EventId> end_of_body_;  // by token
};

}  // namespace

StreamsOf streams_of(const Expanded& expanded) {
  StreamsOf out;
  out.streams.push_back({});
  out.of_command.resize(expanded.commands.size());
  out.body_of_start.resize(expanded.commands.size());
  StreamWalk(expanded, out).region(expanded.body, StreamId{0});
  return out;
}

bool has_commands(const Expanded& expanded, const Command& command) {
  for (const CommandRegionId region : command.regions)
    for (const CommandId id : expanded.regions[region].commands)
      if (!std::holds_alternative<RangeMark>(expanded[id].payload) || has_commands(expanded, expanded[id])) return true;
  return false;
}

void lower_eager(const Expanded& expanded, const StreamsOf& streams, IssueProgram& program) {
  Eager(expanded, streams, program).run();
}

Result<Plan> lower(Expansion expansion, Mode mode) {
  Plan plan;
  plan.mode = mode;
  plan.class_of_rank = std::move(expansion.class_of_rank);
  Problems problems;
  for (Expanded& expanded : expansion.classes) {
    RankClass& made = plan.classes.emplace_back();
    made.expanded = std::move(expanded);
    const StreamsOf streams = streams_of(made.expanded);
    made.program.streams = streams.streams;
    if (mode == Mode::Eager) {
      lower_eager(made.expanded, streams, made.program);
    } else {
      Problems found = lower_captured(made.expanded, streams, mode == Mode::CapturedSerial, made.program);
      std::move(found.begin(), found.end(), std::back_inserter(problems));
    }
  }
  if (!problems.empty()) return Failure(std::move(problems));
  return plan;
}

}  // namespace stave
