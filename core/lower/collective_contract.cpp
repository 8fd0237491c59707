#include "core/lower/collective_contract.h"

#include <fmt/format.h>

#include <algorithm>

namespace stave {

const CollectiveAttributes* attributes_of(const Command& command) {
  return std::visit(
      []<class T>(const T& op) -> const CollectiveAttributes* {
        if constexpr (CollectiveOp<T>)
          return &op;
        else
          return nullptr;
      },
      command.payload);
}

std::string collective_contract(const Expanded& expanded, const Command& command, std::size_t members) {
  std::string text;
  std::visit(
      [&]<class T>(const T& op) {
        if constexpr (std::is_same_v<T, Send> || std::is_same_v<T, Recv>)
          text = "send/recv";
        else
          text = T::info.name;
        if constexpr (std::is_same_v<T, AllReduce> || std::is_same_v<T, ReduceScatter>)
          text += fmt::format(" {}", name_of(op.reduction));
        if constexpr (std::is_same_v<T, Broadcast>) text += fmt::format(" from root {}", op.root);
        if constexpr (std::is_same_v<T, CollectivePermute>)
          for (const auto& [from, to] : expanded.pairs_of(op, members)) text += fmt::format(" {} -> {}", from, to);
      },
      command.payload);
  const View& view = expanded[command.operands.empty() ? command.results[0] : command.operands[0]];
  std::size_t buffers = std::max(command.operands.size(), command.results.size());
  return fmt::format("{} of {} bytes of {} in {} buffer{}", text, view.bytes, name_of(view.dtype), buffers,
                     buffers == 1 ? "" : "s");
}

}  // namespace stave
