#include "executor/cuda/nccl.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace stave::cuda {
namespace {

std::optional<ncclDataType_t> type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::S8: return ncclInt8;
    case Dtype::U8: return ncclUint8;
    case Dtype::S32: return ncclInt32;
    case Dtype::U32: return ncclUint32;
    case Dtype::S64: return ncclInt64;
    case Dtype::U64: return ncclUint64;
    case Dtype::F8E4M3: return ncclFloat8e4m3;
    case Dtype::F8E5M2: return ncclFloat8e5m2;
    case Dtype::F16: return ncclFloat16;
    case Dtype::BF16: return ncclBfloat16;
    case Dtype::F32: return ncclFloat32;
    case Dtype::F64: return ncclFloat64;
    default: return std::nullopt;
  }
}

ncclRedOp_t operation_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::Sum: return ncclSum;
    case Reduction::Prod: return ncclProd;
    case Reduction::Min: return ncclMin;
    case Reduction::Max: return ncclMax;
  }
  return ncclSum;
}

Failure nccl_failure(ncclResult_t result, std::string_view call, const Place& place) {
  return error_at(place, "STV0824", "{} failed: {}", call, ncclGetErrorString(result));
}

}  // namespace

NcclCollectives::~NcclCollectives() {
  // After a hang NCCL may wait for good: then it keeps what it has.
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (*aborting_now_ > 0 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const bool stuck = *aborting_now_ > 0;
  for (std::thread& thread : aborts_) stuck ? thread.detach() : thread.join();
  if (stuck) return;
  for (auto& [key, all] : communicators_)
    for (const ncclComm_t c : all)
      if (c) ncclCommDestroy(c);
}

void NcclCollectives::abort() {
  const std::lock_guard lock(aborting_);
  for (auto& [key, all] : communicators_)
    for (ncclComm_t& c : all)
      if (c) {
        ++*aborting_now_;
        aborts_.emplace_back([own = std::exchange(c, nullptr), now = aborting_now_] {
          ncclCommAbort(own);
          --*now;
        });
      }
}

std::vector<Rank> NcclCollectives::peers_of(Rank rank, CommandId command) const {
  const Expanded& e = plan_.of_rank(rank).expanded;
  std::vector<Rank> peers;
  for (const CollectivePart& part : parts_of(e, command)) {
    const Cliques::Seat seat = cliques_.seat_of(rank, *part.attributes);
    if (!seat.clique) continue;
    const Payload& payload = e[part.command].payload;
    if (const auto* send = std::get_if<Send>(&payload)) peers.push_back(cliques_.peer(rank, seat.clique, send->peer));
    if (const auto* recv = std::get_if<Recv>(&payload)) peers.push_back(cliques_.peer(rank, seat.clique, recv->peer));
    if (std::holds_alternative<Send>(payload) || std::holds_alternative<Recv>(payload)) continue;
    for (const Rank member : cliques_.members(seat.clique))
      if (member != rank) peers.push_back(member);
  }
  return peers;
}

Result<void> NcclCollectives::initialize(const Key& key, const ncclUniqueId& id, std::vector<ncclComm_t>& all) {
  const std::vector<Rank>& members = cliques_.members(std::get<0>(key));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  if (std::get<2>(key) > 0) config.maxCTAs = std::get<2>(key);
  ncclGroupStart();
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (devices_[members[i]] < 0) continue;
    cudaSetDevice(devices_[members[i]]);
    ncclCommInitRankConfig(&all[i], static_cast<int>(members.size()), id, static_cast<int>(i), &config);
  }
  const ncclResult_t r = ncclGroupEnd();
  return r == ncclSuccess ? Result<void>() : nccl_failure(r, "ncclCommInitRankConfig", {});
}

void NcclCollectives::add_pairs(Rank rank, const CollectivePart& part, const Cliques::Seat& seat, Pairs& pairs) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const std::vector<Rank>& members = cliques_.members(seat.clique);
  const auto n = static_cast<std::uint32_t>(members.size());
  const auto position = [&](CoordInt peer) {
    const Rank at = cliques_.peer(rank, seat.clique, peer);
    return static_cast<std::uint32_t>(std::find(members.begin(), members.end(), at) - members.begin());
  };
  const Payload& payload = e[part.command].payload;
  if (const auto* send = std::get_if<Send>(&payload)) pairs.emplace(seat.position, position(send->peer));
  if (const auto* recv = std::get_if<Recv>(&payload)) pairs.emplace(position(recv->peer), seat.position);
  if (const auto* permute = std::get_if<CollectivePermute>(&payload))
    for (const auto& [from, to] : e.pairs_of(*permute, n)) pairs.emplace(from, to);
  if (std::holds_alternative<AllToAll>(payload))
    for (std::uint32_t q = 0; q < n; ++q) pairs.emplace(seat.position, q);
}

