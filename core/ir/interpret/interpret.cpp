#include "core/ir/interpret/interpret.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "core/ir/interpret/compute.h"
#include "core/ir/interpret/number.h"

namespace stave {
namespace {

struct Arguments {
  const Expanded& expanded;
  const Command& command;
  std::span<const ConstOperand> operands;
  std::span<const Operand> results;
  const RunReference& run_reference;
  Progress* progress;
};

Result<void> expect(std::string_view op, std::size_t operands, std::size_t got_operands, std::size_t got_results) {
  if (operands == got_operands && got_results == 1) return {};
  return error_at({}, "STV0651", "{} takes {} operands and 1 result, got {} and {}", op, operands, got_operands,
                  got_results);
}

Result<void> run(const Memzero&, const Arguments& to) { return interpret_memzero(to.results); }
Result<void> run(const Memset& op, const Arguments& to) { return interpret_memset(op.value, to.results); }
Result<void> run(const Copy&, const Arguments& to) { return interpret_copy(to.operands, to.results); }

Result<void> run(const Map& op, const Arguments& to) {
  return interpret_map(to.expanded.lambdas[op.f], to.operands, to.results);
}

Result<void> run(const Gemm& op, const Arguments& to) {
  return interpret_gemm(op, to.operands, to.results, to.progress);
}

Result<void> run(const Reduce& op, const Arguments& to) {
  return interpret_reduce(op.reduction, op.axes ? to.expanded.ints[op.axes] : Ints{}, to.operands, to.results);
}

Result<void> run(const Kernel& op, const Arguments& to) {
  if (!op.reference.name || !to.run_reference)
    return no_reference(op.entry && to.expanded.module ? to.expanded.module->text(op.entry) : "");
  return to.run_reference(to.command, to.operands, to.results);
}

Result<void> run(const CustomCall& op, const Arguments& to) {
  static const Record none;
  const Module& module = *to.expanded.module;
  return interpret_custom_call({op.target ? module.text(op.target) : "",
                                op.attributes ? to.expanded.records[op.attributes] : none, module, to.operands,
                                to.results});
}

template <class Op>
concept OfTheDriver = CollectiveOp<Op> || Op::info.family == OpFamily::Control || Op::info.family == OpFamily::Stream ||
                      Op::info.family == OpFamily::Collective || Op::info.family == OpFamily::Mark;

template <OfTheDriver Op>
Result<void> run(const Op&, const Arguments&) {
  return error_at({}, "STV0650", "`{}` is not an operation on one rank's buffers: the driver runs it", Op::info.name);
}

template <class Op>
struct add_a_run_overload_to_core_ir_interpret_interpret_cpp : std::false_type {};

}  // namespace

Result<void> check_sizes(std::span<const ConstOperand> operands, std::span<const Operand> results) {
  const auto check = [](std::string_view side, std::size_t i, const ConstOperand& operand) -> Result<void> {
    const std::int64_t needed = storage_bytes(operand.dtype, elements_of(operand.shape));
    if (static_cast<std::int64_t>(operand.bytes.size()) == needed) return {};
    return error_at({}, "STV0652", "{} {} of {} elements of {} takes {} bytes, got {}", side, i,
                    elements_of(operand.shape), name_of(operand.dtype), needed, operand.bytes.size());
  };
  for (std::size_t i = 0; i < operands.size(); ++i) TRY_VOID(check("operand", i, operands[i]));
  for (std::size_t i = 0; i < results.size(); ++i) TRY_VOID(check("result", i, results[i]));
  return {};
}

Result<void> placed(Result<void> result, const Expanded& expanded, const Command& command) {
  if (result) return result;
  Problems problems = std::move(result).problems();
  for (Problem& problem : problems)
    if (problem.place == Place{}) problem.place = expanded.place(command);
  return Failure(std::move(problems));
}

Result<void> interpret_memzero(std::span<const Operand> results) {
  TRY_VOID(expect("memzero", 0, 0, results.size()));
  const std::span<std::byte> to = results[0].bytes;
  if (!to.empty()) std::memset(to.data(), 0, to.size());
  return {};
}

Result<void> interpret_memset(const Scalar& value, std::span<const Operand> results) {
  TRY_VOID(expect("memset", 0, 0, results.size()));
  const std::span<std::byte> to = results[0].bytes;
  if (bits_of(value.dtype) != 32 || to.size() % 4 != 0)
    return error_at({}, "STV0655", "memset fills with a 32-bit pattern, got {} into {} bytes", name_of(value.dtype),
                    to.size());
  const std::uint32_t pattern = value.dtype == Dtype::F32
                                    ? std::bit_cast<std::uint32_t>(static_cast<float>(value.number))
                                    : static_cast<std::uint32_t>(value.integer);
  for (std::size_t i = 0; i < to.size(); i += 4) std::memcpy(to.data() + i, &pattern, 4);
  return {};
}

Result<void> interpret_copy(std::span<const ConstOperand> operands, std::span<const Operand> results) {
  TRY_VOID(expect("copy", 1, operands.size(), results.size()));
  const std::span<const std::byte> from = operands[0].bytes;
  const std::span<std::byte> to = results[0].bytes;
  if (from.size() != to.size())
    return error_at({}, "STV0652", "copy from {} bytes to {} bytes", from.size(), to.size());
  if (!to.empty()) std::memmove(to.data(), from.data(), to.size());
  return {};
}

Failure no_reference(std::string_view kernel) {
  return error_at({}, "STV0657",
                  "kernel \"{}\" has no meaning on a CPU: add `reference = @f`, a function with the operands and then "
                  "the results as parameters, or run it on a GPU",
                  kernel);
}

Result<void> interpret(const Expanded& expanded, const Command& command, std::span<const ConstOperand> operands,
                       std::span<const Operand> results, const RunReference& run_reference, Progress* progress) {
  const Arguments arguments{expanded, command, operands, results, run_reference, progress};
  Result<void> result = check_sizes(operands, results);
  if (result) {
    result = std::visit(
        [&]<class Op>(const Op& op) -> Result<void> {
          if constexpr (requires { run(op, arguments); }) {
            return run(op, arguments);
          } else {
            static_assert(add_a_run_overload_to_core_ir_interpret_interpret_cpp<Op>::value);
          }
        },
        command.payload);
  }
  return placed(std::move(result), expanded, command);
}

}  // namespace stave
