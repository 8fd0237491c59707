#include "executor/reference/kernel_reference.h"

#include <algorithm>
#include <cstring>

#include "executor/reference/memory.h"
#include "executor/reference/step.h"

namespace stave {

namespace {

Result<Expansion> expand_function(const Expanded& of, StringId function) {
  auto module = std::make_shared<Module>(*of.module);
  module->entries = {{function, {}, no_loc}};
  std::erase_if(module->items, [](const Item& item) { return item.kind == Item::Kind::Entry; });
  ExpandOptions options;
  for (const auto& [name, value] : of.params) options.params.emplace_back(name, std::to_string(value));
  return expand_and_verify(std::move(module), options);
}

// A run of an expansion without streams: depth first in text order is one of its orders.
class InLine {
 public:
  InLine(const Expanded& expanded, Memory& memory, Rank rank, const PrepareOptions& options, RunReference nested)
      : expanded_(expanded), memory_(memory), rank_(rank), options_(options), nested_(std::move(nested)) {}

  Result<void> region(CommandRegionId id) {
    for (const CommandId command : expanded_.regions[id].commands) TRY_VOID(run(command));
    return {};
  }

 private:
  Result<void> run(CommandId id) {
    TRY_VOID(still_wanted(options_.progress));
    const Command& c = expanded_[id];
    return std::visit(
        [&]<class T>(const T&) -> Result<void> {
          if constexpr (std::is_same_v<T, Cond>) {
            return branch(c, predicate(c) ? 0 : 1);
          } else if constexpr (std::is_same_v<T, Switch>) {
            return branch(c, switch_branch(predicate(c), c.regions.size()));
          } else if constexpr (std::is_same_v<T, While>) {
            return loop(id);
          } else if constexpr (std::is_same_v<T, AsyncStart> || std::is_same_v<T, RangeMark>) {
            return branch(c, 0);
          } else if constexpr (std::is_same_v<T, AsyncDone>) {
            return {};
          } else {
            return interpret(expanded_, c, memory_.operands(expanded_, c, rank_), memory_.results(expanded_, c, rank_),
                             nested_, options_.progress);
          }
        },
        c.payload);
  }

  std::int64_t predicate(const Command& c) { return memory_.predicate(expanded_, c, rank_); }

  Result<void> branch(const Command& c, std::size_t i) {
    if (i >= c.regions.size()) return {};
    return region(c.regions[i]);
  }

  Result<void> loop(CommandId id) {
    const Command& c = expanded_[id];
    for (std::int64_t i = 0;; ++i) {
      TRY_VOID(region(c.regions[0]));
      if (!predicate(c)) return {};
      if (i == options_.max_iterations)
        return error_at(expanded_.place(c), "STV0812", "`{}` goes on after {} iterations, which is the limit",
                        expanded_.path(id), options_.max_iterations);
      TRY_VOID(region(c.regions[1]));
    }
  }

  const Expanded& expanded_;
  Memory& memory_;
  Rank rank_;
  const PrepareOptions& options_;
  RunReference nested_;
};

}  // namespace

Result<void> KernelReferences::add(const Expanded& expanded) {
  for (std::size_t i = 0; i < expanded.commands.size(); ++i) {
    const Command& command = expanded[CommandId{i}];
    const auto* kernel = std::get_if<Kernel>(&command.payload);
    if (!kernel) continue;
    const Place place = expanded.place(command);
    if (!kernel->reference.name)
      return error_at(place, "STV0803",
                      "`{}` has no meaning on a CPU: add `reference = @f`, a function with the operands and then the "
                      "results as parameters, or run it on a GPU",
                      expanded.path(CommandId{i}));
    auto at = functions_.find(kernel->reference.name);
    if (at == functions_.end()) {
      TRY(Expansion function, expand_function(expanded, kernel->reference.name));
      at = functions_.emplace(kernel->reference.name, std::move(function)).first;
      for (const Command& c : at->second.classes[0].commands)
        if (info_of(kind_of_payload(c.payload)).family == OpFamily::Collective)
          return error_at(at->second.classes[0].place(c), "STV0805", "a kernel's reference runs on one rank");
      TRY_VOID(add(at->second.classes[0]));
      at = functions_.find(kernel->reference.name);
    }
    const Expanded& f = at->second.classes[0];
    std::vector<ViewId> views;
    for (const ViewId v : command.operands) views.push_back(v);
    for (const ViewId v : command.results) views.push_back(v);
    const bool fits =
        std::equal(views.begin(), views.end(), f.parameters.begin(), f.parameters.end(), [&](ViewId v, BufferId b) {
          return expanded[v].dtype == f.buffers[b].dtype && expanded[v].bytes == f.buffers[b].bytes;
        });
    if (!fits)
      return error_at(place, "STV0804",
                      "`{}` has {} operands and results, which are not the parameters of its reference @{} in number, "
                      "dtype and size",
                      expanded.path(CommandId{i}), views.size(), expanded.module->text(kernel->reference.name));
  }
  return {};
}

Result<void> KernelReferences::run(const Expanded&, Rank rank, const Command& kernel,
                                   std::span<const ConstOperand> operands, std::span<const Operand> results,
                                   const PrepareOptions& options) const {
  const Expanded& f = functions_.at(std::get<Kernel>(kernel.payload).reference.name).classes[0];
  Memory memory(f);
  std::vector<std::span<const std::byte>> sources;
  for (const ConstOperand& o : operands) sources.push_back(o.bytes);
  for (const Operand& o : results) sources.push_back(o.bytes);
  for (std::size_t i = 0; i < sources.size(); ++i)
    std::memcpy(memory.buffer(f.parameters[i]).data(), sources[i].data(), sources[i].size());
  const RunReference nested = [&](const Command& c, std::span<const ConstOperand> in, std::span<const Operand> out) {
    return run(f, rank, c, in, out, options);
  };
  TRY_VOID(InLine(f, memory, rank, options, nested).region(f.body));
  for (std::size_t i = 0; i < results.size(); ++i) {
    const BufferId from = f.parameters[operands.size() + i];
    std::memcpy(results[i].bytes.data(), memory.buffer(from).data(), results[i].bytes.size());
  }
  return {};
}

}  // namespace stave
