#include "analysis/check/lints.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analysis/check/memory_faults.h"

namespace stave::check {
namespace {

// Below this a copy costs its launch, not memory bandwidth.
constexpr std::int64_t large_copy_bytes = 1 << 20;
// How far around a copy work beside it is looked for.
constexpr std::uint32_t max_beside = 64;

class Lints {
 public:
  Lints(const RankClass& rank_class, Findings& findings)
      : c_(rank_class), e_(rank_class.expanded), findings_(findings) {}

 protected:
  // One for each code and statement.
  Finding* warn(std::string_view code, CommandId command, std::string message, std::string fix) {
    if (!seen_.emplace(code, e_[command].op).second) return nullptr;
    Finding& finding = findings_.emplace_back();
    finding.problem = {Severity::Warning, std::string(code), std::move(message), e_.place(e_[command]), {}};
    finding.command = e_.path(command);
    finding.fix = std::move(fix);
    return &finding;
  }

  const RankClass& c_;
  const Expanded& e_;
  Findings& findings_;

 private:
  std::set<std::pair<std::string, OpId>> seen_;
};

class TextLints : public Lints {
 public:
  using Lints::Lints;

  void run(Mode mode) {
    region(e_.body, mode);
    if (mode == Mode::CapturedSerial && first_async_)
      warn("STV1044", first_async_,
           fmt::format("captured_serial runs one node after the other: the overlap of {} async bod{} is lost", asyncs_,
                       asyncs_ == 1 ? "y" : "ies"),
           "use --mode captured, which keeps the streams as fork and join");
  }

 private:
  void region(CommandRegionId id, Mode mode) {
    CommandId before{};
    for (const CommandId command : e_.regions[id].commands) {
      const Payload& payload = e_[command].payload;
      if (std::holds_alternative<AsyncStart>(payload)) {
        if (!first_async_) first_async_ = command;
        ++asyncs_;
      }
      if (std::holds_alternative<AsyncDone>(payload) && before && e_.tokens[e_[command].token].start == before)
        warn("STV1042", command,
             fmt::format("`{}` waits directly after `{}`: nothing runs beside the body", e_.path(command),
                         e_.path(before)),
             "do other work between the two, or leave both out");
      if (std::holds_alternative<While>(payload) && mode == Mode::Eager)
        warn("STV1046", command,
             fmt::format("in eager mode the host reads the predicate of `{}` in each iteration and waits for all that "
                         "the stream holds",
                         e_.path(command)),
             "use --mode captured: the loop then runs on the device alone");
      before = command;
      for (const CommandRegionId nested : e_[command].regions) region(nested, mode);
    }
  }

  CommandId first_async_{};
  std::size_t asyncs_ = 0;
};

class LineLints : public Lints {
 public:
  LineLints(const RankClass& rank_class, const Line& line, const Clocks& clocks, Findings& findings)
      : Lints(rank_class, findings), line_(line), clocks_(clocks), by_stream_(line.streams) {
    for (std::uint32_t i = 0; i < line.nodes.size(); ++i)
      by_stream_[line.nodes[NodeIndex{i}].stream.value].push_back(NodeIndex{i});
  }

  void run() {
    for (std::uint32_t i = 0; i < line_.nodes.size(); ++i) {
      held_up_by_collective(NodeIndex{i});
      copy_beside_memory_bound(NodeIndex{i});
    }
    for (const Awaited& awaited : line_.awaited) implied(awaited);
  }

 private:
  const Payload& payload(NodeIndex node) const { return e_[line_.nodes[node].command].payload; }

  bool is_compute(NodeIndex node) const { return info_of(kind_of_payload(payload(node))).family == OpFamily::Compute; }

  std::set<BufferId> buffers(NodeIndex node, bool written_only) const {
    std::set<BufferId> out;
    for_each_access(e_, line_, node, [&](const Access& access) {
      if (access.write || !written_only) out.insert(e_[access.view].buffer);
    });
    return out;
  }

  bool share(NodeIndex a, NodeIndex b) const {
    const auto meets = [](const std::set<BufferId>& x, const std::set<BufferId>& y) {
      return std::any_of(x.begin(), x.end(), [&](BufferId id) { return y.count(id) > 0; });
    };
    return meets(buffers(a, true), buffers(b, false)) || meets(buffers(a, false), buffers(b, true));
  }

