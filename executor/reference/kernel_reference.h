// The CPU meaning of kernels: the function that each names as its `reference`,
// expanded as an entry of its own and run in line.
#pragma once

#include <map>
#include <memory>

#include "core/base/result.h"
#include "core/ir/expanded.h"
#include "core/ir/interpret/interpret.h"
#include "executor/driver.h"

namespace stave {

class KernelReferences {
 public:
  // Expands the references of all kernels of an expansion. Problems of the function itself, and
  // STV0803 (kernel without reference), STV0804 (its parameters are not the kernel's views),
  // STV0805 (a collective in it).
  Result<void> add(const Expanded& expanded);

  // Runs the reference of a kernel of that expansion as `rank`, whose coordinates it may use.
  // STV0812: a while of it ends after `max_iterations`. STV0950: cancelled.
  Result<void> run(const Expanded& expanded, Rank rank, const Command& kernel, std::span<const ConstOperand> operands,
                   std::span<const Operand> results, const PrepareOptions& options) const;

 private:
  // Of one module all classes take their references from: by function name.
  std::map<StringId, Expansion> functions_;
};

}  // namespace stave
