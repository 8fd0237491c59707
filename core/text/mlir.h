// One rank's expanded commands in MLIR's generic form, for readers and tools
// that know MLIR: `mlir-opt --allow-unregistered-dialect` takes it.
//
// Buffers and views are SSA values of type !stave.buffer<SPACE, DTYPE[SHAPE]>, a
// view is `stave.view` with its byte offset, a token is !stave.token, and
// `operand_segment_sizes` says how many operands are read and how many written.
// Coordinates are evaluated for the rank.
#pragma once

#include <string>

#include "core/ir/expanded.h"

namespace stave {

std::string print_mlir(const Expanded& expanded, Rank rank);

}  // namespace stave
