#include "executor/cuda/mailbox.h"

#include <fmt/format.h>

#include "executor/cuda/device_source.h"

namespace stave::cuda {
namespace {

// The structs are those of board.h and mailbox.h.
constexpr std::string_view structs = R"cuda(
struct WaitNote { u32 waiting, command, peer, leaving; u64 sequence; u32 last_done, pad; };
struct DeviceFault { u32 claimed, kind, rank, command, peer, peer_command; };
struct BoardHead { u32 abort, pad; DeviceFault fault; };
struct Slot { u64 arrived, left, contract; u32 rank, command; const void* views[VIEWS]; };
struct PartTable {
  u64* next; Slot* const* rings; Slot* const* outs; const u32* ranks;
  u64 contract; u32 members, position, command, rank, view_count, after;
  const void* views[VIEWS];
};
struct Segment { u32 member, view; u64 offset; void* to; u64 bytes; };

__device__ inline u64 acquire(const u64* p) { u64 v; asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); return v; }
__device__ inline void release(u64* p, u64 v) { asm volatile("st.release.sys.u64 [%0], %1;" :: "l"(p), "l"(v) : "memory"); }
__device__ inline u32 peek(const u32* p) { return *(const volatile u32*)p; }
__device__ inline u64 sequence_of(const PartTable& part) { return *part.next - part.after; }
)cuda";

constexpr std::string_view meeting = R"cuda(
__device__ inline void complain(BoardHead* board, const PartTable& part, const Slot& other) {
  if (atomicCAS_system(&board->fault.claimed, 0u, 1u) != 0u) return;
  board->fault.rank = part.rank;
  board->fault.command = part.command;
  board->fault.peer = other.rank;
  board->fault.peer_command = other.command;
  __threadfence_system();
  *(volatile u32*)&board->fault.kind = 1u;
  *(volatile u32*)&board->abort = 1u;
}

// Until the word is `sequence` or more. The word to give up and the note stand in the host's memory, which is far:
// looked at and told now and then. False: gives up.
__device__ inline bool wait_for(const u64* word, u64 sequence, u32 command, u32 peer, bool leaving, BoardHead* board,
                                WaitNote* note, bool& noted) {
  bool told = false;
  for (u32 turn = 1; acquire(word) < sequence; ++turn) {
    if (turn % 64 != 0) continue;
    if (peek(&board->abort)) return false;
    if (told) continue;
    told = noted = true;
    note->command = command;
    note->peer = peer;
    note->leaving = leaving;
    note->sequence = sequence;
    __threadfence_system();
    *(volatile u32*)&note->waiting = 1u;
  }
  return true;
}

// Whether all of the warp are fine. The note is cleared again where one was made.
__device__ inline bool all_fine(bool fine, bool noted, WaitNote* note) {
  fine = __all_sync(0xffffffffu, fine);
  noted = __any_sync(0xffffffffu, noted);
  if (fine && noted && threadIdx.x == 0) *(volatile u32*)&note->waiting = 0u;
  return fine;
}

// One warp. False: it gave up.
__device__ inline bool wait_for_all(const PartTable* parts, u32 count, BoardHead* board, WaitNote* note, bool leaving) {
  bool fine = true, noted = false;
  for (u32 i = 0; i < count; ++i) {
    const PartTable& part = parts[i];
    const u64 sequence = sequence_of(part);
    for (u32 member = threadIdx.x; fine && member < part.members; member += 32) {
      if (member == part.position) continue;
      Slot& slot = part.rings[member][sequence % RING];
      fine = wait_for(leaving ? &slot.left : &slot.arrived, sequence, part.command, part.ranks[member], leaving, board,
                      note, noted);
      if (fine && !leaving && slot.contract != part.contract) { complain(board, part, slot); fine = false; }
    }
    fine = __all_sync(0xffffffffu, fine);
    if (!fine) return false;
  }
  return all_fine(fine, noted, note);
}

// A rank's part begins: tells the others where its operands are and waits for all of them. `sequence_for_others`: of a
// single part, what the copy engine writes behind its data; or null.
extern "C" __global__ void arrive(const PartTable* parts, u32 count, BoardHead* board, WaitNote* note,
                                  u64* sequence_for_others) {
  if (threadIdx.x == 0)
    for (u32 i = 0; i < count; ++i) {
      const PartTable& part = parts[i];
      const u64 sequence = *part.next + 1;
      *part.next = sequence;
    }
  if (threadIdx.x == 0 && sequence_for_others) *sequence_for_others = sequence_of(parts[0]);
  __syncwarp();
  for (u32 i = 0; i < count; ++i) {
    const PartTable& part = parts[i];
    const u64 sequence = sequence_of(part);
    for (u32 member = threadIdx.x; member < part.members; member += 32) {
      Slot& slot = part.outs[member][sequence % RING];
      slot.contract = part.contract;
      slot.rank = part.rank;
      slot.command = part.command;
      for (u32 v = 0; v < part.view_count; ++v) slot.views[v] = part.views[v];
      release(&slot.arrived, sequence);
    }
  }
  __syncwarp();
  wait_for_all(parts, count, board, note, false);
}

