// What the streams and graphs of a step that stands still wait for.
#include <algorithm>

#include "core/lower/lowering.h"
#include "executor/reference/step.h"

namespace stave {

Blocked Step::blocked_at(Rank rank, StreamId stream, CommandId command) const {
  const RankState& r = ranks_[rank];
  const Expanded& e = r.rank_class->expanded;
  Blocked b;
  b.rank = rank;
  b.stream = r.rank_class->program.streams[stream.value];
  if (const CommandId last = r.streams[stream.value].last_done) b.last_done = e.path(last);
  if (command) {
    b.first_pending = e.path(command);
    b.place = e.place(e[command]);
    b.iteration = r.executed[command.value];
  }
  return b;
}

void Step::blocked_stream(Rank rank, std::size_t index, std::vector<Blocked>& out) const {
  const RankState& r = ranks_[rank];
  const Expanded& e = r.rank_class->expanded;
  if (r.streams[index].items.empty()) return;
  const Item& item = r.streams[index].items.front();
  if (item.kind == Item::Kind::Graph) return;  // its nodes tell
  Blocked b = blocked_at(rank, StreamId{index}, item.command);
  if (item.kind == Item::Kind::Launch && item.started) {
    const Rendezvous::Missing missing = rendezvous_.missing(item.launch);
    b.peer = missing.rank;
    b.reason = missing.reason;
  } else if (item.kind == Item::Kind::Launch) {
    const std::int32_t number = communicator_of(e, item.command);
    b.reason = fmt::format("communicator {} is held by `{}`, which was issued before", number,
                           e.path(r.communicators.at(number).queue.front().second));
  } else {
    const Command& c = e[item.command];
    b.reason = std::holds_alternative<AsyncDone>(c.payload)
                   ? fmt::format("`{}` has not ended", e.path(e.tokens[c.token].start))
                   : fmt::format("the stream that issued `{}` has not come to it", e.path(item.command));
  }
  out.push_back(std::move(b));
}

Hang Step::hang() const {
  Hang hang;
  for (Rank rank = 0; rank < ranks_.size(); ++rank) {
    const RankState& r = ranks_[rank];
    for (std::size_t i = 0; i < r.streams.size(); ++i) blocked_stream(rank, i, hang.blocked);
    for (const GraphRun& run : r.runs) {
      if (!run.active) continue;
      for (const auto& [number, launch] : run.waiting) {
        const GraphNode& node = node_of(r, run, number);
        Blocked b = blocked_at(rank, node.stream, node.command);
        const Rendezvous::Missing missing = rendezvous_.missing(launch);
        b.peer = missing.rank;
        b.reason = missing.reason;
        hang.blocked.push_back(std::move(b));
      }
    }
    for (const Host& host : r.hosts) {
      if (host.started || host.at == host.end) continue;
      Blocked b = blocked_at(rank, StreamId{0}, {});
      b.reason = "a host lane was never handed off to";
      hang.blocked.push_back(std::move(b));
    }
  }
  std::stable_sort(hang.blocked.begin(), hang.blocked.end(),
                   [](const Blocked& a, const Blocked& b) { return a.peer.has_value() > b.peer.has_value(); });
  return hang;
}

}  // namespace stave
