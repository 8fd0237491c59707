#include "executor/cuda/mailbox.h"

#include <algorithm>
#include <cstring>
#include <span>

#include "core/ir/interpret/operand.h"
#include "core/lower/collective_contract.h"

namespace stave::cuda {
namespace {

// As in mailbox_source.cpp, without the views that follow.
struct PartHead {
  std::uint64_t* next;
  void* own;
  void* const* rings;
  const std::uint32_t* ranks;
  std::uint64_t contract;
  std::uint32_t members, position, command, rank, view_count, after;
};
static_assert(sizeof(PartHead) == 64);
constexpr std::size_t slot_head_bytes = 32;

struct Segment {
  std::uint32_t member = 0xffffffff;  // none: zeros
  std::uint32_t view = 0;
  std::uint64_t offset = 0;
  void* to = nullptr;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Segment) == 32);

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

KernelWork warp_kernel(cudaKernel_t kernel) {
  KernelWork work;
  work.kernel = kernel;
  work.block = dim3{32};
  return work;
}

std::uint32_t blocks_for(std::uint64_t threads) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((threads + 255) / 256, 1, 264));
}

template <class T>
void put(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof(T));
}

}  // namespace

std::vector<CollectivePart> parts_of(const Expanded& expanded, CommandId command) {
  std::vector<CollectivePart> parts;
  if (const CollectiveAttributes* attributes = attributes_of(expanded[command])) parts.push_back({command, attributes});
  for (const CommandRegionId region : expanded[command].regions)
    for (const CommandId id : expanded.regions[region].commands)
      for (const CollectivePart& part : parts_of(expanded, id)) parts.push_back(part);
  return parts;
}

Mailboxes::Mailboxes(const Plan& plan, Compiler& compiler, Allocations& shared, bool one_device, Address address,
                     BoardHead* board)
    : plan_(plan),
      compiler_(compiler),
      shared_(shared),
      one_device_(one_device),
      address_(std::move(address)),
      board_(board),
      cliques_(plan) {
  for (const RankClass& c : plan.classes)
    for (const Command& command : c.expanded.commands)
      if (attributes_of(command)) views_ = std::max(views_, command.operands.count);
}

Result<Mailboxes::Seat> Mailboxes::seat_of(Rank rank, const CollectivePart& part, std::int32_t communicator) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const Command& command = e[part.command];
  const Cliques::Seat at = cliques_.seat_of(rank, *part.attributes);
  if (!at.clique)
    return error_at(e.place(command), "STV0811", "rank {} runs `{}`, but its groups leave this rank out", rank,
                    e.path(part.command));
  Seat seat{{at.clique, communicator, -1, -1}, at.position, cliques_.members(at.clique)};
  const auto between = [&](CoordInt position, bool sends) {
    const Rank peer = cliques_.peer(rank, at.clique, position);
    seat.members = sends ? std::vector{rank, peer} : std::vector{peer, rank};
    seat.key.from = seat.members[0];
    seat.key.to = seat.members[1];
    seat.position = sends ? 0 : 1;
  };
  if (const auto* send = std::get_if<Send>(&command.payload)) between(send->peer, true);
  if (const auto* recv = std::get_if<Recv>(&command.payload)) between(recv->peer, false);
  return seat;
}

Result<const Mailboxes::Channel*> Mailboxes::channel(const Seat& seat) {
  const auto [at, added] = channels_.try_emplace(seat.key);
  Channel& channel = at->second;
  if (!added) return &channel;
  const std::size_t n = seat.members.size();
  const std::size_t ring_bytes = mailbox_ring * (slot_head_bytes + 8 * views_);
  const auto take = [&](std::size_t bytes) { return one_device_ ? shared_.device(bytes) : shared_.pinned(bytes); };
  channel.ranks = seat.members;
  for (std::size_t i = 0; i < n; ++i) {
    TRY(void* const ring, take(ring_bytes));
    TRY(void* const next, take(sizeof(std::uint64_t)));
    channel.ring_of.push_back(ring);
    channel.next.push_back(static_cast<std::uint64_t*>(next));
  }
  TRY(void* const rings, take(n * sizeof(void*)));
  TRY(void* const ranks, take(n * sizeof(std::uint32_t)));
  channel.rings = static_cast<void**>(rings);
  channel.rank_table = static_cast<std::uint32_t*>(ranks);
  CUDA_TRY(cudaMemcpy(rings, channel.ring_of.data(), n * sizeof(void*), cudaMemcpyDefault));
  CUDA_TRY(cudaMemcpy(ranks, channel.ranks.data(), n * sizeof(std::uint32_t), cudaMemcpyDefault));
  return &channel;
}

