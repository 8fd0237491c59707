// The buffers of one rank, and views of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/ir/expanded.h"
#include "core/ir/interpret/operand.h"

namespace stave {

class Memory {
 public:
  // Allocates all buffers and writes the constants; everything else is undefined.
  explicit Memory(const Expanded& expanded);

  std::span<std::byte> buffer(BufferId id) { return buffers_[id.value]; }
  std::span<const std::byte> buffer(BufferId id) const { return buffers_[id.value]; }

  // Forgets the contents of scratch. Undefined is bytes 0xff here: NaN as any float, -1 as
  // any signed integer, so that a use of it shows.
  void forget_scratch(const Expanded& expanded);

  Operand view(const Expanded& expanded, ViewId view, Rank rank);
  std::vector<ConstOperand> operands(const Expanded& expanded, const Command& command, Rank rank);
  std::vector<Operand> results(const Expanded& expanded, const Command& command, Rank rank);
  // Operand 0: the bool of a cond or while, the s32 of a switch.
  std::int64_t predicate(const Expanded& expanded, const Command& command, Rank rank);

 private:
  std::vector<std::vector<std::byte>> buffers_;
};

}  // namespace stave
