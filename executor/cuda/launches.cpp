#include "executor/cuda/launches.h"

#include <algorithm>
#include <map>

#include "core/lower/collective_contract.h"
#include "core/lower/lowering.h"
#include "executor/cuda/compute.h"

namespace stave::cuda {
namespace {

bool is_collective(const Command& command) { return uses_communicator(command); }

// Commands that the program issues, each once, with their streams.
std::vector<bool> launched(const RankClass& c) {
  std::vector<bool> out(c.expanded.commands.size());
  for (const Action& a : c.program.actions)
    if (a.kind == Action::Kind::Launch) out[a.command.value] = true;
  for (const GraphNode& n : c.program.nodes)
    if (n.kind == GraphNode::Kind::Launch) out[n.command.value] = true;
  return out;
}

bool in_memory(bool has_nccl, const Expanded& e, CommandId command) {
  if (!has_nccl) return true;
  const std::vector<CollectivePart> parts = parts_of(e, command);
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const CollectivePart& part) {
    return part.attributes->algorithm == Algorithm::CopyEngine;
  });
}

// Collectives of a communicator are in order across streams (docs/ir.md rule 13): NCCL sees to it
// itself, and the edges of a graph do.
Result<void> order_communicators(RankState& r, bool eager_mailboxes) {
  const Expanded& e = r.rank_class->expanded;
  r.communicator_slot.assign(e.commands.size(), -1);
  if (!eager_mailboxes) return {};
  std::map<std::int32_t, std::int32_t> slots;
  for (std::size_t i = 0; i < e.commands.size(); ++i) {
    if (!is_collective(e.commands.raw()[i])) continue;
    const auto [at, added] =
        slots.try_emplace(communicator_of(e, CommandId{i}), static_cast<std::int32_t>(slots.size()));
    if (added) {
      cudaEvent_t event = nullptr;
      CUDA_TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      r.communicators.push_back(event);
    }
    r.communicator_slot[i] = at->second;
  }
  return {};
}

// The first run of a library's kernel loads it, which must not happen behind a kernel that spins.
Result<void> warm_up(RankState& r) {
  const Expanded& e = r.rank_class->expanded;
  for (std::size_t i = 0; i < r.launches.size(); ++i)
    for (const Work& work : r.launches[i].works) {
      if (!std::holds_alternative<GemmWork>(work) && !std::holds_alternative<PotrfWork>(work)) continue;
      const CommandId id{i};
      if (const Status s = issue(work, r.streams[0]); !s.ok()) return failure_of(s, e.path(id), r.rank, e.place(e[id]));
    }
  CUDA_TRY(cudaStreamSynchronize(r.streams[0]));
  return {};
}

constexpr std::string_view mark_kernels = R"cuda(
struct CommandMarks { unsigned begun, ended; unsigned long long ended_at; };
extern "C" __global__ void mark_begin(CommandMarks* m) { ++*(volatile unsigned*)&m->begun; }
extern "C" __global__ void mark_end(CommandMarks* m) {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  *(volatile unsigned long long*)&m->ended_at = now;
  ++*(volatile unsigned*)&m->ended;
}
)cuda";

Result<void> add_mark(Prepared& p, RankState& r, CommandId command, std::string_view kernel, Launch& launch) {
  if (r.marks == nullptr) {
    TRY(void* const marks, r.own.pinned(r.launches.size() * sizeof(CommandMarks)));
    r.marks = static_cast<CommandMarks*>(marks);
  }
  KernelWork work;
  TRY(work.kernel, p.compiler->cuda(mark_kernels, kernel));
  work.add(r.marks + command.value);
  work.seal();
  launch.works.emplace_back(std::move(work));
  return {};
}

// NCCL does not tell what it waits for: an event behind each command does, in a graph two kernels around it.
Result<void> add_nccl(Prepared& p, RankState& r, CommandId command, Launch& launch) {
  const bool eager = p.plan->mode == Mode::Eager;
  const bool marked = !eager && p.options.name_hangs;
  if (marked) TRY_VOID(add_mark(p, r, command, "mark_begin", launch));
  TRY_VOID(p.nccl->add(r.rank, command, launch));
  if (marked) TRY_VOID(add_mark(p, r, command, "mark_end", launch));
  if (eager) CUDA_TRY(cudaEventCreateWithFlags(&r.ends[command.value], cudaEventDisableTiming));
  return {};
}

}  // namespace

Collectives collectives_of(const Plan& plan, bool has_nccl) {
  Collectives out;
  std::vector<std::vector<bool>> launches;
  for (const RankClass& c : plan.classes) launches.push_back(launched(c));
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    const std::vector<bool>& wanted = launches[plan.class_of_rank[rank]];
    const Expanded& e = plan.of_rank(rank).expanded;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i] && is_collective(e[CommandId{i}]))
        (in_memory(has_nccl, e, CommandId{i}) ? out.in_memory : out.by_nccl).push_back({rank, CommandId{i}});
  }
  return out;
}

Result<void> make_launches(Prepared& p, RankState& r, const Gpu& gpu) {
  const Expanded& e = r.rank_class->expanded;
  CUDA_TRY(cudaSetDevice(r.device));
  if (p.cuda.flush_l2) {
    r.flush_bytes = static_cast<std::size_t>(gpu.l2_bytes) * 2;
    TRY(r.flush, r.own.device(r.flush_bytes));
  }
  const StreamsOf streams = streams_of(e);
  const std::vector<bool> wanted = launched(*r.rank_class);
  const Mailboxes::Address address = p.address();
  const auto words = [&p](Rank rank) { return p.memory[rank]->words(p.expanded(rank)); };
  const std::function<std::byte*(Rank)> words_at = words;
  const ComputeContext context{e,        r.rank,      *r.memory, r.own, *p.compiler, r.libraries, gpu.multiprocessors,
                               r.device, r.workspaces};
  r.launches.resize(e.commands.size());
  r.ends.resize(e.commands.size());
  r.issued.resize(e.commands.size());
  r.end_recorded.resize(e.commands.size());
  bool meets = false;
  for (std::size_t i = 0; i < e.commands.size(); ++i) {
    if (!wanted[i]) continue;
    const CommandId id{i};
    const StreamId stream = streams.of_command[i];
    Launch& launch = r.launches[i];
    if (!is_collective(e[id])) {
      TRY_VOID(add_compute(context, id, stream, launch));
    } else if (in_memory(p.nccl != nullptr, e, id)) {
      meets = true;
      TRY_VOID(p.mailboxes->add(
          {*p.compiler, r.own, p.board, address, words_at, r.notes + stream.value, p.one_device,
           p.cuda.world == nullptr || p.one_device, p.plan->mode == Mode::Captured && p.nccl != nullptr},
          r.rank, id, launch));
    } else {
      TRY_VOID(add_nccl(p, r, id, launch));
    }
  }
  TRY_VOID(order_communicators(r, meets && p.plan->mode == Mode::Eager));
  TRY_VOID(warm_up(r));
  return r.memory->forget(e);
}

}  // namespace stave::cuda
