// What the participants of a collective must agree on.
#pragma once

#include <string>

#include "core/ir/expanded.h"

namespace stave {

// None for what is no collective, and for a collective_group.
const CollectiveAttributes* attributes_of(const Command& command);

// What must be equal on all ranks, in words; two parts match if the words do.
// "all_reduce sum of 64 bytes of f32 in 1 buffer". A send and its recv agree.
std::string collective_contract(const Expanded& expanded, const Command& command, std::size_t members);

}  // namespace stave
