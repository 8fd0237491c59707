// What a collective means: all members of one group in one call. The driver gathers the
// participants once each of them has reached the command.
#pragma once

#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/ir/expanded.h"
#include "core/ir/interpret/operand.h"

namespace stave {

// A rank's views of one command, in order.
struct Participant {
  Rank rank = 0;
  std::vector<ConstOperand> operands;
  std::vector<Operand> results;
};

// `group` is in position order and whole; `command` is that of any member (they have the same
// attributes). For send and recv the group is the pair {sender, receiver}. Results may share
// bytes with operands as rule 10 of docs/ir.md allows. Nothing is written when it fails.
// Codes STV0665-0668; the problem's place is the command's.
Result<void> interpret_collective(const Expanded& expanded, const Command& command, std::span<const Participant> group);

// The same without an expansion; problems carry no place.
namespace collectives {

// Elements combine in position order: halves and f8 in f32, rounded once; f32 in f32; f64
// in f64; integers wrap. Over the dtypes of rule 17, and f8.
Result<void> all_reduce(Reduction reduction, std::span<const Participant> group);
Result<void> reduce_scatter(Reduction reduction, std::span<const Participant> group);
Result<void> all_gather(std::span<const Participant> group);
// One operand and result a rank, split in as many parts as the group has members, or one
// of each a peer.
Result<void> all_to_all(std::span<const Participant> group);
// A position that is no pair's target gets zeros.
Result<void> permute(const Pairs& pairs, std::span<const Participant> group);
Result<void> broadcast(std::int32_t root, std::span<const Participant> group);
Result<void> send_recv(const Participant& sender, const Participant& receiver);

}  // namespace collectives
}  // namespace stave
