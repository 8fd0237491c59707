#include "executor/cuda/prepared.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>

#include "core/ir/interpret/operand.h"
#include "core/lower/collective_contract.h"
#include "core/lower/lowering.h"
#include "executor/cuda/launches.h"
#include "executor/gpu_protocol.h"

namespace stave::cuda {
namespace {

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

Result<void> build_graph_of(const Prepared& p, RankState& rank) {
  CUDA_TRY(cudaSetDevice(rank.device));
  return build_graph({rank, *p.compiler, p.cuda.recorder, p.board, p.options.max_iterations});
}

// Each device in a thread of its own: should a communicator have something left to connect in its first collective,
// each rank waits there for the others.
Result<void> build_graphs(Prepared& p) {
  std::map<int, Result<void>> built;  // by device
  for (const std::unique_ptr<RankState>& r : p.ranks) built.try_emplace(r->device);
  std::vector<std::thread> threads;
  for (auto& [device, result] : built)
    threads.emplace_back([&p, device = device, &result = result] {
      for (std::size_t i = 0; i < p.ranks.size() && result; ++i)
        if (p.ranks[i]->device == device) result = build_graph_of(p, *p.ranks[i]);
      // The others may wait for this one.
      if (!result && p.nccl) p.nccl->abort();
    });
  for (std::thread& thread : threads) thread.join();
  for (auto& [device, result] : built) TRY_VOID(std::move(result));
  return {};
}

// Whether all processes got as far: the own failure, or that of another. All of them call it.
Result<void> agree(World* world, std::string_view what, Result<void> own) {
  if (world == nullptr) return own;
  Result<std::vector<std::string>> got = world->all_gather(what, encode(own ? Problems() : own.problems()),
                                                           std::chrono::steady_clock::now() + world_patience);
  if (!own) return own;
  TRY(const std::vector<std::string> all, std::move(got));
  for (const std::string& one : all) {
    TRY(Problems problems, decode_problems(one));
    if (!problems.empty()) return Failure(std::move(problems));
  }
  return {};
}

void name_ranges(RankState& r) {
  const Expanded& e = r.rank_class->expanded;
  r.range_names.resize(e.commands.size());
  for (std::size_t i = 0; i < r.range_names.size(); ++i)
    if (std::holds_alternative<RangeMark>(e.commands.raw()[i].payload)) r.range_names[i] = e.path(CommandId{i});
}

// Streams, events and buffers of each rank of this process.
Result<void> make_ranks(Prepared& p) {
  const Plan& plan = *p.plan;
  TRY(void* const board, p.shared.pinned(sizeof(BoardHead)));
  p.board = static_cast<BoardHead*>(board);
  p.memory.resize(plan.ranks());
  for (Rank rank = 0; rank < plan.ranks(); ++rank) {
    if (!p.local(rank)) continue;
    auto r = std::make_unique<RankState>();
    r->rank = rank;
    r->device = p.devices[rank];
    r->rank_class = &plan.of_rank(rank);
    const Expanded& e = r->rank_class->expanded;
    if (r->rank_class->program.hosts.size() != 1)
      return error_at({}, "STV0560", "rank {} has {} host lanes; the cuda driver runs one", rank,
                      r->rank_class->program.hosts.size());
    CUDA_TRY(cudaSetDevice(r->device));
    TRY(RankMemory memory, RankMemory::create(e, rank, p.mailboxes->words_of(rank)));
    p.memory[rank] = std::make_unique<RankMemory>(std::move(memory));
    r->memory = p.memory[rank].get();
    TRY_VOID(make_streams(*r));
    TRY_VOID(make_predicates(*r));
    name_ranges(*r);
    r->executed.resize(e.commands.size());
    r->iterations.resize(e.commands.size());
    p.ranks.push_back(std::move(r));
  }
  return {};
}

Failure cannot_share(const Prepared& p, Rank rank) {
  return error_at({.file = p.expanded(rank).module->file}, "STV0566",
                  "the device memory of process {} cannot be opened, which `algorithm = copy_engine` needs: the "
                  "processes must be on one machine, and each must see the others' GPUs",
                  rank);
}

// Opens the device memory of the ranks of other processes.
Result<void> open_memory(Prepared& p) {
  World& world = *p.cuda.world;
  std::string own;
  // Without a handle the others say so; a failure here would leave them alone in this call.
  for (const std::unique_ptr<RankState>& r : p.ranks)
    if (const Result<cudaIpcMemHandle_t> handle = r->memory->handle())
      own.assign(reinterpret_cast<const char*>(&*handle), sizeof(*handle));
  TRY(const std::vector<std::string> all,
      world.all_gather("device memory", own, std::chrono::steady_clock::now() + world_patience));
  for (Rank rank = 0; rank < p.plan->ranks(); ++rank) {
    if (p.local(rank) || p.ranks.empty()) continue;
    cudaIpcMemHandle_t handle{};
    if (all[rank].size() != sizeof(handle)) return cannot_share(p, rank);
    std::memcpy(&handle, all[rank].data(), sizeof(handle));
    CUDA_TRY(cudaSetDevice(p.ranks[0]->device));
    Result<RankMemory> memory = RankMemory::open(p.expanded(rank), handle);
    if (!memory) return cannot_share(p, rank);
    p.memory[rank] = std::make_unique<RankMemory>(*std::move(memory));
  }
  return {};
}

Result<void> connect(Prepared& p, const Collectives& collectives) {
  std::set<int> used;
  for (const std::unique_ptr<RankState>& r : p.ranks) used.insert(r->device);
  if (p.opens) TRY_VOID(agree(p.cuda.world, "device memory opened", open_memory(p)));
  if (!collectives.in_memory.empty() && used.size() > 1)
    TRY_VOID(connect_peers({used.begin(), used.end()}, p.expanded(0)));
  if (p.nccl)
    TRY_VOID(p.nccl->connect(collectives.by_nccl, p.cuda.world, std::chrono::steady_clock::now() + world_patience));
  return {};
}

Result<void> make_work(Prepared& p, const std::vector<Gpu>& all) {
  for (const std::unique_ptr<RankState>& r : p.ranks)
    TRY_VOID(make_launches(p, *r, all[static_cast<std::size_t>(r->device)]));
  return p.plan->mode == Mode::Eager ? Result<void>() : build_graphs(p);
}

}  // namespace

Prepared::~Prepared() {
  // Before the communicators, which NCCL keeps for as long as a graph holds them.
  for (const std::unique_ptr<RankState>& r : ranks) r->drop_graph();
  if (!opens) return;
  // What others have opened may be freed only when they have closed it.
  for (Rank rank = 0; rank < memory.size(); ++rank)
    if (!local(rank)) memory[rank].reset();
  if (ready)
    static_cast<void>(
        cuda.world->all_gather("closed", "", std::chrono::steady_clock::now() + std::chrono::seconds(10)));
}

Mailboxes::Address Prepared::address() const {
  return [this](Rank rank, ViewId view) -> void* { return memory[rank]->view(expanded(rank), view, rank); };
}

Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const PrepareOptions& options, const CudaOptions& cuda) {
  TRY(const std::vector<Gpu> all, gpus());
  auto p = std::make_unique<Prepared>();
  p->plan = &plan;
  p->options = options;
  p->cuda = cuda;
  TRY(p->devices, local_devices(plan.ranks(), all.size(), cuda));
  // No context on a GPU that this process has no rank on.
  const int first = cuda.world ? static_cast<int>(cuda.world->local_rank() % all.size()) : 0;
  CUDA_TRY(cudaSetDevice(first));
  p->compiler = std::make_unique<Compiler>(all[static_cast<std::size_t>(first)].capability);
  const std::set<int> used(p->devices.begin(), p->devices.end());
  p->one_device = plan.ranks() <= 1 || (cuda.world == nullptr && used.size() <= 1);
  const bool shares = cuda.world == nullptr && plan.ranks() > used.size();
  if (!shares && plan.ranks() > 1) p->nccl = std::make_unique<NcclCollectives>(plan, p->devices, p->address());
  const Collectives collectives = collectives_of(plan, p->nccl != nullptr);
  p->mailboxes = std::make_unique<Mailboxes>(plan, collectives.in_memory);
  p->opens = !collectives.in_memory.empty() && cuda.world && plan.ranks() > 1;
  TRY_VOID(agree(cuda.world, "memory", make_ranks(*p)));
  Result<void> made = connect(*p, collectives);
  if (made) made = make_work(*p, all);
  made = agree(cuda.world, "prepared", std::move(made));
  p->ready = made.has_value();
  // A communicator whose other ranks are gone is not taken down in order.
  if (!made && p->nccl) p->nccl->abort();
  if (!made) return Failure(std::move(made).problems());
  return p;
}

}  // namespace stave::cuda
