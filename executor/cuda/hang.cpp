// What stands still when a step does not end: from the notes of the kernels that
// wait, and from what each host thread issued last.
#include <algorithm>

#include "core/lower/cliques.h"
#include "executor/cuda/prepared.h"

namespace stave::cuda {
namespace {

std::string reason_of(const Prepared& p, Rank rank, const WaitNote& note) {
  const Expanded& e = p.expanded(rank);
  const CommandId command{std::size_t{note.command}};
  if (note.leaving) return fmt::format("rank {} has not finished its part", note.peer);
  const Payload& payload = e[command].payload;
  if (std::holds_alternative<Send>(payload))
    return fmt::format("rank {} has no recv from rank {} yet", note.peer, rank);
  if (std::holds_alternative<Recv>(payload)) return fmt::format("rank {} has no send to rank {} yet", note.peer, rank);
  return fmt::format("rank {} has not started collective {} of communicator {}", note.peer, note.sequence - 1,
                     communicator_of(e, command));
}

}  // namespace

Hang hang_of(const Prepared& p) {
  Hang hang;
  for (const std::unique_ptr<RankState>& r : p.ranks) {
    const Expanded& e = r->rank_class->expanded;
    bool told = false;
    for (std::size_t s = 0; s < r->streams.size(); ++s) {
      const volatile WaitNote& seen = r->notes[s];
      WaitNote note;
      note.waiting = seen.waiting;
      note.command = seen.command;
      note.peer = seen.peer;
      note.leaving = seen.leaving;
      note.sequence = seen.sequence;
      note.last_done = seen.last_done;
      if (!note.waiting) continue;
      const CommandId command{std::size_t{note.command}};
      Blocked b;
      b.rank = r->rank;
      b.stream = r->rank_class->program.streams[s];
      if (note.last_done) b.last_done = e.path(CommandId{std::size_t{note.last_done - 1}});
      b.first_pending = e.path(command);
      b.place = e.place(e[command]);
      b.peer = note.peer;
      b.reason = reason_of(p, r->rank, note);
      hang.blocked.push_back(std::move(b));
      told = true;
    }
    if (told || cudaEventQuery(r->end) == cudaSuccess || !r->last_issued) continue;
    Blocked b;
    b.rank = r->rank;
    b.stream = r->rank_class->program.streams[0];
    b.first_pending = e.path(r->last_issued);
    b.place = e.place(e[r->last_issued]);
    b.reason = "it was issued last and its device is still busy";
    hang.blocked.push_back(std::move(b));
  }
  std::stable_sort(hang.blocked.begin(), hang.blocked.end(),
                   [](const Blocked& a, const Blocked& b) { return a.peer.has_value() > b.peer.has_value(); });
  return hang;
}

}  // namespace stave::cuda
