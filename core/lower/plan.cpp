#include "core/lower/plan.h"

#include <array>
#include <optional>

namespace stave {

namespace {

constexpr std::array<std::string_view, 3> mode_names{"eager", "captured", "captured_serial"};

// The granularity of cudaMalloc (CUDA C++ Programming Guide, "Device Memory Accesses").
constexpr std::int64_t allocation_alignment = 256;

// The communicator that a collective in this region names, if one does.
std::optional<std::int32_t> named_in(const Expanded& expanded, IdRange<CommandRegion> regions) {
  for (const CommandRegionId region : regions)
    for (const CommandId id : expanded.regions[region].commands) {
      const Command& command = expanded[id];
      const auto own = std::visit(
          []<class T>(const T& op) -> std::optional<std::int32_t> {
            if constexpr (CollectiveOp<T>)
              return op.communicator;
            else
              return std::nullopt;
          },
          command.payload);
      if (own) return own;
      if (const auto nested = named_in(expanded, command.regions)) return nested;
    }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Mode mode) { return mode_names[static_cast<std::size_t>(mode)]; }

std::optional<Mode> mode_named(std::string_view name) {
  for (std::size_t i = 0; i < mode_names.size(); ++i)
    if (mode_names[i] == name) return static_cast<Mode>(i);
  return std::nullopt;
}

std::int64_t allocated_bytes(std::int64_t bytes) {
  return (bytes + allocation_alignment - 1) / allocation_alignment * allocation_alignment;
}

std::int64_t device_bytes(const Expanded& expanded) {
  std::int64_t sum = 0;
  for (const Buffer& buffer : expanded.buffers)
    if (buffer.space != Space::Host) sum += allocated_bytes(buffer.bytes);
  return sum;
}

std::int32_t communicator_of(const Expanded& expanded, CommandId command) {
  const Command& c = expanded[command];
  return std::visit(
      [&]<class T>(const T& op) -> std::int32_t {
        if constexpr (std::is_same_v<T, CollectivePermute> || std::is_same_v<T, Send> || std::is_same_v<T, Recv>)
          return op.communicator.value_or(1);
        else if constexpr (CollectiveOp<T>)
          return op.communicator.value_or(0);
        else
          return named_in(expanded, c.regions).value_or(0);
      },
      c.payload);
}

}  // namespace stave