Result<void> Mailboxes::pulls(Rank rank, const CollectivePart& part, const Seat& seat, const std::byte* table,
                              Allocations& own, Launch& launch, Launch& afterwards) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const Command& command = e[part.command];
  const auto n = static_cast<std::uint32_t>(seat.members.size());
  const auto bytes_of = [&](ViewId view) { return static_cast<std::uint64_t>(e[view].bytes); };
  const auto to_of = [&](std::size_t i) { return static_cast<std::byte*>(address_(rank, command.results[i])); };
  std::vector<Segment> segments;
  std::optional<Reduction> reduction;
  std::visit(
      [&]<class T>(const T& op) {
        if constexpr (std::is_same_v<T, AllReduce> || std::is_same_v<T, ReduceScatter>) {
          reduction = op.reduction;
        } else if constexpr (std::is_same_v<T, AllGather>) {
          const std::uint64_t size = bytes_of(command.operands[0]);
          for (std::uint32_t q = 0; q < n; ++q) segments.push_back({q, 0, 0, to_of(0) + q * size, size});
        } else if constexpr (std::is_same_v<T, AllToAll>) {
          const bool split = command.operands.size() == 1;
          const std::uint64_t size = split ? bytes_of(command.operands[0]) / n : 0;
          for (std::uint32_t q = 0; q < n; ++q) {
            if (split)
              segments.push_back({q, 0, seat.position * size, to_of(0) + q * size, size});
            else
              segments.push_back({q, seat.position, 0, to_of(q), bytes_of(command.results[q])});
          }
        } else if constexpr (std::is_same_v<T, CollectivePermute>) {
          Segment s{0xffffffff, 0, 0, to_of(0), bytes_of(command.results[0])};
          for (const auto& [from, to] : e.pairs_of(op, n))
            if (to == seat.position) s.member = from;
          segments.push_back(s);
        } else if constexpr (std::is_same_v<T, Broadcast>) {
          segments.push_back({static_cast<std::uint32_t>(op.root), 0, 0, to_of(0), bytes_of(command.results[0])});
        } else if constexpr (std::is_same_v<T, Recv>) {
          segments.push_back({0, 0, 0, to_of(0), bytes_of(command.results[0])});
        }
      },
      command.payload);
  if (reduction) {
    const Dtype dtype = e[command.operands[0]].dtype;
    TRY(const cudaKernel_t kernel, compiler_.cuda(combining_source(views_, dtype, *reduction), "combine_members"));
    const auto count = static_cast<std::uint64_t>(e.elements(e[command.results[0]]));
    const std::uint64_t first = std::holds_alternative<ReduceScatter>(command.payload) ? seat.position * count : 0;
    void* to = to_of(0);
    if (std::holds_alternative<AllReduce>(command.payload) && to == address_(rank, command.operands[0])) {
      // In place: the others read the operand until they leave.
      TRY(to, own.device(bytes_of(command.results[0])));
      afterwards.works.emplace_back(CopyWork{to_of(0), to, bytes_of(command.results[0])});
    }
    KernelWork work = warp_kernel(kernel);
    work.block = dim3{256};
    work.grid = dim3{blocks_for(count)};
    work.add(table);
    work.add(first);
    work.add(count);
    work.add(to);
    work.add(board_);
    work.seal();
    launch.works.emplace_back(std::move(work));
    return {};
  }
  std::erase_if(segments, [](const Segment& s) { return s.bytes == 0; });
  if (segments.empty()) return {};
  const bool one_class = std::all_of(seat.members.begin(), seat.members.end(),
                                     [&](Rank r) { return plan_.class_of_rank[r] == plan_.class_of_rank[rank]; });
  if (part.attributes->algorithm == Algorithm::CopyEngine && one_class) {
    for (const Segment& s : segments) {
      if (s.member == 0xffffffff) {
        launch.works.emplace_back(FillWork{s.to, 0, s.bytes});
        continue;
      }
      const auto* from =
          static_cast<const std::byte*>(address_(seat.members[s.member], command.operands[s.view])) + s.offset;
      if (from != s.to) launch.works.emplace_back(CopyWork{s.to, from, s.bytes});
    }
    return {};
  }
  std::uint64_t longest = 0;
  for (const Segment& s : segments) longest = std::max(longest, s.bytes);
  TRY(Segment* const on_device, own.device_copy(std::span<const Segment>(segments)));
  TRY(const cudaKernel_t kernel, compiler_.cuda(meeting_source(views_), "pull"));
  KernelWork work = warp_kernel(kernel);
  work.block = dim3{256};
  work.grid = dim3{blocks_for(longest / 16), static_cast<std::uint32_t>(segments.size())};
  work.add(table);
  work.add(on_device);
  work.add(board_);
  work.seal();
  launch.works.emplace_back(std::move(work));
  return {};
}

