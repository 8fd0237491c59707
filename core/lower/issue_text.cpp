#include <map>

#include "core/lower/issue_names.h"
#include "core/lower/plan.h"

namespace stave {

namespace {

class IssuePrinter {
 public:
  IssuePrinter(const RankClass& rank_class, Mode mode)
      : expanded_(rank_class.expanded), program_(rank_class.program), mode_(mode), names_(buffer_names(expanded_)) {
    label_targets();
  }

  std::string text() {
    line(0, "stave-issue 1");
    line(0, fmt::format("mode = {}", name_of(mode_)));
    line(0, fmt::format("ranks = {}", ranks()));
    std::uint32_t id = 0;
    for (const Graph& g : program_.graphs) graph(g, id++);
    id = 0;
    for (const HostLane& lane : program_.hosts) host(lane, id++);
    return std::move(out_);
  }

 private:
  void line(int indent, std::string_view text) {
    out_.append(static_cast<std::size_t>(indent) * 2, ' ');
    out_.append(text);
    out_ += '\n';
  }

  std::string ranks() const {
    const std::vector<Rank>& ranks = expanded_.ranks;
    if (!ranks.empty() && ranks.back() - ranks.front() + 1 == ranks.size() && ranks.size() > 1)
      return fmt::format("{} .. {}", ranks.front(), ranks.back());
    return fmt::format("[{}]", fmt::join(ranks, ", "));
  }

  void label_targets() {
    for (const Action& action : program_.actions) {
      if (action.kind == Action::Kind::Jump) labels_.emplace(action.target, 0);
      if (action.kind == Action::Kind::Branch)
        for (const Id<TargetTag> t : action.targets) labels_.emplace(program_.targets[t], 0);
    }
    std::uint32_t next = 0;
    for (auto& [action, label] : labels_) label = next++;
  }
  std::string label(ActionId action) const { return fmt::format("%l{}", labels_.at(action)); }

  std::string stream(StreamId id) const { return to_text(program_.streams[id.value]); }
  std::string path(CommandId id) const { return fmt::format("command = \"{}\"", expanded_.path(id)); }

  std::string views(IdRange<View> range) const {
    std::string text;
    for (const ViewId v : range) text += (text.empty() ? " " : ", ") + view_text(expanded_, names_, v);
    return text;
  }

  // "gemm %a, %b -> %c"; a group lists its members, without ranges around them.
  std::string statement(CommandId id) const {
    const Command& c = expanded_[id];
    std::string text(info_of(kind_of_payload(c.payload)).name);
    text += views(c.operands);
    if (!c.results.empty()) text += " ->" + views(c.results);
    if (std::holds_alternative<CollectiveGroup>(c.payload)) text += fmt::format(" {{ {} }}", members(c));
    return text;
  }
  std::string members(const Command& c) const {
    std::string text;
    for (const CommandRegionId region : c.regions)
      for (const CommandId id : expanded_.regions[region].commands) {
        const bool range = std::holds_alternative<RangeMark>(expanded_[id].payload);
        text += (text.empty() ? "" : "; ") + (range ? members(expanded_[id]) : statement(id));
      }
    return text;
  }

  void host(const HostLane& lane, std::uint32_t id) {
    line(0, fmt::format("host {} {{", id));
    for (const ActionId action : lane.actions) {
      if (labels_.count(action)) line(1, fmt::format("label {}", label(action)));
      line(1, action_text(program_.actions[action]));
    }
    line(0, "}");
  }

  std::string action_text(const Action& a) const {
    switch (a.kind) {
      case Action::Kind::Launch:
        return fmt::format("issue {} (stream = {}, {})", statement(a.command), stream(a.stream), path(a.command));
      case Action::Kind::Record: return fmt::format("record %e{} (stream = {})", a.event.value, stream(a.stream));
      case Action::Kind::Wait:
        return fmt::format("wait %e{} (stream = {}{})", a.event.value, stream(a.stream), certainty(a.certainty));
      case Action::Kind::HostWork: return fmt::format("host_work (time = {})", a.time.count());
      case Action::Kind::HostSync: return fmt::format("sync (stream = {})", stream(a.stream));
      case Action::Kind::Handoff: return fmt::format("handoff -> host {}", a.to.value);
      case Action::Kind::ReadPredicate:
        return fmt::format("read_predicate {} (stream = {}, {})",
                           view_text(expanded_, names_, expanded_[a.command].operands[0]), stream(a.stream),
                           path(a.command));
      case Action::Kind::Branch: {
        std::string targets;
        for (const Id<TargetTag> t : a.targets) targets += (targets.empty() ? "" : ", ") + label(program_.targets[t]);
        return fmt::format("branch {} ({})", targets, path(a.command));
      }
      case Action::Kind::Jump: return fmt::format("jump {}", label(a.target));
      case Action::Kind::GraphLaunch: return fmt::format("graph @g{} (stream = {})", a.graph.value, stream(a.stream));
      case Action::Kind::RangePush: return fmt::format("range_push ({})", path(a.command));
      case Action::Kind::RangePop: return fmt::format("range_pop ({})", path(a.command));
    }
    return {};
  }

  static std::string certainty(Certainty c) {
    return c == Certainty::Declared ? std::string() : fmt::format(", certainty = {}", name_of(c));
  }

  void graph(const Graph& g, std::uint32_t id) {
    line(0, fmt::format("graph @g{} {{", id));
    for (const NodeId n : g.nodes) line(1, node_text(program_.nodes[n], n.value - g.nodes.first, g.nodes.first));
    line(0, "}");
  }

  std::string node_text(const GraphNode& n, std::uint32_t number, std::uint32_t base) const {
    std::string what = "issue " + statement(n.command);
    if (n.kind != GraphNode::Kind::Launch) {
      static constexpr std::string_view kinds[] = {"", "if", "switch", "while"};
      std::string bodies;
      for (const Id<GraphRefTag> b : n.bodies)
        bodies += fmt::format("{}@g{}", bodies.empty() ? "" : ", ", program_.graph_refs[b].value);
      what = fmt::format("{} {} {{ {} }}", kinds[static_cast<std::size_t>(n.kind)],
                         view_text(expanded_, names_, expanded_[n.command].operands[0]), bodies);
    }
    std::string after;
    for (const Id<NodeRefTag> r : n.after)
      after += fmt::format("{}%n{}", after.empty() ? "" : ", ", program_.node_refs[r].value - base);
    if (!after.empty()) after = fmt::format(", after = [{}]", after);
    return fmt::format("node %n{} = {} (stream = {}, {}{}{})", number, what, stream(n.stream), path(n.command), after,
                       certainty(n.certainty));
  }

  const Expanded& expanded_;
  const IssueProgram& program_;
  Mode mode_;
  std::vector<std::string> names_;
  std::map<ActionId, std::uint32_t> labels_;
  std::string out_;
};

}  // namespace

std::string issue_text(const RankClass& rank_class, Mode mode) { return IssuePrinter(rank_class, mode).text(); }

}  // namespace stave
