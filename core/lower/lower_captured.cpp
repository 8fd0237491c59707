// Streams become edges. A node comes after the last node of its stream and what
// the stream was made to wait for since; a conditional node stands for all the
// streams and communicators that its bodies use, since order on a stream or a
// communicator holds across the borders of a body.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "core/lower/collective_contract.h"
#include "core/lower/lowering.h"

namespace stave {

namespace {

// A node of the graph that is being built, by position, and for each stream the
// last node that is not later than it. Nodes of one stream are totally ordered,
// so this says for any node whether it comes before.
using Past = std::vector<std::uint32_t>;  // by stream; position + 1, 0: none
struct Mark {
  std::uint32_t node = 0;
  StreamId stream;
  std::shared_ptr<const Past> past;  // shared by the marks of one node only

  bool before(const Mark& other) const {
    return stream.value < other.past->size() && (*other.past)[stream.value] > node;
  }
};

// Adds a mark and drops those that another one implies.
void join(std::vector<Mark>& marks, const Mark& mark) {
  for (const Mark& m : marks)
    if (m.node == mark.node || mark.before(m)) return;
  std::erase_if(marks, [&](const Mark& m) { return m.before(mark); });
  marks.push_back(mark);
}

// What the commands of some regions use, nested ones included.
struct Uses {
  std::set<StreamId> streams;
  std::set<std::int32_t> communicators;
};

struct Building {
  std::vector<GraphNode> nodes;
  std::vector<std::vector<std::uint32_t>> after;  // by node: positions
  std::vector<std::vector<Mark>> streams;         // by stream: what its next node comes after
  std::map<std::int32_t, Mark> communicators;     // the last node of each
};

class Captured {
 public:
  Captured(const Expanded& expanded, const StreamsOf& streams, bool serial, IssueProgram& program)
      : expanded_(expanded), of_(streams), serial_(serial), program_(program), end_of_body_(expanded.tokens.size()) {}

  Problems run() {
    Building top = fresh();
    region(expanded_.body, top);
    const GraphId graph = close(top);
    program_.actions.add({.kind = Action::Kind::GraphLaunch, .stream = StreamId{0}, .graph = graph});
    program_.actions.add({.kind = Action::Kind::HostSync, .stream = StreamId{0}});
    program_.hosts.add(HostLane{program_.actions.all()});
    return std::move(problems_);
  }

 private:
  Building fresh() const {
    Building b;
    b.streams.resize(of_.streams.size());
    return b;
  }

  GraphId close(Building& b) {
    const std::size_t base = program_.nodes.size();
    for (std::size_t i = 0; i < b.nodes.size(); ++i) {
      const std::size_t first = program_.node_refs.size();
      std::sort(b.after[i].begin(), b.after[i].end());
      for (const std::uint32_t n : b.after[i]) program_.node_refs.add(NodeId{base + n});
      b.nodes[i].after = program_.node_refs.range_from(first);
      program_.nodes.add(b.nodes[i]);
    }
    return program_.graphs.add(Graph{program_.nodes.range_from(base)});
  }

  void add(Building& b, GraphNode node, const Uses& uses) {
    const auto position = static_cast<std::uint32_t>(b.nodes.size());
    std::vector<Mark> after;
    for (const StreamId s : uses.streams)
      for (const Mark& m : b.streams[s.value]) join(after, m);
    for (const std::int32_t c : uses.communicators)
      if (const auto last = b.communicators.find(c); last != b.communicators.end()) join(after, last->second);

    auto past = std::make_shared<Past>(of_.streams.size());
    std::vector<std::uint32_t> positions;
    for (const Mark& m : after) {
      positions.push_back(m.node);
      for (std::size_t s = 0; s < past->size(); ++s) (*past)[s] = std::max((*past)[s], (*m.past)[s]);
    }
    (*past)[node.stream.value] = position + 1;
    const Mark mark{position, node.stream, std::move(past)};
    for (const StreamId s : uses.streams) b.streams[s.value] = {mark};
    for (const std::int32_t c : uses.communicators) b.communicators[c] = mark;

    if (serial_) {
      positions.clear();
      if (position > 0) positions.push_back(position - 1);
    }
    b.nodes.push_back(node);
    b.after.push_back(std::move(positions));
  }

  void collect(IdRange<CommandRegion> regions, Uses& uses) const {
    for (const CommandRegionId region : regions)
      for (const CommandId id : expanded_.regions[region].commands) {
        uses.streams.insert(of_.of_command[id.value]);
        if (uses_communicator(expanded_[id]))
          uses.communicators.insert(communicator_of(expanded_, id));  // a group speaks for its members
        else
          collect(expanded_[id].regions, uses);
      }
  }

  void region(CommandRegionId id, Building& b) {
    for (const CommandId command : expanded_.regions[id].commands)
      std::visit([&](const auto& op) { lower(op, command, expanded_[command], b); }, expanded_[command].payload);
  }

  template <class T>
  void lower(const T&, CommandId id, const Command& command, Building& b) {
    if (depth_ > 0) check_in_body(id, command);
    Uses uses;
    uses.streams.insert(of_.of_command[id.value]);
    if (uses_communicator(command)) uses.communicators.insert(communicator_of(expanded_, id));
    add(b, {.stream = of_.of_command[id.value], .command = id}, uses);
  }

