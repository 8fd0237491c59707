// Collectives between ranks whose memory one kernel can read: several ranks of
// one device, which NCCL refuses, and `algorithm = copy_engine`. Each rank tells
// where its operands are, waits for the others, reads what it needs, and waits
// until all have read. Sequence numbers live in device memory, so that the same
// kernels serve eager streams, graphs and bodies of loops.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/lower/cliques.h"
#include "executor/cuda/board.h"
#include "executor/cuda/compiler.h"
#include "executor/cuda/memory.h"
#include "executor/cuda/work.h"

namespace stave::cuda {

// Parts of one launch on one channel at most: slots of a ring.
inline constexpr std::uint32_t mailbox_ring = 64;

// arrive, leave, pull; `views`: operands that a part tells at most.
std::string meeting_source(std::uint32_t views);
// combine_members of one dtype and reduction.
std::string combining_source(std::uint32_t views, Dtype dtype, Reduction reduction);

// A member of a collective_group, or the collective itself.
struct CollectivePart {
  CommandId command;
  const CollectiveAttributes* attributes = nullptr;
};
std::vector<CollectivePart> parts_of(const Expanded& expanded, CommandId command);

class Mailboxes {
 public:
  using Address = std::function<void*(Rank, ViewId)>;

  // `shared`: where words that ranks share live: device memory of the only
  // device, or pinned memory.
  Mailboxes(const Plan& plan, Compiler& compiler, Allocations& shared, bool one_device, Address address,
            BoardHead* board);

  // Appends what one rank does for a collective or a group of them. The current
  // device is the rank's, `own` its memory. Codes STV0564-0565, STV0811, STV0820-0822.
  Result<void> add(Rank rank, CommandId command, WaitNote* note, Allocations& own, Launch& launch);

 private:
  struct Channel {
    std::vector<Rank> ranks;           // by position
    std::vector<std::uint64_t*> next;  // by position
    void** rings = nullptr;            // by position, in shared memory
    std::vector<void*> ring_of;
    std::uint32_t* rank_table = nullptr;
  };
  struct ChannelKey {
    CliqueId clique{};
    std::int32_t communicator = 0;
    std::int64_t from = -1, to = -1;  // of a send
    friend auto operator<=>(const ChannelKey&, const ChannelKey&) = default;
  };
  struct Seat {
    ChannelKey key;
    std::uint32_t position = 0;
    std::vector<Rank> members;
  };

  Result<Seat> seat_of(Rank rank, const CollectivePart& part, std::int32_t communicator);
  Result<const Channel*> channel(const Seat& seat);
  Result<void> pulls(Rank rank, const CollectivePart& part, const Seat& seat, const std::byte* table, Allocations& own,
                     Launch& launch, Launch& afterwards);

  const Plan& plan_;
  Compiler& compiler_;
  Allocations& shared_;
  bool one_device_;
  Address address_;
  BoardHead* board_;
  Cliques cliques_;
  std::uint32_t views_ = 1;
  std::map<ChannelKey, Channel> channels_;
};

}  // namespace stave::cuda