// Sends a byte over each pair, because NCCL connects pairs when they first send.
Result<void> NcclCollectives::connect_pairs(const Key& key, const Pairs& pairs) {
  const std::vector<Rank>& members = cliques_.members(std::get<0>(key));
  const std::vector<ncclComm_t>& all = communicators_.at(key);
  struct Place {
    cudaStream_t stream = nullptr;
    std::byte* bytes = nullptr;  // what is sent, then what is received from each
  };
  std::map<std::uint32_t, Place> here;  // by position
  Result<void> outcome;
  const auto check = [&](ncclResult_t r, std::string_view call) {
    if (r != ncclSuccess && outcome) outcome = nccl_failure(r, call, {});
  };
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    if (devices_[members[i]] < 0) continue;
    CUDA_TRY(cudaSetDevice(devices_[members[i]]));
    Place& place = here[i];
    CUDA_TRY(cudaStreamCreateWithFlags(&place.stream, cudaStreamNonBlocking));
    CUDA_TRY(cudaMalloc(reinterpret_cast<void**>(&place.bytes), members.size() + 1));
  }
  check(ncclGroupStart(), "ncclGroupStart");
  for (const auto& [from, to] : pairs) {
    if (const auto at = here.find(from); at != here.end())
      check(ncclSend(at->second.bytes, 1, ncclUint8, static_cast<int>(to), all[from], at->second.stream), "ncclSend");
    if (const auto at = here.find(to); at != here.end())
      check(ncclRecv(at->second.bytes + 1 + from, 1, ncclUint8, static_cast<int>(from), all[to], at->second.stream),
            "ncclRecv");
  }
  check(ncclGroupEnd(), "ncclGroupEnd");
  for (const auto& [position, place] : here) {
    cudaSetDevice(devices_[members[position]]);
    const cudaError_t ended = outcome ? cudaStreamSynchronize(place.stream) : cudaSuccess;
    if (ended != cudaSuccess) outcome = cuda_failure(ended, "cudaStreamSynchronize");
    cudaFree(place.bytes);
    cudaStreamDestroy(place.stream);
  }
  return outcome;
}

Result<void> NcclCollectives::connect(std::span<const CollectiveUse> uses, World* world, World::Deadline deadline) {
  std::map<Key, Pairs> pairs;
  for (const CollectiveUse& use : uses) {
    const Expanded& e = plan_.of_rank(use.rank).expanded;
    for (const CollectivePart& part : parts_of(e, use.command)) {
      const Cliques::Seat seat = cliques_.seat_of(use.rank, *part.attributes);
      if (!seat.clique) continue;  // add() tells
      std::vector<ncclComm_t>& all =
          communicators_[{seat.clique, communicator_of(e, use.command), part.attributes->max_ctas}];
      all.resize(cliques_.members(seat.clique).size());
      add_pairs(use.rank, part, seat, pairs[{seat.clique, communicator_of(e, use.command), part.attributes->max_ctas}]);
    }
  }
  // The process of a clique's first rank makes its id.
  const auto ours = [&](const Key& key) { return devices_[cliques_.members(std::get<0>(key))[0]] >= 0; };
  std::string own;
  for (const auto& [key, all] : communicators_) {
    if (!ours(key)) continue;
    ncclUniqueId id;
    if (const ncclResult_t r = ncclGetUniqueId(&id); r != ncclSuccess) return nccl_failure(r, "ncclGetUniqueId", {});
    own.append(reinterpret_cast<const char*>(&id), sizeof(id));
  }
  std::vector<std::string> ids{own};
  if (world) {
    TRY(ids, world->all_gather("NCCL ids", own, deadline));
  }
  std::vector<std::size_t> taken(ids.size());
  for (auto& [key, all] : communicators_) {
    // One rank a process: rank and process have the same number.
    const std::size_t process = world ? cliques_.members(std::get<0>(key))[0] : 0;
    ncclUniqueId id;
    if (taken[process] + sizeof(id) > ids[process].size())
      return error_at({}, "STV0829", "the processes of this run have different collectives");
    std::memcpy(&id, ids[process].data() + taken[process], sizeof(id));
    taken[process] += sizeof(id);
    const std::vector<Rank>& members = cliques_.members(std::get<0>(key));
    if (std::none_of(members.begin(), members.end(), [&](Rank m) { return devices_[m] >= 0; })) continue;
    TRY_VOID(initialize(key, id, all));
    TRY_VOID(connect_pairs(key, pairs[key]));
  }
  return {};
}