  void lower(const CollectiveGroup&, CommandId id, const Command& command, Building& b) {
    if (!has_commands(expanded_, command)) return;
    if (depth_ > 0)
      for (const CommandRegionId region : command.regions)
        for (const CommandId member : expanded_.regions[region].commands) check_copy_engine(member, expanded_[member]);
    Uses uses{{of_.of_command[id.value]}, {communicator_of(expanded_, id)}};
    add(b, {.stream = of_.of_command[id.value], .command = id}, uses);
  }

  void lower(const RangeMark&, CommandId, const Command& command, Building& b) {
    for (const CommandRegionId body : command.regions) region(body, b);
  }

  void lower(const AsyncStart&, CommandId id, const Command& command, Building& b) {
    const StreamId from = of_.of_command[id.value];
    const StreamId to = of_.body_of_start[id.value];
    if (from != to)
      for (const Mark& m : b.streams[from.value]) join(b.streams[to.value], m);
    for (const CommandRegionId body : command.regions) region(body, b);
    end_of_body_[command.token.value] = b.streams[to.value];
  }

  void lower(const AsyncDone&, CommandId id, const Command& command, Building& b) {
    std::vector<Mark>& stream = b.streams[of_.of_command[id.value].value];
    for (const Mark& m : end_of_body_[command.token.value]) join(stream, m);
    end_of_body_[command.token.value].clear();
  }

  void choice(GraphNode::Kind kind, CommandId id, const Command& command, Building& b) {
    std::vector<GraphId> bodies;
    for (const CommandRegionId body : command.regions) bodies.push_back(body_of({body}));
    conditional(kind, id, command, bodies, b);
  }

  void lower(const Cond&, CommandId id, const Command& command, Building& b) {
    choice(GraphNode::Kind::If, id, command, b);
  }
  void lower(const Switch&, CommandId id, const Command& command, Building& b) {
    choice(GraphNode::Kind::Switch, id, command, b);
  }
  void lower(const While&, CommandId id, const Command& command, Building& b) {
    region(command.regions[0], b);
    const GraphId body = body_of({command.regions[1], command.regions[0]});
    conditional(GraphNode::Kind::While, id, command, {body}, b);
  }

  GraphId body_of(const std::vector<CommandRegionId>& regions) {
    Building b = fresh();
    ++depth_;
    for (const CommandRegionId r : regions) region(r, b);
    --depth_;
    return close(b);
  }

  void conditional(GraphNode::Kind kind, CommandId id, const Command& command, const std::vector<GraphId>& bodies,
                   Building& b) {
    const std::size_t first = program_.graph_refs.size();
    for (const GraphId g : bodies) program_.graph_refs.add(g);
    Uses uses;
    uses.streams.insert(of_.of_command[id.value]);
    collect(command.regions, uses);
    add(b,
        {.kind = kind,
         .stream = of_.of_command[id.value],
         .command = id,
         .bodies = program_.graph_refs.range_from(first)},
        uses);
  }

  bool on_host(ViewId view) const { return expanded_.buffers[expanded_[view].buffer].space == Space::Host; }

  // CUDA Runtime API, cudaGraphConditionalNodeParams: a body may hold kernel, empty, memset, device memcpy,
  // child graph and conditional nodes only. (Host memory is never the target of a memset: verify.)
  void check_in_body(CommandId id, const Command& command) {
    check_copy_engine(id, command);
    if (!std::holds_alternative<Copy>(command.payload)) return;
    if (!on_host(command.operands[0]) && !on_host(command.results[0])) return;
    if (!complained_.insert(id).second) return;  // a condition is lowered twice
    Failure failure =
        error_at(expanded_.place(command), "STV0550",
                 "`{}` copies to or from host memory inside a cond, switch or while: a captured conditional body takes "
                 "device work only; run this schedule eager, or move the copy out",
                 expanded_.path(id));
    std::move(failure.problems.begin(), failure.problems.end(), std::back_inserter(problems_));
  }

  // A body takes nodes of one context (CUDA Programming Guide 4.2, "Conditional Graph Nodes"); copies between devices
  // in one were not tried.
  void check_copy_engine(CommandId id, const Command& command) {
    const CollectiveAttributes* collective = attributes_of(command);
    if (collective == nullptr || collective->algorithm != Algorithm::CopyEngine || !complained_.insert(id).second)
      return;
    problems_.push_back(
        {Severity::Error,
         "STV0551",
         fmt::format("`{}` runs on copy engines inside a cond, switch or while: a captured conditional "
                     "body takes NCCL's kernels only; leave `algorithm` out, or run this schedule eager",
                     expanded_.path(id)),
         expanded_.place(command),
         {}});
  }

  const Expanded& expanded_;
  const StreamsOf& of_;
  bool serial_;
  IssueProgram& program_;
  std::vector<std::vector<Mark>> end_of_body_;  // by token
  std::set<CommandId> complained_;
  Problems problems_;
  int depth_ = 0;  // conditional bodies around
};

}  // namespace

Problems lower_captured(const Expanded& expanded, const StreamsOf& streams, bool serial, IssueProgram& program) {
  return Captured(expanded, streams, serial, program).run();
}

}  // namespace stave
