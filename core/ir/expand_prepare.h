// What expansion needs to know of a module before it runs, and the rules that
// hold for text whether it is executed or not: shapes of statements, names,
// places of scratch, acyclic calls.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/expand_values.h"

namespace stave {

struct Prepared {
  std::shared_ptr<const std::vector<std::uint32_t>> ordinals;  // by OpId: see Expanded
  std::vector<bool> varies;           // by OpId: its attributes mention a repeat index, so they differ by iteration
  std::vector<FunctionId> functions;  // by StringId: the function of that name
};
Result<Prepared> prepare(const Module& module);

Result<Mesh> mesh_of(const Module& module);

// Evaluates params in order, `overrides` first, and checks them against `in`.
Result<void> set_params(Evaluation& names, const std::vector<std::pair<std::string, std::string>>& overrides);

// Which function each rank runs; ranks ascend, and every rank stands in one entry.
struct EntryRanks {
  FunctionId function;
  std::vector<Rank> ranks;
};
Result<std::vector<EntryRanks>> entries_of(Evaluation& names, const Prepared& prepared);

}  // namespace stave
