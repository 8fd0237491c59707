// Collectives between ranks that reach each other's memory: several ranks of one
// device, which NCCL refuses, and `algorithm = copy_engine`. Each rank tells all others
// that it is there and where its operands are, waits for them, moves data, tells them that
// it has, and waits again; where nothing writes the operand a copy engine tells them, and the rank waits for
// what comes to it only (docs/decisions/0120-copy-engine.md). What a rank waits for stands in its own device memory,
// written by the others: to look at it takes no trip over a link. Sequence numbers live there, too, so that the same
// kernels serve eager streams, graphs and bodies of loops.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
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

// arrive, leave, take, pull; `views`: operands that a part tells at most.
std::string meeting_source(std::uint32_t views);
// combine_members of one dtype and reduction.
std::string combining_source(std::uint32_t views, Dtype dtype, Reduction reduction);

KernelWork one_warp(cudaKernel_t kernel);

// A member of a collective_group, or the collective itself.
struct CollectivePart {
  CommandId command;
  const CollectiveAttributes* attributes = nullptr;
};
std::vector<CollectivePart> parts_of(const Expanded& expanded, CommandId command);

// A collective, or a group of them, that one rank launches.
struct CollectiveUse {
  Rank rank = 0;
  CommandId command;
};

class Mailboxes {
 public:
  using Address = std::function<void*(Rank, ViewId)>;

  // Lays out the words of all channels that `uses` need, of all ranks in the same order in
  // every process.
  Mailboxes(const Plan& plan, std::span<const CollectiveUse> uses);

  // Device memory that a rank needs for its words, zeroed at the start.
  std::size_t words_of(Rank rank) const { return words_[rank]; }

  // Where things are; the addresses hold on the devices of this process.
  struct Context {
    Compiler& compiler;
    Allocations& own;  // of the rank, whose device is the current one
    BoardHead* board = nullptr;
    const Address& address;
    const std::function<std::byte*(Rank)>& words;
    WaitNote* note = nullptr;
    bool one_device = false;
    bool one_process = true;
    bool asides = false;  // works may stand aside (work.h): in a graph that has its device to itself
  };
  // Appends what one rank does for a collective or a group of them. Codes STV0565, STV0567, STV0811, STV0820-0822.
  Result<void> add(const Context& context, Rank rank, CommandId command, Launch& launch);

 private:
  // Who meets: a clique on a communicator, or the two of a send.
  struct ChannelKey {
    CliqueId clique{};
    std::int32_t communicator = 0;
    std::int64_t from = -1, to = -1;  // of a send
    friend auto operator<=>(const ChannelKey&, const ChannelKey&) = default;
  };
  struct Channel {
    std::vector<Rank> ranks;           // by position
    std::vector<std::size_t> offsets;  // by position: of its words in those of the rank
  };
  struct Seat {
    ChannelKey key;
    std::uint32_t position = 0;
    std::vector<Rank> members;
  };
  // Of a channel on one rank's device.
  struct Tables {
    std::uint64_t* next = nullptr;
    const void* rings = nullptr;
    const void* outs = nullptr;
    const void* ranks = nullptr;
  };

  std::size_t ring_bytes() const;
  Result<Seat> seat_of(Rank rank, const CollectivePart& part, std::int32_t communicator);
  Result<Tables> tables(const Context& context, Rank rank, const Seat& seat);
  Result<void> combine(const Context& context, Rank rank, const CollectivePart& part, const Seat& seat,
                       const std::byte* table, Launch& launch, Launch& afterwards);
  // What a copy-engine collective moves, by the one who has it.
  struct Push {
    std::uint32_t member = 0;  // position of the one who gets it
    CopyWork copy;
  };
  struct Pushes {
    std::vector<Push> copies;            // the own part last: the others wait for theirs
    std::vector<std::uint32_t> sources;  // positions of those who push here, without this rank
    std::optional<FillWork> nothing;     // of a rank that gets nothing
  };
  std::optional<Pushes> pushes_of(const Context& context, Rank rank, const CollectivePart& part,
                                  const Seat& seat) const;
  bool keeps_operand(Rank rank, const CollectivePart& part) const;
  Result<void> push_aside(const Context& context, Rank rank, const CollectivePart& part, const Seat& seat,
                          const std::byte* table, const Pushes& pushes, Launch& launch);
  Result<void> pull(const Context& context, Rank rank, const CollectivePart& part, const Seat& seat,
                    const std::byte* table, Launch& launch);

  const Plan& plan_;
  Cliques cliques_;
  std::uint32_t views_ = 1;
  std::map<ChannelKey, Channel> channels_;
  std::vector<std::size_t> words_;  // by rank
  // By rank and command, of its words: the sequence number that the rank has pushed, and what each member has pushed
  // here.
  std::map<std::pair<Rank, CommandId>, std::size_t> pushed_;
  std::map<std::pair<Rank, ChannelKey>, Tables> tables_;
};

}  // namespace stave::cuda
