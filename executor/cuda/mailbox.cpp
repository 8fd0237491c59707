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
  const void* rings;
  const void* outs;
  const void* ranks;
  std::uint64_t contract;
  std::uint32_t members, position, command, rank, view_count, after;
};
static_assert(sizeof(PartHead) == 64);
constexpr std::size_t slot_head_bytes = 32;
constexpr std::size_t sequence_bytes = 128;  // the word that counts, away from those that others write

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
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

KernelWork one_warp(cudaKernel_t kernel) {
  KernelWork work;
  work.kernel = kernel;
  work.block = dim3{32};
  return work;
}

Mailboxes::Mailboxes(const Plan& plan, std::span<const CollectiveUse> uses)
    : plan_(plan), cliques_(plan), words_(plan.ranks()) {
  for (const RankClass& c : plan.classes)
    for (const Command& command : c.expanded.commands)
      if (attributes_of(command)) views_ = std::max(views_, command.operands.count);
  for (const CollectiveUse& use : uses) {
    const Expanded& e = plan.of_rank(use.rank).expanded;
    for (const CollectivePart& part : parts_of(e, use.command)) {
      const Result<Seat> seat = seat_of(use.rank, part, communicator_of(e, use.command));
      if (!seat) continue;  // add() tells
      if (part.attributes->algorithm == Algorithm::CopyEngine) {
        pushed_[{use.rank, part.command}] = words_[use.rank];
        const std::size_t bytes = (1 + seat->members.size()) * sizeof(std::uint64_t);
        words_[use.rank] += (bytes + sequence_bytes - 1) / sequence_bytes * sequence_bytes;
      }
      const auto [at, added] = channels_.try_emplace(seat->key);
      if (!added) continue;
      at->second.ranks = seat->members;
      for (const Rank member : seat->members) {
        at->second.offsets.push_back(words_[member]);
        words_[member] += sequence_bytes + seat->members.size() * ring_bytes();
      }
    }
  }
}

std::size_t Mailboxes::ring_bytes() const { return mailbox_ring * (slot_head_bytes + sizeof(void*) * views_); }

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

Result<Mailboxes::Tables> Mailboxes::tables(const Context& context, Rank rank, const Seat& seat) {
  const auto [at, added] = tables_.try_emplace({rank, seat.key});
  if (!added) return at->second;
  const Channel& channel = channels_.at(seat.key);
  const std::size_t n = channel.ranks.size();
  const auto base = [&](std::size_t position) {
    return context.words(channel.ranks[position]) + channel.offsets[position];
  };
  std::vector<void*> rings(n), outs(n);
  for (std::size_t i = 0; i < n; ++i) {
    rings[i] = base(seat.position) + sequence_bytes + i * ring_bytes();
    outs[i] = base(i) + sequence_bytes + seat.position * ring_bytes();
  }
  Tables& made = at->second;
  made.next = reinterpret_cast<std::uint64_t*>(base(seat.position));
  TRY(made.rings, context.own.device_copy(std::span<void* const>(rings)));
  TRY(made.outs, context.own.device_copy(std::span<void* const>(outs)));
  TRY(made.ranks, context.own.device_copy(std::span<const Rank>(channel.ranks)));
  return made;
}

Result<void> Mailboxes::add(const Context& context, Rank rank, CommandId command, Launch& launch) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const std::vector<CollectivePart> parts = parts_of(e, command);
  if (parts.empty()) return {};
  const std::int32_t communicator = communicator_of(e, command);
  const std::size_t stride = sizeof(PartHead) + sizeof(void*) * views_;
  std::vector<std::byte> bytes(parts.size() * stride);
  std::vector<Seat> seats;
  for (const CollectivePart& part : parts) {
    TRY(Seat seat, seat_of(rank, part, communicator));
    seats.push_back(std::move(seat));
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Command& c = e[parts[i].command];
    const Seat& seat = seats[i];
    TRY(const Tables of_channel, tables(context, rank, seat));
    std::uint32_t after = 0;
    for (std::size_t j = i + 1; j < parts.size(); ++j)
      after += seats[j].key == seat.key && seats[j].position == seat.position;
    if (after >= mailbox_ring)
      return error_at(e.place(c), "STV0565", "`{}`: more than {} collectives of one clique in one group",
                      e.path(command), mailbox_ring);
    std::string contract = collective_contract(e, c, seat.members.size());
    if (parts[i].attributes->algorithm == Algorithm::CopyEngine) contract += e.path(parts[i].command);
    std::byte* const at = bytes.data() + i * stride;
    put(at, PartHead{of_channel.next, of_channel.rings, of_channel.outs, of_channel.ranks, hash_of(contract),
                     static_cast<std::uint32_t>(seat.members.size()), seat.position, parts[i].command.value, rank,
                     c.operands.count, after});
    for (std::size_t v = 0; v < c.operands.size(); ++v)
      put(at + sizeof(PartHead) + sizeof(void*) * v, context.address(rank, c.operands[v]));
  }
  TRY(std::byte* const table, context.own.device_copy(std::span<const std::byte>(bytes)));
  TRY(const cudaKernel_t arrive, context.compiler.cuda(meeting_source(views_), "arrive"));
  TRY(const cudaKernel_t leave, context.compiler.cuda(meeting_source(views_), "leave"));
  const auto meet = [&](cudaKernel_t kernel, auto last) {
    KernelWork work = one_warp(kernel);
    work.add(table);
    work.add(static_cast<std::uint32_t>(parts.size()));
    work.add(context.board);
    work.add(context.note);
    work.add(last);
    work.seal();
    launch.works.emplace_back(std::move(work));
  };
  if (context.asides && parts.size() == 1 && keeps_operand(rank, parts[0]))
    if (const std::optional<Pushes> pushes = pushes_of(context, rank, parts[0], seats[0])) {
      meet(arrive, context.words(rank) + pushed_.at({rank, parts[0].command}));
      return push_aside(context, rank, parts[0], seats[0], table, *pushes, launch);
    }
  Launch afterwards;
  meet(arrive, static_cast<const void*>(nullptr));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Payload& payload = e[parts[i].command].payload;
    if (std::holds_alternative<AllReduce>(payload) || std::holds_alternative<ReduceScatter>(payload)) {
      TRY_VOID(combine(context, rank, parts[i], seats[i], table + i * stride, launch, afterwards));
    } else if (const std::optional<Pushes> pushes = pushes_of(context, rank, parts[i], seats[i])) {
      for (const Push& push : pushes->copies) launch.works.emplace_back(push.copy);
      if (pushes->nothing) launch.works.emplace_back(*pushes->nothing);
    } else {
      if (!context.one_process)
        return error_at(e.place(e[parts[i].command]), "STV0567",
                        "`{}`: ranks of several processes copy into each other's memory only where all of them run the "
                        "same program; use another algorithm or one process",
                        e.path(parts[i].command));
      TRY_VOID(pull(context, rank, parts[i], seats[i], table + i * stride, launch));
    }
  }
  meet(leave, command.value);
  for (Work& work : afterwards.works) launch.works.push_back(std::move(work));
  return {};
}

}  // namespace stave::cuda
