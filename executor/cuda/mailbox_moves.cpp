// What moves the data between arriving and leaving.
#include <algorithm>
#include <span>

#include "core/ir/interpret/operand.h"
#include "executor/cuda/mailbox.h"

namespace stave::cuda {
namespace {

constexpr std::uint32_t no_member = 0xffffffff;

struct Segment {
  std::uint32_t member = no_member;  // none: zeros
  std::uint32_t view = 0;
  std::uint64_t offset = 0;
  void* to = nullptr;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Segment) == 32);

std::uint32_t blocks_for(std::uint64_t threads) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>((threads + 255) / 256, 1, 264));
}

}  // namespace

Result<void> Mailboxes::combine(const Context& context, Rank rank, const CollectivePart& part, const Seat& seat,
                                const std::byte* table, Launch& launch, Launch& afterwards) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const Command& command = e[part.command];
  const bool scatters = std::holds_alternative<ReduceScatter>(command.payload);
  const Reduction reduction =
      scatters ? std::get<ReduceScatter>(command.payload).reduction : std::get<AllReduce>(command.payload).reduction;
  const Dtype dtype = e[command.operands[0]].dtype;
  TRY(const cudaKernel_t kernel, context.compiler.cuda(combining_source(views_, dtype, reduction), "combine_members"));
  const auto count = static_cast<std::uint64_t>(e.elements(e[command.results[0]]));
  const auto bytes = static_cast<std::size_t>(e[command.results[0]].bytes);
  void* const result = context.address(rank, command.results[0]);
  void* to = result;
  if (!scatters && to == context.address(rank, command.operands[0])) {
    // In place: the others read the operand until they leave.
    TRY(to, context.own.device(bytes));
    afterwards.works.emplace_back(CopyWork{result, to, bytes});
  }
  KernelWork work = one_warp(kernel);
  work.block = dim3{256};
  work.grid = dim3{blocks_for(count)};
  work.add(table);
  work.add(scatters ? seat.position * count : 0);
  work.add(count);
  work.add(to);
  work.add(context.board);
  work.seal();
  launch.works.emplace_back(std::move(work));
  return {};
}

// Copies from the operand into the others' results. Their source's device moves them: graphs of two devices that
// pull from each other stand still once some ten copies wait (seen on two H200s, driver 580.159; with
// CUDA_SCALE_LAUNCH_QUEUES=4x some forty), graphs that push do not. None: the others' results are not known here,
// because they run another program, or all share a device.
std::optional<Mailboxes::Pushes> Mailboxes::pushes_of(const Context& context, Rank rank, const CollectivePart& part,
                                                      const Seat& seat) const {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const Command& command = e[part.command];
  const bool one_class = std::all_of(seat.members.begin(), seat.members.end(),
                                     [&](Rank r) { return plan_.class_of_rank[r] == plan_.class_of_rank[rank]; });
  if (context.one_device || part.attributes->algorithm != Algorithm::CopyEngine || !one_class) return std::nullopt;
  const auto n = static_cast<std::uint32_t>(seat.members.size());
  const auto from = [&](std::size_t i) {
    return static_cast<const std::byte*>(context.address(rank, command.operands[i]));
  };
  const auto to = [&](std::uint32_t q, std::size_t i) {
    return static_cast<std::byte*>(context.address(seat.members[q], command.results[i]));
  };
  const auto bytes_of = [&](ViewId view) { return static_cast<std::size_t>(e[view].bytes); };
  Pushes out;
  const auto push = [&](std::uint32_t member, std::byte* target, const std::byte* source, std::size_t bytes) {
    out.copies.push_back({member, {target, source, target == source ? 0 : bytes}});
  };
  const auto every = [&](auto&& push_to) {
    for (std::uint32_t i = 1; i <= n; ++i) push_to((seat.position + i) % n);
    for (std::uint32_t q = 0; q < n; ++q)
      if (q != seat.position) out.sources.push_back(q);
  };
  if (std::holds_alternative<AllGather>(command.payload)) {
    const std::size_t size = bytes_of(command.operands[0]);
    every([&](std::uint32_t q) { push(q, to(q, 0) + seat.position * size, from(0), size); });
    return out;
  }
  if (std::holds_alternative<AllToAll>(command.payload)) {
    const bool split = command.operands.size() == 1;
    const std::size_t size = split ? bytes_of(command.operands[0]) / n : 0;
    every([&](std::uint32_t q) {
      if (split)
        push(q, to(q, 0) + seat.position * size, from(0) + q * size, size);
      else
        push(q, to(q, seat.position), from(q), bytes_of(command.operands[q]));
    });
    return out;
  }
  if (const auto* permute = std::get_if<CollectivePermute>(&command.payload)) {
    bool gets = false;
    for (const auto& [source, target] : e.pairs_of(*permute, n)) {
      if (source == seat.position)
        push(static_cast<std::uint32_t>(target), to(static_cast<std::uint32_t>(target), 0), from(0),
             bytes_of(command.operands[0]));
      if (target != seat.position) continue;
      gets = true;
      if (source != target) out.sources.push_back(static_cast<std::uint32_t>(source));
    }
    if (!gets) out.nothing = FillWork{to(seat.position, 0), 0, bytes_of(command.results[0])};
    return out;
  }
  return std::nullopt;
}