Result<void> Mailboxes::add(Rank rank, CommandId command, WaitNote* note, Allocations& own, Launch& launch) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const std::vector<CollectivePart> parts = parts_of(e, command);
  if (parts.empty()) return {};
  const std::int32_t communicator = communicator_of(e, command);
  const std::size_t stride = sizeof(PartHead) + 8 * views_;
  std::vector<std::byte> tables(parts.size() * stride);
  std::vector<Seat> seats;
  for (const CollectivePart& part : parts) {
    TRY(Seat seat, seat_of(rank, part, communicator));
    seats.push_back(std::move(seat));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Command& c = e[parts[i].command];
    const Seat& seat = seats[i];
    TRY(const Channel* const at, channel(seat));
    std::uint32_t after = 0;
    for (std::size_t j = i + 1; j < parts.size(); ++j)
      after += seats[j].key == seat.key && seats[j].position == seat.position;
    if (after >= mailbox_ring)
      return error_at(e.place(c), "STV0565", "`{}`: more than {} collectives of one clique in one group",
                      e.path(command), mailbox_ring);
    std::string contract = collective_contract(e, c, seat.members.size());
    if (parts[i].attributes->algorithm == Algorithm::CopyEngine) contract += e.path(parts[i].command);
    std::byte* table = tables.data() + i * stride;
    put(table, PartHead{at->next[seat.position], at->ring_of[seat.position], at->rings, at->rank_table,
                        hash_of(contract), static_cast<std::uint32_t>(seat.members.size()), seat.position,
                        parts[i].command.value, rank, c.operands.count, after});
    for (std::size_t v = 0; v < c.operands.size(); ++v)
      put(table + sizeof(PartHead) + 8 * v, address_(rank, c.operands[v]));
  }
  TRY(std::byte* const on_device, own.device_copy(std::span<const std::byte>(tables)));
  TRY(const cudaKernel_t arrive, compiler_.cuda(meeting_source(views_), "arrive"));
  TRY(const cudaKernel_t leave, compiler_.cuda(meeting_source(views_), "leave"));
  const auto meet = [&](cudaKernel_t kernel, bool leaves) {
    KernelWork work = warp_kernel(kernel);
    work.add(on_device);
    work.add(static_cast<std::uint32_t>(parts.size()));
    work.add(board_);
    work.add(note);
    if (leaves) work.add(command.value);
    work.seal();
    launch.works.emplace_back(std::move(work));
  };
  Launch afterwards;
  meet(arrive, false);
  for (std::size_t i = 0; i < parts.size(); ++i)
    TRY_VOID(pulls(rank, parts[i], seats[i], on_device + i * stride, own, launch, afterwards));
  meet(leave, true);
  for (Work& work : afterwards.works) launch.works.push_back(std::move(work));
  return {};
}

}  // namespace stave::cuda