  void held_up_by_collective(NodeIndex node) {
    const LineNode& collective = line_.nodes[node];
    if (collective.kind != LineNode::Kind::Collective || collective.stream.value != 0) return;
    const std::vector<NodeIndex>& stream = by_stream_[0];
    if (collective.position + 1 >= stream.size()) return;
    const NodeIndex next = stream[collective.position + 1];
    if (!is_compute(next) || share(node, next)) return;
    const CommandId command = line_.nodes[next].command;
    Finding* finding = warn("STV1041", collective.command,
                            fmt::format("`{}` runs on the main stream and holds up `{}`, which does not need it",
                                        e_.path(collective.command), e_.path(command)),
                            "put it into `async_start (stream = communication 0) { }` and await it where its result "
                            "is used");
    if (finding != nullptr) finding->problem.notes.push_back({"this could run beside it", e_.place(e_[command])});
  }

  void implied(const Awaited& awaited) {
    if (awaited.ends.empty()) return;
    for (const Id<AwaitedTag> ref : awaited.ends)
      if (!is_known(line_.awaited_nodes[ref], awaited.known)) return;
    warn("STV1043", awaited.done,
         fmt::format("`{}` waits for what the stream is behind already", e_.path(awaited.done)),
         "the token must be awaited once, but no order depends on this place");
  }

  bool is_known(NodeIndex end, IdRange<AwaitedTag> known) const {
    for (const Id<AwaitedTag> ref : known)
      if (const NodeIndex n = line_.awaited_nodes[ref]; n == end || clocks_.ordered(end, n)) return true;
    return false;
  }

  // Compute that may run at the time of a node.
  std::vector<NodeIndex> compute_beside(NodeIndex node) const {
    std::vector<NodeIndex> out;
    for (std::uint32_t s = 0; s < line_.streams; ++s) {
      if (StreamId{s} == line_.nodes[node].stream) continue;
      const std::vector<NodeIndex>& stream = by_stream_[s];
      const std::uint32_t first = clocks_.at(node, StreamId{s});
      for (std::uint32_t i = first; i < stream.size() && i < first + max_beside; ++i) {
        if (clocks_.ordered(node, stream[i])) break;
        if (is_compute(stream[i])) out.push_back(stream[i]);
      }
    }
    return out;
  }

  bool is_memory_bound(NodeIndex node) const {
    return std::holds_alternative<Map>(payload(node)) || std::holds_alternative<Reduce>(payload(node));
  }

  void copy_beside_memory_bound(NodeIndex node) {
    const LineNode& n = line_.nodes[node];
    if (n.kind != LineNode::Kind::Work || !std::holds_alternative<Copy>(e_[n.command].payload)) return;
    const View& from = e_[e_[n.command].operands[0]];
    const View& to = e_[e_[n.command].results[0]];
    const auto on_host = [&](const View& view) { return e_.buffers[view.buffer].space == Space::Host; };
    if (on_host(from) || on_host(to) || from.bytes < large_copy_bytes) return;
    const std::vector<NodeIndex> beside = compute_beside(node);
    if (beside.empty() || !std::all_of(beside.begin(), beside.end(), [&](NodeIndex b) { return is_memory_bound(b); }))
      return;
    const CommandId command = line_.nodes[beside[0]].command;
    Finding* finding =
        warn("STV1045", n.command,
             fmt::format("`{}` should hide behind `{}`, but both are bound by memory bandwidth: they share it",
                         e_.path(n.command), e_.path(command)),
             "hide it behind a gemm, or fuse it into the map");
    if (finding != nullptr) finding->problem.notes.push_back({"the work beside it", e_.place(e_[command])});
  }

  const Line& line_;
  const Clocks& clocks_;
  std::vector<std::vector<NodeIndex>> by_stream_;
};

}  // namespace

void lint_text(const RankClass& rank_class, Mode mode, Findings& findings) {
  TextLints(rank_class, findings).run(mode);
}

void lint_line(const RankClass& rank_class, const Line& line, const Clocks& clocks, Findings& findings) {
  LineLints(rank_class, line, clocks, findings).run();
}

}  // namespace stave::check
