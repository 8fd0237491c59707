#include "executor/cuda/prepared.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "core/ir/interpret/operand.h"
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

// True if a graph that is a body of a conditional node holds a collective.
bool collective_in_a_body(const RankClass& c) {
  for (const auto& body : c.program.graph_refs)
    for (const NodeId n : c.program.graphs[body].nodes)
      if (is_collective(c.expanded[c.program.nodes[n].command])) return true;
  return false;
}

Result<void> make_streams(RankState& r) {
  int lowest = 0, highest = 0;
  CUDA_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest));
  const IssueProgram& program = r.rank_class->program;
  for (const StreamRef& ref : program.streams) {
    const int priority = ref.kind == StreamRef::Kind::Communication ? highest : lowest;
    cudaStream_t stream = nullptr;
    CUDA_TRY(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, priority));
    r.streams.push_back(stream);
  }
  const auto event = [](cudaEvent_t& at, unsigned flags) -> Result<void> {
    CUDA_TRY(cudaEventCreateWithFlags(&at, flags));
    return {};
  };
  r.events.resize(program.events);
  r.joins.resize(program.streams.size());
  for (std::vector<cudaEvent_t>* list : {&r.events, &r.joins})
    for (cudaEvent_t& e : *list) TRY_VOID(event(e, cudaEventDisableTiming));
  TRY_VOID(event(r.start, cudaEventDefault));
  TRY_VOID(event(r.end, cudaEventDefault));
  TRY_VOID(event(r.predicate_read, cudaEventDisableTiming));
  TRY(void* const predicate, r.own.pinned(sizeof(std::int32_t)));
  r.predicate = static_cast<std::int32_t*>(predicate);
  TRY(void* const notes, r.own.pinned(program.streams.size() * sizeof(WaitNote)));
  r.notes = static_cast<WaitNote*>(notes);
  return {};
}

