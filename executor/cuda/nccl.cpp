#include "executor/cuda/nccl.h"

#include <algorithm>
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
  for (auto& [key, all] : communicators_)
    for (const ncclComm_t c : all)
      if (c) ncclCommDestroy(c);
}

void NcclCollectives::abort() {
  const std::lock_guard lock(aborting_);
  for (auto& [key, all] : communicators_)
    for (ncclComm_t& c : all)
      if (c) ncclCommAbort(std::exchange(c, nullptr));
}

Result<ncclComm_t> NcclCollectives::communicator(const Key& key, std::uint32_t position, const Place& place) {
  const auto [at, added] = communicators_.try_emplace(key);
  std::vector<ncclComm_t>& all = at->second;
  if (!added) return all[position];
  const std::vector<Rank>& members = cliques_.members(std::get<0>(key));
  all.resize(members.size());
  ncclUniqueId id;
  if (const ncclResult_t r = ncclGetUniqueId(&id); r != ncclSuccess) return nccl_failure(r, "ncclGetUniqueId", place);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  if (std::get<2>(key) > 0) config.maxCTAs = std::get<2>(key);
  int before = 0;
  cudaGetDevice(&before);
  ncclGroupStart();
  for (std::size_t i = 0; i < members.size(); ++i) {
    cudaSetDevice(devices_[members[i]]);
    ncclCommInitRankConfig(&all[i], static_cast<int>(members.size()), id, static_cast<int>(i), &config);
  }
  const ncclResult_t r = ncclGroupEnd();
  cudaSetDevice(before);
  if (r != ncclSuccess) return nccl_failure(r, "ncclCommInitRankConfig", place);
  return all[position];
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
  TRY(const ncclComm_t communicator,
      this->communicator({seat.clique, number, part.attributes->max_ctas}, seat.position, e.place(c)));
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
