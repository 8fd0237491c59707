#include <algorithm>

#include "core/lower/issue_names.h"
#include "executor/explorer/transitions.h"

namespace stave::explorer {

std::string Transitions::path(Rank rank, CommandId command) const { return expanded(rank).path(command); }

// The stream by name; nodes of a graph run beside one another.
std::string Transitions::where(const Transition& t) const {
  if (t.node) return "graph";
  return to_text(facts(t.rank).rank_class->program.streams[t.lane]);
}

std::string Transitions::text(const Transition& t) const {
  if (t.kind == Transition::Kind::Host || !t.command) return {};
  if (t.kind == Transition::Kind::Pass) {
    const Payload& payload = expanded(t.rank)[t.command].payload;
    if (!std::holds_alternative<AsyncDone>(payload)) return {};
    return fmt::format("rank {}: {} passes {}", t.rank, where(t), path(t.rank, t.command));
  }
  const std::string_view does = t.kind == Transition::Kind::Begin   ? "begins"
                                : t.kind == Transition::Kind::Start ? "starts"
                                                                    : "ends";
  std::string line = fmt::format("rank {}: {} {} {}", t.rank, where(t), does, path(t.rank, t.command));
  if (t.choice) line += fmt::format(", which reads undefined bytes as {}", *t.choice);
  return line;
}

std::string Transitions::text(const Sighting& s) const {
  switch (s.defect) {
    case Defect::Race:
      return fmt::format("rank {}: {} and {} are in flight together and share bytes that one of them writes", s.rank,
                         path(s.rank, s.command), path(s.rank, s.other));
    case Defect::Uninitialised:
      return fmt::format("rank {}: {} reads bytes that nothing has written", s.rank, path(s.rank, s.command));
    case Defect::Mismatch:
      if (s.rank == s.other_rank)
        return fmt::format("rank {} runs {}, but its groups leave this rank out", s.rank, path(s.rank, s.command));
      return fmt::format("rank {}'s {} meets rank {}'s {}", s.rank, path(s.rank, s.command), s.other_rank,
                         path(s.other_rank, s.other));
    case Defect::Deadlock: break;
  }
  return {};
}

std::vector<std::string> Transitions::waiting(const State& state) const {
  std::vector<std::string> lines;
  for (Rank rank = 0; rank < state.ranks.size(); ++rank) {
    const RankState& r = state.ranks[rank];
    for (std::size_t i = 0; i < r.items.size(); ++i) {
      const Item& item = r.items[i];
      const auto same = [&](const Item& other) { return other.stream == item.stream; };
      if (std::any_of(r.items.begin(), r.items.begin() + static_cast<std::ptrdiff_t>(i), same)) continue;
      const Transition t{.rank = rank, .lane = item.stream, .command = item.command};
      if (item.command)
        lines.push_back(fmt::format("rank {}: {} {} {}", rank, where(t), item.begun ? "is in" : "waits at",
                                    path(rank, item.command)));
    }
    for (const GraphRun& run : r.runs)
      for (std::uint32_t n = 0; run.active && n < run.nodes.size(); ++n)
        if (run.nodes[n] == GraphRun::Node::InFlight)
          lines.push_back(
              fmt::format("rank {}: graph is in {}", rank, path(rank, node(*facts(rank).rank_class, run, n).command)));
  }
  return lines;
}

}  // namespace stave::explorer