Result<void> make_predicates(RankState& r) {
  const Expanded& e = r.rank_class->expanded;
  r.predicates.resize(e.commands.size());
  r.predicate_bytes.resize(e.commands.size());
  for (std::size_t i = 0; i < e.commands.size(); ++i) {
    const Command& c = e.commands.raw()[i];
    if (info_of(kind_of_payload(c.payload)).family != OpFamily::Control) continue;
    r.predicates[i] = r.memory->view(e, c.operands[0], r.rank);
    r.predicate_bytes[i] = static_cast<std::uint32_t>(e[c.operands[0]].bytes);
  }
  return {};
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

bool by_mailbox(const Prepared& p, const Expanded& e, CommandId command) {
  if (!p.nccl) return true;
  const std::vector<CollectivePart> parts = parts_of(e, command);
  return !parts.empty() && std::all_of(parts.begin(), parts.end(), [](const CollectivePart& part) {
    return part.attributes->algorithm == Algorithm::CopyEngine;
  });
}

Result<void> connect_peers(const std::vector<int>& devices, const Expanded& e) {
  for (const int from : devices)
    for (const int to : devices) {
      if (from == to) continue;
      int can = 0;
      CUDA_TRY(cudaDeviceCanAccessPeer(&can, from, to));
      if (!can)
        return error_at({.file = e.module->file}, "STV0566",
                        "device {} cannot read the memory of device {}, which `algorithm = copy_engine` needs", from,
                        to);
      CUDA_TRY(cudaSetDevice(from));
      const cudaError_t error = cudaDeviceEnablePeerAccess(to, 0);
      cudaGetLastError();
      if (error != cudaSuccess && error != cudaErrorPeerAccessAlreadyEnabled)
        return cuda_failure(error, "cudaDeviceEnablePeerAccess");
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

Result<void> build_graph_of(const Prepared& p, RankState& rank) {
  CUDA_TRY(cudaSetDevice(rank.device));
  return build_graph({rank, *p.compiler, p.cuda.recorder, p.board, p.options.max_iterations});
}

// A communicator connects its ranks in its first collective, captured or not, and each rank waits there for the
// others. So each device captures in a thread of its own.
Result<void> build_graphs(Prepared& p) {
  std::vector<Result<void>> built(static_cast<std::size_t>(p.devices.back()) + 1);
  std::vector<std::thread> threads;
  for (std::size_t device = 0; device < built.size(); ++device)
    threads.emplace_back([&p, device, &result = built[device]] {
      for (std::size_t rank = 0; rank < p.ranks.size() && result; ++rank)
        if (p.devices[rank] == static_cast<int>(device)) result = build_graph_of(p, *p.ranks[rank]);
      // The others may wait for this one.
      if (!result && p.nccl) p.nccl->abort();
    });
  for (std::thread& thread : threads) thread.join();
  for (Result<void>& result : built) TRY_VOID(std::move(result));
  return {};
}

}  // namespace

Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const PrepareOptions& options, const CudaOptions& cuda) {
  TRY(const std::vector<Gpu> all, gpus());
  auto p = std::make_unique<Prepared>();
  p->plan = &plan;
  p->options = options;
  p->cuda = cuda;
  TRY(p->devices, devices_of(plan.ranks(), all.size(), cuda.ranks_per_device));
  const int used = plan.ranks() == 0 ? 0 : p->devices.back() + 1;
  const bool shares = plan.ranks() > static_cast<std::size_t>(used);
  const bool collectives = std::any_of(plan.classes.begin(), plan.classes.end(), [](const RankClass& c) {
    return std::any_of(c.expanded.commands.begin(), c.expanded.commands.end(), is_collective);
  });
  const bool loops_with_collectives =
      std::any_of(plan.classes.begin(), plan.classes.end(), [](const RankClass& c) { return collective_in_a_body(c); });
  // NCCL's graphs hold event nodes, which no conditional body takes, unless told before its first call
  // (seen with NCCL 2.28.3: cudaGraphInstantiate refuses; with 0 it runs).
  if (loops_with_collectives && plan.mode != Mode::Eager) ::setenv("NCCL_GRAPH_MIXING_SUPPORT", "0", 1);

  CUDA_TRY(cudaSetDevice(0));
  TRY(void* const board, p->shared.pinned(sizeof(BoardHead)));
  p->board = static_cast<BoardHead*>(board);
  p->compiler = std::make_unique<Compiler>(all[0].capability);
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    auto r = std::make_unique<RankState>();
    r->rank = rank;
    r->device = p->devices[rank];
    r->rank_class = &plan.of_rank(rank);
    if (r->rank_class->program.hosts.size() != 1)
      return error_at({}, "STV0560", "rank {} has {} host lanes; the cuda driver runs one", rank,
                      r->rank_class->program.hosts.size());
    CUDA_TRY(cudaSetDevice(r->device));
    TRY(RankMemory memory, RankMemory::create(r->rank_class->expanded, rank));
    r->memory = std::make_unique<RankMemory>(std::move(memory));
    TRY_VOID(make_streams(*r));
    TRY_VOID(make_predicates(*r));
    r->range_names.resize(r->rank_class->expanded.commands.size());
    for (std::size_t i = 0; i < r->range_names.size(); ++i)
      if (std::holds_alternative<RangeMark>(r->rank_class->expanded.commands.raw()[i].payload))
        r->range_names[i] = r->rank_class->expanded.path(CommandId{i});
    r->executed.resize(r->rank_class->expanded.commands.size());
    r->iterations.resize(r->rank_class->expanded.commands.size());
    p->ranks.push_back(std::move(r));
  }
  const Mailboxes::Address address = [raw = p.get()](Rank rank, ViewId view) -> void* {
    return raw->ranks[rank]->memory->view(raw->expanded(rank), view, rank);
  };
  if (collectives && !shares && plan.ranks() > 1)
    p->nccl = std::make_unique<NcclCollectives>(plan, p->devices, address);
  p->mailboxes = std::make_unique<Mailboxes>(plan, *p->compiler, p->shared, used == 1, address, p->board);

  bool peers = false;
  for (const std::unique_ptr<RankState>& r : p->ranks) {
    const Expanded& e = r->rank_class->expanded;
    CUDA_TRY(cudaSetDevice(r->device));
    const StreamsOf streams = streams_of(e);
    const std::vector<bool> wanted = launched(*r->rank_class);
    r->launches.resize(e.commands.size());
    bool meets = false;
    const ComputeContext context{e,
                                 r->rank,
                                 *r->memory,
                                 r->own,
                                 *p->compiler,
                                 r->libraries,
                                 all[static_cast<std::size_t>(r->device)].multiprocessors,
                                 r->device,
                                 r->workspaces};
    for (std::size_t i = 0; i < e.commands.size(); ++i) {
      if (!wanted[i]) continue;
      const CommandId id{i};
      const StreamId stream = streams.of_command[i];
      Launch& launch = r->launches[i];
      if (!is_collective(e[id])) {
        TRY_VOID(add_compute(context, id, stream, launch));
      } else if (by_mailbox(*p, e, id)) {
        meets = true;
        if (used > 1 && !std::exchange(peers, true)) {
          std::vector<int> devices(static_cast<std::size_t>(used));
          for (int d = 0; d < used; ++d) devices[static_cast<std::size_t>(d)] = d;
          TRY_VOID(connect_peers(devices, e));
          CUDA_TRY(cudaSetDevice(r->device));
        }
        TRY_VOID(p->mailboxes->add(r->rank, id, r->notes + stream.value, r->own, launch));
      } else {
        TRY_VOID(p->nccl->add(r->rank, id, launch));
      }
    }
    TRY_VOID(order_communicators(*r, meets && plan.mode == Mode::Eager));
    TRY_VOID(warm_up(*r));
    TRY_VOID(r->memory->forget(e));
  }
  if (plan.mode != Mode::Eager) TRY_VOID(build_graphs(*p));
  return p;
}

std::optional<Failure> fault_of(const Prepared& p) {
  const volatile DeviceFault& fault = p.board->fault;
  const std::uint32_t kind = fault.kind;
  if (kind == DeviceFault::None) return std::nullopt;
  const Rank rank = fault.rank;
  const bool known = rank < p.ranks.size() && fault.command < p.expanded(rank).commands.size() &&
                     (kind == DeviceFault::Endless ||
                      (fault.peer < p.ranks.size() && fault.peer_command < p.expanded(fault.peer).commands.size()));
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