// All was read: tells the others and waits until they have read, too.
extern "C" __global__ void leave(const PartTable* parts, u32 count, BoardHead* board, WaitNote* note, u32 command) {
  for (u32 i = 0; i < count; ++i) {
    const PartTable& part = parts[i];
    const u64 sequence = sequence_of(part);
    for (u32 member = threadIdx.x; member < part.members; member += 32)
      release(&part.outs[member][sequence % RING].left, sequence);
  }
  __syncwarp();
  const bool fine = wait_for_all(parts, count, board, note, true);
  if (threadIdx.x == 0 && fine) note->last_done = command + 1;
}

// What others push here has come: a copy engine wrote the sequence number behind it.
extern "C" __global__ void take(const PartTable* part, const u64* pushed, const u32* sources, u32 count,
                                BoardHead* board, WaitNote* note) {
  const u64 sequence = *part->next;
  bool fine = true, noted = false;
  for (u32 i = threadIdx.x; fine && i < count; i += 32)
    fine = wait_for(pushed + sources[i], sequence, part->command, part->ranks[sources[i]], true, board, note, noted);
  if (all_fine(fine, noted, note) && threadIdx.x == 0) note->last_done = part->command + 1;
}

// blockIdx.y: the segment. Without a source it writes zeros.
extern "C" __global__ void pull(const PartTable* part, const Segment* segments, BoardHead* board) {
  if (peek(&board->abort)) return;
  const Segment s = segments[blockIdx.y];
  const u64 step = (u64)gridDim.x * blockDim.x, first = (u64)blockIdx.x * blockDim.x + threadIdx.x;
  const bool zero = s.member == 0xffffffffu;
  const u8* from = zero ? nullptr : (const u8*)part->rings[s.member][sequence_of(*part) % RING].views[s.view] + s.offset;
  u8* to = (u8*)s.to;
  if (from == to) return;
  u64 done = 0;
  if ((((u64)from | (u64)to) & 15u) == 0) {
    const u64 packs = s.bytes / 16;
    const uint4 nothing = {0, 0, 0, 0};
    for (u64 i = first; i < packs; i += step) ((uint4*)to)[i] = zero ? nothing : ((const uint4*)from)[i];
    done = packs * 16;
  }
  for (u64 i = done + first; i < s.bytes; i += step) to[i] = zero ? (u8)0 : from[i];
}
)cuda";

constexpr std::string_view combining = R"cuda(
// Elements first .. first + count - 1 of all members' operand, in position order, into `to`.
extern "C" __global__ void combine_members(const PartTable* part, u64 first, u64 count, void* to, BoardHead* board) {
  if (peek(&board->abort)) return;
  const u64 slot = sequence_of(*part) % RING;
  const u64 step = (u64)gridDim.x * blockDim.x;
  for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    Sum sum = (Sum)get<D>(part->rings[0][slot].views[0], first + i);
    for (u32 member = 1; member < part->members; ++member)
      sum = combine<R>(sum, (Sum)get<D>(part->rings[member][slot].views[0], first + i));
    if constexpr (Elem<D>::is_float) put<D>(to, i, round_to<D>((double)sum));
    else put<D>(to, i, wrap<D>((u64)sum));
  }
}
)cuda";

std::string with_limits(std::string_view text, std::uint32_t views) {
  return fmt::format("#define RING {}ull\n#define VIEWS {}\n{}{}{}", mailbox_ring, views, device_prelude(), structs,
                     text);
}

}  // namespace

std::string meeting_source(std::uint32_t views) { return with_limits(meeting, views); }

std::string combining_source(std::uint32_t views, Dtype dtype, Reduction reduction) {
  const std::string_view sum = dtype == Dtype::F64                        ? "double"
                               : is_float(dtype)                          ? "float"
                               : info_of(dtype).kind == DtypeKind::Signed ? "s64"
                                                                          : "u64";
  return with_limits(fmt::format("using Sum = {};\nconstexpr int D = {}, R = {};\n{}", sum, static_cast<int>(dtype),
                                 static_cast<int>(reduction), combining),
                     views);
}

}  // namespace stave::cuda
