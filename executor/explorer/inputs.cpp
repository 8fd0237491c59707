#include "executor/explorer/inputs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "core/ir/interpret/number.h"

namespace stave::explorer {

namespace {

constexpr std::int32_t counter_values = 4;

// The coordinates on all axes but the uniform ones; those are -1.
std::vector<std::int64_t> coordinates(const Expanded& e, const Buffer& buffer, Rank rank) {
  std::vector<std::int64_t> at = e.mesh.coordinates(rank);
  for (const std::uint32_t axis : buffer.uniform) at[axis] = -1;
  return at;
}

std::int32_t values_of(const Expanded& e, BufferId buffer) {
  if (e.buffers[buffer].dtype == Dtype::Bool) return 2;
  std::size_t branches = 0;
  bool counts = false;
  for (const Command& command : e.commands)
    for (const ViewId view : command.operands) {
      if (e[view].buffer != buffer) continue;
      if (std::holds_alternative<Switch>(command.payload))
        branches = std::max(branches, command.regions.size());
      else
        counts = true;
    }
  return std::max(static_cast<std::int32_t>(branches) + 1, counts ? counter_values : 0);
}

}  // namespace

std::vector<Input> inputs_of(const Facts& facts) {
  std::vector<Input> inputs;
  std::map<std::tuple<std::string, std::vector<std::int64_t>, std::int64_t>, std::size_t> known;
  for (Rank rank = 0; rank < facts.ranks.size(); ++rank) {
    const Expanded& e = facts.ranks[rank].rank_class->expanded;
    for (const BufferId id : e.parameters) {
      const Buffer& buffer = e.buffers[id];
      if (facts.carrying[facts.plan->class_of_rank[rank]][id.value] == 0) continue;
      if (buffer.direction == Direction::Out || (buffer.dtype != Dtype::Bool && !is_integer(buffer.dtype))) continue;
      const std::int64_t size = bits_of(buffer.dtype) <= 8 ? 1 : bits_of(buffer.dtype) / 8;
      const std::string name(e.module->text(buffer.name));
      for (std::int64_t i = 0; i < buffer.bytes / size; ++i) {
        const auto [at, added] = known.try_emplace({name, coordinates(e, buffer, rank), i}, inputs.size());
        if (added) {
          Input& made = inputs.emplace_back();
          made.name = buffer.shape.empty() ? fmt::format("%{}", name) : fmt::format("%{}[{}]", name, i);
          made.dtype = buffer.dtype;
        }
        Input& input = inputs[at->second];
        input.values = std::max(input.values, values_of(e, id));
        input.places.push_back({rank, facts.ranks[rank].buffers[id.value] + static_cast<std::uint32_t>(i * size)});
      }
    }
  }
  return inputs;
}

void write(State& state, const Input& input, std::int32_t value) {
  for (const Input::Place& place : input.places) {
    const auto bytes = std::span(state.ranks[place.rank].values).subspan(place.address);
    store_signed(bytes, input.dtype, 0, value);
  }
}

}  // namespace stave::explorer