Result<void> NcclCollectives::add_part(Rank rank, const CollectivePart& part, std::int32_t number, NcclWork& work,
                                       Launch& launch) {
  using Kind = NcclCall::Kind;
  const Expanded& e = plan_.of_rank(rank).expanded;
  const Command& c = e[part.command];
  const Cliques::Seat seat = cliques_.seat_of(rank, *part.attributes);
  if (!seat.clique)
    return error_at(e.place(c), "STV0811", "rank {} runs `{}`, but its groups leave this rank out", rank,
                    e.path(part.command));
  const std::vector<Rank>& members = cliques_.members(seat.clique);
  const auto n = static_cast<std::uint32_t>(members.size());
  const ncclComm_t communicator = communicators_.at({seat.clique, number, part.attributes->max_ctas})[seat.position];
  const auto from = [&](std::size_t i) { return static_cast<std::byte*>(address_(rank, c.operands[i])); };
  const auto to = [&](std::size_t i) { return static_cast<std::byte*>(address_(rank, c.results[i])); };
  const auto bytes = [&](ViewId v) { return static_cast<std::size_t>(e[v].bytes); };
  const auto position_of = [&](Rank peer) {
    return static_cast<int>(std::find(members.begin(), members.end(), peer) - members.begin());
  };
  const auto add = [&](NcclCall call) {
    call.communicator = communicator;
    work.calls.push_back(call);
  };
  return std::visit(
      [&]<class T>(const T& op) -> Result<void> {
        if constexpr (std::is_same_v<T, AllReduce> || std::is_same_v<T, ReduceScatter>) {
          const Dtype dtype = e[c.operands[0]].dtype;
          const std::optional<ncclDataType_t> type = type_of(dtype);
          if (!type)
            return error_at(e.place(c), "STV0564", "`{}`: NCCL does not reduce {}", e.path(part.command),
                            name_of(dtype));
          add({std::is_same_v<T, AllReduce> ? Kind::AllReduce : Kind::ReduceScatter, nullptr, from(0), to(0),
               static_cast<std::size_t>(e.elements(e[c.results[0]])), *type, operation_of(op.reduction), 0});
        } else if constexpr (std::is_same_v<T, AllGather>) {
          add({Kind::AllGather, nullptr, from(0), to(0), bytes(c.operands[0]), ncclUint8, ncclSum, 0});
        } else if constexpr (std::is_same_v<T, Broadcast>) {
          add({Kind::Broadcast, nullptr, from(0), to(0), bytes(c.results[0]), ncclUint8, ncclSum, op.root});
        } else if constexpr (std::is_same_v<T, AllToAll>) {
          const bool split = c.operands.size() == 1;
          const std::size_t size = split ? bytes(c.operands[0]) / n : 0;
          for (std::uint32_t q = 0; q < n; ++q) {
            const auto peer = static_cast<int>(q);
            add({Kind::Send, nullptr, split ? from(0) + q * size : from(q), nullptr,
                 split ? size : bytes(c.operands[q]), ncclUint8, ncclSum, peer});
            add({Kind::Recv, nullptr, nullptr, split ? to(0) + q * size : to(q), split ? size : bytes(c.results[q]),
                 ncclUint8, ncclSum, peer});
          }
        } else if constexpr (std::is_same_v<T, CollectivePermute>) {
          bool receives = false;
          for (const auto& [source, target] : e.pairs_of(op, n)) {
            if (source == seat.position)
              add({Kind::Send, nullptr, from(0), nullptr, bytes(c.operands[0]), ncclUint8, ncclSum,
                   static_cast<int>(target)});
            if (target == seat.position) {
              receives = true;
              add({Kind::Recv, nullptr, nullptr, to(0), bytes(c.results[0]), ncclUint8, ncclSum,
                   static_cast<int>(source)});
            }
          }
          if (!receives) launch.works.emplace_back(FillWork{to(0), 0, bytes(c.results[0])});
        } else if constexpr (std::is_same_v<T, Send>) {
          add({Kind::Send, nullptr, from(0), nullptr, bytes(c.operands[0]), ncclUint8, ncclSum,
               position_of(cliques_.peer(rank, seat.clique, op.peer))});
        } else if constexpr (std::is_same_v<T, Recv>) {
          add({Kind::Recv, nullptr, nullptr, to(0), bytes(c.results[0]), ncclUint8, ncclSum,
               position_of(cliques_.peer(rank, seat.clique, op.peer))});
        }
        return {};
      },
      c.payload);
}

Result<void> NcclCollectives::add(Rank rank, CommandId command, Launch& launch) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  NcclWork work;
  for (const CollectivePart& part : parts_of(e, command))
    TRY_VOID(add_part(rank, part, communicator_of(e, command), work, launch));
  if (!work.calls.empty()) launch.works.emplace_back(std::move(work));
  return {};
}

}  // namespace stave::cuda
