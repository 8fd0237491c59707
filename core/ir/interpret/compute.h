// What the compute ops mean on buffers, one function an op. Problems carry no place:
// `interpret` knows the command and adds it. Codes STV0651-0660.
#pragma once

#include <span>
#include <string_view>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/ir/interpret/operand.h"
#include "core/ir/module.h"
#include "core/ir/ops.h"

namespace stave {

// results[r][i] = f(operands[0][i], operands[1][i], ...). An operand whose shape is a
// suffix of the results' shape repeats; one with one element is the same for all. An
// operand and a result may be the same bytes.
Result<void> interpret_map(const Lambda& f, std::span<const ConstOperand> operands, std::span<const Operand> results);

// Operands: A [..., m, k], B [..., k, n], C [..., m, n] if beta is not 0, bias [n] for that
// epilogue; a transposed matrix is stored with its last two dimensions swapped.
// Computes in f64 if A or B is f64, in f32 for the other floats, in 32 bits (64 if the
// result has 64) for integers, which wrap. Each element sums over k in ascending order.
// `progress` gets the multiply-adds; cancelled (STV0950), the result is undefined.
Result<void> interpret_gemm(const Gemm& gemm, std::span<const ConstOperand> operands, std::span<const Operand> results,
                            Progress* progress = nullptr);

// The operand's shape without `axes` is the result's. Elements combine in row-major order:
// halves and f8 in f32, f32 and f64 in f64, integers in 64 bits; the end is rounded or wraps once.
Result<void> interpret_reduce(Reduction reduction, std::span<const std::int64_t> axes,
                              std::span<const ConstOperand> operands, std::span<const Operand> results);

struct CustomCallArguments {
  std::string_view target;
  const Record& attributes;
  const Module& module;  // names of attributes
  std::span<const ConstOperand> operands;
  std::span<const Operand> results;
};
struct CustomCallHandler {
  std::string_view target;
  std::string_view summary;
  Result<void> (*run)(const CustomCallArguments& arguments);
};
// To add one: a function and a line in core/ir/interpret/custom_call.cpp.
std::span<const CustomCallHandler> custom_calls();
Result<void> interpret_custom_call(const CustomCallArguments& arguments);

}  // namespace stave