// No command of the step writes what is pushed, so that nothing has to wait until it was read.
bool Mailboxes::keeps_operand(Rank rank, const CollectivePart& part) const {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const Command& command = e[part.command];
  for (const ViewId view : command.operands) {
    const Buffer& buffer = e.buffers[e[view].buffer];
    if (buffer.kind != Buffer::Kind::Parameter || buffer.direction != Direction::In) return false;
  }
  return true;
}

// A copy engine's end is told by the engine itself, in a word that it writes behind the data, as NCCL's own
// copy-engine collectives do (NCCL 2.28, src/ce_coll.cc); the rank waits for what comes to it only.
Result<void> Mailboxes::push_aside(const Context& context, Rank rank, const CollectivePart& part, const Seat& seat,
                                   const std::byte* table, const Pushes& pushes, Launch& launch) {
  std::byte* const own = context.words(rank) + pushed_.at({rank, part.command});
  const auto pushed_of = [&](Rank member, std::uint32_t source) {
    return context.words(member) + pushed_.at({member, part.command}) + sizeof(std::uint64_t) * (1 + source);
  };
  launch.aside_first = launch.works.size();
  for (const Push& push : pushes.copies)
    if (push.member != seat.position) {
      launch.works.emplace_back(push.copy);
      launch.works.emplace_back(
          CopyWork{pushed_of(seat.members[push.member], seat.position), own, sizeof(std::uint64_t)});
    }
  launch.aside_count = launch.works.size() - launch.aside_first;
  for (const Push& push : pushes.copies)
    if (push.member == seat.position) launch.works.emplace_back(push.copy);
  if (pushes.nothing) launch.works.emplace_back(*pushes.nothing);
  TRY(std::uint32_t* const sources, context.own.device_copy(std::span<const std::uint32_t>(pushes.sources)));
  TRY(const cudaKernel_t take, context.compiler.cuda(meeting_source(views_), "take"));
  KernelWork work = one_warp(take);
  work.add(table);
  work.add(own + sizeof(std::uint64_t));
  work.add(sources);
  work.add(static_cast<std::uint32_t>(pushes.sources.size()));
  work.add(context.board);
  work.add(context.note);
  work.seal();
  launch.works.emplace_back(std::move(work));
  return {};
}

// A kernel that reads from where the others said that their operands are.
Result<void> Mailboxes::pull(const Context& context, Rank rank, const CollectivePart& part, const Seat& seat,
                             const std::byte* table, Launch& launch) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const Command& command = e[part.command];
  const auto n = static_cast<std::uint32_t>(seat.members.size());
  const auto bytes_of = [&](ViewId view) { return static_cast<std::uint64_t>(e[view].bytes); };
  const auto to_of = [&](std::size_t i) { return static_cast<std::byte*>(context.address(rank, command.results[i])); };
  std::vector<Segment> segments;
  std::visit(
      [&]<class T>(const T& op) {
        if constexpr (std::is_same_v<T, AllGather>) {
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
          Segment s{no_member, 0, 0, to_of(0), bytes_of(command.results[0])};
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
  std::erase_if(segments, [](const Segment& s) { return s.bytes == 0; });
  if (segments.empty()) return {};
  std::uint64_t longest = 0;
  for (const Segment& s : segments) longest = std::max(longest, s.bytes);
  TRY(Segment* const on_device, context.own.device_copy(std::span<const Segment>(segments)));
  TRY(const cudaKernel_t kernel, context.compiler.cuda(meeting_source(views_), "pull"));
  KernelWork work = one_warp(kernel);
  work.block = dim3{256};
  work.grid = dim3{blocks_for(longest / 16), static_cast<std::uint32_t>(segments.size())};
  work.add(table);
  work.add(on_device);
  work.add(context.board);
  work.seal();
  launch.works.emplace_back(std::move(work));
  return {};
}

}  // namespace stave::cuda
