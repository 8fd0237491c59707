// What a command of one rank means on buffers, on a CPU: the reference that every other
// driver is compared with. Numbers follow docs/numerics.md. What needs several ranks is
// in collective.h; control flow, streams and marks belong to the driver.
#pragma once

#include <functional>
#include <span>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/ir/expanded.h"
#include "core/ir/interpret/operand.h"

namespace stave {

// Runs the function that a kernel names as its `reference`: its parameters are the
// operands and then the results. The driver provides it, because it needs an expansion.
using RunReference =
    std::function<Result<void>(const Command&, std::span<const ConstOperand>, std::span<const Operand>)>;

// Runs memzero, memset, copy, map, gemm, reduce, kernel (through `run_reference`) or
// custom_call. `operands` and `results` are the command's views in order; they may share
// bytes as rule 10 of docs/ir.md allows. Deterministic: the same bytes give the same bytes.
// Codes STV0650-0660; the problem's place is the command's. `progress` is for gemms: they are what
// takes long.
Result<void> interpret(const Expanded& expanded, const Command& command, std::span<const ConstOperand> operands,
                       std::span<const Operand> results, const RunReference& run_reference = {},
                       Progress* progress = nullptr);

// Gives problems without a place this one.
Result<void> placed(Result<void> result, const Expanded& expanded, const Command& command);

// Every operand and result has the bytes that its shape needs. STV0652.
Result<void> check_sizes(std::span<const ConstOperand> operands, std::span<const Operand> results);

// The parts that need no expansion; their problems carry no place.
Result<void> interpret_memzero(std::span<const Operand> results);
Result<void> interpret_memset(const Scalar& value, std::span<const Operand> results);
Result<void> interpret_copy(std::span<const ConstOperand> operands, std::span<const Operand> results);

// The reason why this kernel cannot run on the CPU.
Failure no_reference(std::string_view kernel);

}  // namespace stave
