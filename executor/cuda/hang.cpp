// What stands still when a step does not end: from the notes of the kernels that
// wait, and from what each host thread issued last.
#include <algorithm>
#include <map>
#include <tuple>

#include "core/lower/cliques.h"
#include "core/lower/collective_contract.h"
#include "core/lower/lowering.h"
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

// A command of NCCL that began, or was issued, and has not ended: the first of its stream.
struct Pending {
  CommandId command;
  StreamId stream;
  std::optional<CommandId> last_done;  // on the stream, of NCCL
};

std::vector<Pending> pending_of(const RankState& r) {
  struct State {
    bool known = false, ended = false;
    std::uint64_t order = 0;
  };
  const auto state_of = [&](std::size_t c) -> State {
    if (c < r.ends.size() && r.ends[c] != nullptr && r.issued[c] > 0)
      return {true, r.end_recorded[c] && cudaEventQuery(r.ends[c]) != cudaErrorNotReady, r.issued[c]};
    if (r.marks == nullptr) return {};
    const volatile CommandMarks& m = r.marks[c];
    const std::uint32_t begun = m.begun, ended = m.ended;
    const std::uint64_t ended_at = m.ended_at;
    return {begun > 0, begun <= ended, ended_at};
  };
  const StreamsOf streams = streams_of(r.rank_class->expanded);
  std::map<StreamId, std::pair<std::optional<std::size_t>, std::optional<std::size_t>>> found;  // pending, done
  for (std::size_t c = 0; c < r.launches.size(); ++c) {
    const State s = state_of(c);
    if (!s.known) continue;
    auto& [pending, done] = found[streams.of_command[c]];
    if (!s.ended && (!pending || s.order < state_of(*pending).order)) pending = c;
    if (s.ended && (!done || s.order > state_of(*done).order)) done = c;
  }
  std::vector<Pending> out;
  for (const auto& [stream, both] : found)
    if (both.first)
      out.push_back(
          {CommandId{*both.first}, stream, both.second ? std::optional(CommandId{*both.second}) : std::nullopt});
  return out;
}

// The first peer that is in no command of the same communicator; of those of other processes nothing is known here.
Blocked blocked_in(const Prepared& p, const RankState& r, const Pending& pending) {
  const Expanded& e = r.rank_class->expanded;
  Blocked b;
  b.rank = r.rank;
  b.stream = r.rank_class->program.streams[pending.stream.value];
  b.first_pending = e.path(pending.command);
  b.place = e.place(e[pending.command]);
  if (pending.last_done) b.last_done = e.path(*pending.last_done);
  const std::int32_t communicator = communicator_of(e, pending.command);
  const std::vector<Rank> peers = p.nccl->peers_of(r.rank, pending.command);
  for (const Rank peer : peers) {
    const auto at = std::find_if(p.ranks.begin(), p.ranks.end(), [&](const auto& x) { return x->rank == peer; });
    if (at == p.ranks.end()) {
      b.peer = peer;
      b.reason = fmt::format("rank {}, of another process, has not finished its part", peer);
      return b;
    }
    const Expanded& theirs = (*at)->rank_class->expanded;
    const std::vector<Pending> in = pending_of(**at);
    if (std::any_of(in.begin(), in.end(),
                    [&](const Pending& x) { return communicator_of(theirs, x.command) == communicator; }))
      continue;
    b.peer = peer;
    b.reason = fmt::format("rank {} has not started its part", peer);
    for (const Pending& x : in) b.reason += fmt::format(", it is in `{}`", theirs.path(x.command));
    return b;
  }
  if (!peers.empty()) b.peer = peers[0];
  b.reason = "its peers are in a collective of the same communicator: do they agree on sizes and order?";
  return b;
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
    for (const Pending& pending : pending_of(*r)) {
      hang.blocked.push_back(blocked_in(p, *r, pending));
      told = true;
    }
    if (told || r->done) continue;
    Blocked b;
    b.rank = r->rank;
    b.stream = r->rank_class->program.streams[0];
    if (r->last_issued) {
      b.first_pending = e.path(r->last_issued);
      b.place = e.place(e[r->last_issued]);
      b.reason = "it was issued last and its device is still busy";
    } else {
      b.first_pending = "the graph";
      b.reason = "it does not end; --progress command, or --mode eager, names the command";
    }
    hang.blocked.push_back(std::move(b));
  }
  sort_blocked(hang);
  return hang;
}

void sort_blocked(Hang& hang) {
  std::stable_sort(hang.blocked.begin(), hang.blocked.end(), [](const Blocked& a, const Blocked& b) {
    return std::tuple(!a.peer.has_value(), a.rank) < std::tuple(!b.peer.has_value(), b.rank);
  });
}

std::optional<Failure> fault_of(const Prepared& p) {
  const volatile DeviceFault& fault = p.board->fault;
  const std::uint32_t kind = fault.kind;
  if (kind == DeviceFault::None) return std::nullopt;
  const Rank rank = fault.rank;
  const bool known = rank < p.plan->ranks() && fault.command < p.expanded(rank).commands.size() &&
                     (kind == DeviceFault::Endless ||
                      (fault.peer < p.plan->ranks() && fault.peer_command < p.expanded(fault.peer).commands.size()));
  if (!known) return error_at({}, "STV0820", "a kernel wrote where the driver keeps its faults");
  const Expanded& e = p.expanded(rank);
  const CommandId command{std::size_t{fault.command}};
  if (kind == DeviceFault::Endless)
    return error_at(
        e.place(e[command]), "STV0812",
        "`{}` on rank {} goes on after {} iterations, which is the limit; does its condition ever become false?",
        e.path(command), rank, p.options.max_iterations);
  const Rank peer = fault.peer;
  const Expanded& f = p.expanded(peer);
  const CommandId other{std::size_t{fault.peer_command}};
  const auto said = [](const Expanded& of, CommandId id) {
    const std::size_t members = of.group_of(*attributes_of(of[id]), of.ranks[0]).members.size();
    return collective_contract(of, of[id], members);
  };
  Failure failure = error_at(e.place(e[command]), "STV0810",
                             "ranks meet in different collectives: rank {} runs `{}` ({}), rank {} runs `{}` ({})",
                             rank, e.path(command), said(e, command), peer, f.path(other), said(f, other));
  failure.problems[0].notes.push_back({fmt::format("rank {}'s part", peer), f.place(f[other])});
  return failure;
}

}  // namespace stave::cuda
