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
// CUDA_SCALE_LAUNCH_QUEUES=4x some forty), graphs that push do not. False: the others' results are not known here,
// because they run another program.
bool Mailboxes::push(const Context& context, Rank rank, const CollectivePart& part, const Seat& seat, Launch& launch) {
  const Expanded& e = plan_.of_rank(rank).expanded;
  const Command& command = e[part.command];
  const bool one_class = std::all_of(seat.members.begin(), seat.members.end(),
                                     [&](Rank r) { return plan_.class_of_rank[r] == plan_.class_of_rank[rank]; });
  if (part.attributes->algorithm != Algorithm::CopyEngine || !one_class) return false;
  const auto n = static_cast<std::uint32_t>(seat.members.size());
  const auto from = [&](std::size_t i) {
    return static_cast<const std::byte*>(context.address(rank, command.operands[i]));
  };
  const auto to = [&](std::uint32_t q, std::size_t i) {
    return static_cast<std::byte*>(context.address(seat.members[q], command.results[i]));
  };
  const auto bytes_of = [&](ViewId view) { return static_cast<std::size_t>(e[view].bytes); };
  const auto copy = [&](std::byte* target, const std::byte* source, std::size_t bytes) {
    if (target != source && bytes > 0) launch.works.emplace_back(CopyWork{target, source, bytes});
  };
  if (std::holds_alternative<AllGather>(command.payload)) {
    const std::size_t size = bytes_of(command.operands[0]);
    // The own part last: the others wait for theirs.
    for (std::uint32_t i = 1; i <= n; ++i) {
      const std::uint32_t q = (seat.position + i) % n;
      copy(to(q, 0) + seat.position * size, from(0), size);
    }
    return true;
  }
  if (std::holds_alternative<AllToAll>(command.payload)) {
    const bool split = command.operands.size() == 1;
    const std::size_t size = split ? bytes_of(command.operands[0]) / n : 0;
    for (std::uint32_t i = 1; i <= n; ++i) {
      const std::uint32_t q = (seat.position + i) % n;
      if (split)
        copy(to(q, 0) + seat.position * size, from(0) + q * size, size);
      else
        copy(to(q, seat.position), from(q), bytes_of(command.operands[q]));
    }
    return true;
  }
  if (const auto* permute = std::get_if<CollectivePermute>(&command.payload)) {
    bool receives = false;
    for (const auto& [source, target] : e.pairs_of(*permute, n)) {
      if (source == seat.position) copy(to(target, 0), from(0), bytes_of(command.operands[0]));
      receives = receives || target == seat.position;
    }
    if (!receives) launch.works.emplace_back(FillWork{to(seat.position, 0), 0, bytes_of(command.results[0])});
    return true;
  }
  return false;
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
