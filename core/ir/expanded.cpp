#include "core/ir/expanded.h"

#include <algorithm>

#include "core/ir/expand_coord.h"

namespace stave {
namespace {

// Position of the coordinates in the flattened axes, last of them fastest.
std::uint32_t flat_position(const Mesh& mesh, const Axes& axes, std::span<const std::int64_t> coordinates) {
  std::int64_t position = 0;
  for (const std::uint32_t axis : axes) position = position * mesh.sizes[axis] + coordinates[axis];
  return static_cast<std::uint32_t>(position);
}

void set_flat_position(const Mesh& mesh, const Axes& axes, std::int64_t position, std::vector<std::int64_t>& at) {
  for (std::size_t i = axes.size(); i-- > 0;) {
    at[axes[i]] = position % mesh.sizes[axes[i]];
    position /= mesh.sizes[axes[i]];
  }
}

std::string elem_text(const Expanded& e, OpId id, IterationId iteration) {
  const Module& m = *e.module;
  const Op& op = m.ops[id];
  const ExprId name = m.attr(op, "name");
  std::string out;
  if (name && m.exprs[name].kind == ExprKind::String) {
    out = m.text(m.exprs[name].string());
  } else {
    const std::uint32_t ordinal = e.ordinals && id.value < e.ordinals->size() ? (*e.ordinals)[id.value] : 0;
    out = fmt::format("{}#{}", info_of(op.kind).name, ordinal);
  }
  std::string indices;
  for (; iteration; iteration = e.iterations[iteration].outer) {
    const Iteration& i = e.iterations[iteration];
    indices = fmt::format("{}={}{}{}", m.text(i.index), i.value, indices.empty() ? "" : ",", indices);
  }
  if (!indices.empty()) out += fmt::format("[{}]", indices);
  return out;
}

}  // namespace

std::int64_t Mesh::ranks() const {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return n;
}

std::vector<std::int64_t> Mesh::coordinates(Rank rank) const {
  std::vector<std::int64_t> at(sizes.size());
  std::int64_t rest = rank;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    at[i] = rest % sizes[i];
    rest /= sizes[i];
  }
  return at;
}

Rank Mesh::rank_at(std::span<const std::int64_t> coordinates) const {
  std::int64_t rank = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) rank = rank * sizes[i] + coordinates[i];
  return static_cast<Rank>(rank);
}

GroupOfRank group_of(const Mesh& mesh, const Axes& axes, const Groups& groups, Rank rank) {
  std::vector<std::int64_t> at = mesh.coordinates(rank);
  const std::uint32_t flat = flat_position(mesh, axes, at);
  GroupOfRank out;
  const auto add = [&](std::uint32_t position) {
    set_flat_position(mesh, axes, position, at);
    out.members.push_back(mesh.rank_at(at));
  };
  if (groups.empty()) {
    std::uint32_t n = 1;
    for (const std::uint32_t axis : axes) n *= static_cast<std::uint32_t>(mesh.sizes[axis]);
    out.members.reserve(n);
    for (std::uint32_t p = 0; p < n; ++p) add(p);
    out.position = flat;
    return out;
  }
  for (const auto& group : groups) {
    const auto found = std::find(group.begin(), group.end(), flat);
    if (found == group.end()) continue;
    out.position = static_cast<std::uint32_t>(found - group.begin());
    for (const std::uint32_t p : group) add(p);
    return out;
  }
  return out;
}

std::span<const std::int64_t> Expanded::shape(const View& view) const {
  return std::span<const std::int64_t>(dims.raw()).subspan(view.shape.first, view.shape.count);
}

std::int64_t Expanded::elements(const View& view) const {
  std::int64_t n = 1;
  for (const std::int64_t dim : shape(view)) n *= dim;
  return n;
}

std::int64_t Expanded::at(CoordInt value, Rank rank) const {
  if (!value.varying) return value.constant;
  return value_at(coord_exprs, value, mesh.coordinates(rank));
}

Place Expanded::place(const Command& command) const {
  return command.op ? module->place(module->ops[command.op].loc) : Place{.file = module->file};
}

std::string Expanded::path(CommandId id) const {
  const Command& command = commands[id];
  std::string out = elem_text(*this, command.op, command.iteration);
  FrameId frame = command.frame;
  for (; frames[frame].caller; frame = frames[frame].caller)
    out = fmt::format("{}/{}", elem_text(*this, frames[frame].call, frames[frame].iteration), out);
  return fmt::format("{}/{}", module->text(module->functions[frames[frame].function].name), out);
}

GroupOfRank Expanded::group_of(const CollectiveAttributes& collective, Rank rank) const {
  static const Axes no_axes;
  static const Groups no_groups;
  return stave::group_of(mesh, collective.axis ? axes[collective.axis] : no_axes,
                         collective.groups ? groups[collective.groups] : no_groups, rank);
}

Pairs Expanded::pairs_of(const CollectivePermute& permute, std::size_t n) const {
  if (permute.pairs) return pairs[permute.pairs];
  Pairs out;
  if (!permute.shift) return out;
  const auto size = static_cast<std::int64_t>(n);
  for (std::int64_t p = 0; p < size; ++p)
    out.emplace_back(static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(floor_mod(p + *permute.shift, size)));
  return out;
}

}  // namespace stave
