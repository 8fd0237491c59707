// The rules of collectives: axes, groups, sizes, dtypes, partners (rules 9, 10, 12 to 14, 17).
#include <algorithm>
#include <numeric>

#include "core/ir/verify_state.h"

namespace stave {
namespace {

std::string_view op_name(const Command& c) { return info_of(kind_of_payload(c.payload)).name; }

// Rule 17; f8 as NCCL 2.24 and later on compute capability 9.0 and up.
bool reducible(Dtype d) {
  switch (d) {
    case Dtype::S8:
    case Dtype::U8:
    case Dtype::S32:
    case Dtype::U32:
    case Dtype::S64:
    case Dtype::U64:
    case Dtype::F8E4M3:
    case Dtype::F8E5M2:
    case Dtype::F16:
    case Dtype::BF16:
    case Dtype::F32:
    case Dtype::F64: return true;
    default: return false;
  }
}

// Which algorithms an op has: NCCL's rings, trees and NVLink SHARP, and copy
// engines where data only moves.
template <class T>
constexpr bool has_algorithm(Algorithm a) {
  constexpr bool reduces = std::is_same_v<T, AllReduce> || std::is_same_v<T, ReduceScatter>;
  constexpr bool gathers = std::is_same_v<T, AllGather>;
  constexpr bool broadcasts = std::is_same_v<T, Broadcast>;
  switch (a) {
    case Algorithm::Automatic: return true;
    case Algorithm::Ring: return reduces || gathers || broadcasts;
    case Algorithm::Tree: return std::is_same_v<T, AllReduce>;
    case Algorithm::Nvls: return reduces || gathers;
    case Algorithm::CopyEngine: return !reduces && !broadcasts;
  }
  return false;
}

// What holds for all collectives. False if the groups make no sense, so that
// nothing that counts their members can be judged.
template <CollectiveOp T>
bool check_common(Verification& v, const Command& c, const T& op) {
  check_device(v, c);
  if (op.max_ctas < 0) v.problem(c, "STV0515", "max_ctas is a number of CTAs or 0 for no limit, got {}", op.max_ctas);
  if (op.communicator && *op.communicator < 0)
    v.problem(c, "STV0517", "communicator is a number from 0, got {}", *op.communicator);
  if (!has_algorithm<T>(op.algorithm))
    v.problem(c, "STV0516", "{} has no algorithm `{}`", op_name(c), name_of(op.algorithm));
  const GroupFacts& groups = v.groups(op);
  if (groups.problem.empty()) return true;
  v.problem(c, v.e.axes[op.axis].empty() ? "STV0500" : "STV0501", "{}", groups.problem);
  return false;
}

void check_same_dtype(Verification& v, const Command& c, const View& in, const View& out) {
  if (in.dtype != out.dtype)
    v.problem(c, out.loc, "STV0507", "{} keeps the dtype, got {} and {}", op_name(c), name_of(in.dtype),
              name_of(out.dtype));
}

void check_reduction_dtype(Verification& v, const Command& c) {
  const Dtype d = v.operand(c, 0).dtype;
  if (!reducible(d))
    v.problem(c, v.operand(c, 0).loc, "STV0508",
              "{} reduces s8 u8 s32 u32 s64 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64, got {}", op_name(c), name_of(d));
}

void check_same_size(Verification& v, const Command& c) {
  const View &in = v.operand(c, 0), &out = v.result(c, 0);
  check_same_dtype(v, c, in, out);
  if (v.e.elements(in) != v.e.elements(out))
    v.problem(c, out.loc, "STV0503", "source and destination of {} have one size, got {} and {}", op_name(c),
              v.type(in), v.type(out));
}

// whole = n times the shard, for each size of group.
void check_ratio(Verification& v, const Command& c, const CollectiveAttributes& op, const View& whole,
                 const View& shard, std::string_view code, std::string_view words) {
  for (const std::uint32_t n : v.groups(op).sizes)
    if (v.e.elements(whole) != v.e.elements(shard) * n) {
      v.problem(c, whole.loc, code, "{} in a group of {}: {}, got {} and {}", op_name(c), n, words,
                v.type(v.operand(c, 0)), v.type(v.result(c, 0)));
      return;
    }
}

// The position of a rank in its group and the group's size.
struct Position {
  std::int64_t position = 0;
  std::int64_t size = 1;
};
Position position_at(const Expanded& e, const CollectiveAttributes& op, std::span<const std::int64_t> at) {
  std::int64_t flat = 0, all = 1;
  for (const std::uint32_t axis : e.axes[op.axis]) {
    flat = flat * e.mesh.sizes[axis] + at[axis];
    all *= e.mesh.sizes[axis];
  }
  if (!op.groups) return {flat, all};
  for (const auto& group : e.groups[op.groups])
    for (std::size_t i = 0; i < group.size(); ++i)
      if (group[i] == flat) return {static_cast<std::int64_t>(i), static_cast<std::int64_t>(group.size())};
  return {};
}

std::uint64_t axes_of(const Expanded& e, const CollectiveAttributes& op) {
  std::uint64_t out = 0;
  for (const std::uint32_t axis : e.axes[op.axis]) out |= std::uint64_t{1} << axis;
  return out;
}

// Rule 10: in place, the shard is position r of the whole.
void check_in_place(Verification& v, const Command& c, const CollectiveAttributes& op, const View& shard,
                    const View& whole) {
  if (!v.relation(shard, whole).overlap) return;
  const std::uint64_t axes = v.facts(shard.offset).axes | v.facts(whole.offset).axes | axes_of(v.e, op);
  for_each_own_coordinate(v.e, axes, [&](std::span<const std::int64_t> at) {
    const std::int64_t s = value_at(v.e.coord_exprs, shard.offset, at);
    const std::int64_t w = value_at(v.e.coord_exprs, whole.offset, at);
    if (s >= w + whole.bytes || w >= s + shard.bytes) return true;
    const std::int64_t r = position_at(v.e, op, at).position;
    if (s == w + r * shard.bytes) return true;
    v.problem(c, shard.loc, "STV0482",
              "{} in place: the shard is position r of the whole; at {} that is byte {}, got byte {}", op_name(c),
              coordinates_text(v.e.mesh, axes, at), r * shard.bytes, s - w);
    return false;
  });
}

void check_peer(Verification& v, const Command& c, const CollectiveAttributes& op, CoordInt peer) {
  const std::uint64_t axes = v.facts(peer).axes | axes_of(v.e, op);
  for_each_own_coordinate(v.e, axes, [&](std::span<const std::int64_t> at) {
    const std::int64_t p = value_at(v.e.coord_exprs, peer, at);
    const Position own = position_at(v.e, op, at);
    if (p < 0 || p >= own.size) {
      v.problem(c, "STV0513", "peer is a position from 0 to {} inside the group, got {} at {}", own.size - 1, p,
                coordinates_text(v.e.mesh, axes, at));
      return false;
    }
    if (p != own.position) return true;
    v.problem(c, "STV0514", "{} has itself as peer: {} at {}", op_name(c), p, coordinates_text(v.e.mesh, axes, at));
    return false;
  });
}

}  // namespace

const GroupFacts& Verification::groups(const CollectiveAttributes& c) {
  const auto [at, added] = groups_.try_emplace({c.axis.value, c.groups.value});
  GroupFacts& facts = at->second;
  if (!added) return facts;
  const Axes& axes = e.axes[c.axis];
  std::uint64_t seen = 0;
  std::int64_t n = 1;
  if (axes.empty()) facts.problem = "a collective needs at least one mesh axis";
  for (const std::uint32_t axis : axes) {
    if (seen >> axis & 1) facts.problem = fmt::format("the axis `{}` is named twice", e.mesh.axes[axis]);
    seen |= std::uint64_t{1} << axis;
  }
  if (!facts.problem.empty()) return facts;
  for (const std::uint32_t axis : axes) n *= e.mesh.sizes[axis];
  if (!c.groups) {
    facts.sizes.push_back(static_cast<std::uint32_t>(n));
    return facts;
  }
  std::vector<bool> covered(static_cast<std::size_t>(n));
  for (const auto& group : e.groups[c.groups]) {
    if (group.empty()) facts.problem = "a group must not be empty";
    for (const std::uint32_t i : group) {
      if (i >= n)
        facts.problem = fmt::format("groups hold positions from 0 to {}, got {}", n - 1, i);
      else if (covered[i])
        facts.problem = fmt::format("groups cover each position once; {} stands twice", i);
      else
        covered[i] = true;
      if (!facts.problem.empty()) return facts;
    }
    facts.sizes.push_back(static_cast<std::uint32_t>(group.size()));
  }
  const auto missing = std::find(covered.begin(), covered.end(), false);
  if (missing != covered.end() && facts.problem.empty())
    facts.problem = fmt::format("groups cover each position once; {} is missing", missing - covered.begin());
  std::sort(facts.sizes.begin(), facts.sizes.end());
  facts.sizes.erase(std::unique(facts.sizes.begin(), facts.sizes.end()), facts.sizes.end());
  return facts;
}

void check(Verification& v, const Command& c, const AllReduce& op) {
  check_common(v, c, op);
  check_same_size(v, c);
  check_reduction_dtype(v, c);
  check_sharing(v, c, Sharing::EqualOrDisjoint);
}

void check(Verification& v, const Command& c, const AllGather& op) {
  check_same_dtype(v, c, v.operand(c, 0), v.result(c, 0));
  if (!check_common(v, c, op)) return;
  check_ratio(v, c, op, v.result(c, 0), v.operand(c, 0), "STV0504", "the destination is n times the source");
  check_in_place(v, c, op, v.operand(c, 0), v.result(c, 0));
}

void check(Verification& v, const Command& c, const ReduceScatter& op) {
  check_same_dtype(v, c, v.operand(c, 0), v.result(c, 0));
  check_reduction_dtype(v, c);
  if (!check_common(v, c, op)) return;
  check_ratio(v, c, op, v.operand(c, 0), v.result(c, 0), "STV0505", "the source is n times the destination");
  check_in_place(v, c, op, v.result(c, 0), v.operand(c, 0));
}

void check(Verification& v, const Command& c, const AllToAll& op) {
  check_sharing(v, c, Sharing::Disjoint);
  check_results_disjoint(v, c);
  const View& first = v.operand(c, 0);
  const auto same = [&](ViewId id) {
    const View& view = v.e.views[id];
    check_same_dtype(v, c, first, view);
    if (v.e.elements(view) != v.e.elements(first))
      v.problem(c, view.loc, "STV0506", "all views of all_to_all have one size, got {} and {}", v.type(first),
                v.type(view));
  };
  for (const ViewId id : c.operands) same(id);
  for (const ViewId id : c.results) same(id);
  if (!check_common(v, c, op)) return;
  for (const std::uint32_t n : v.groups(op).sizes) {
    if (c.operands.size() != c.results.size() || (c.operands.size() != 1 && c.operands.size() != n)) {
      v.problem(c, "STV0509", "all_to_all in a group of {} takes one view or {} on each side, got {} and {}", n, n,
                c.operands.size(), c.results.size());
      return;
    }
    if (c.operands.size() == 1 && (v.e.elements(first) % n != 0 || first.bytes % n != 0)) {
      v.problem(c, first.loc, "STV0506", "all_to_all splits its source in {} equal parts of whole bytes, got {}", n,
                v.type(first));
      return;
    }
  }
}

void check(Verification& v, const Command& c, const CollectivePermute& op) {
  check_same_size(v, c);
  check_sharing(v, c, Sharing::Disjoint);
  if (op.pairs && op.shift) v.problem(c, "STV0510", "collective_permute takes `pairs` or `shift`, got both");
  if (!op.pairs && !op.shift) v.problem(c, "STV0510", "collective_permute takes `pairs` or `shift`, got neither");
  if (!check_common(v, c, op) || !op.pairs) return;
  const std::uint32_t n = v.groups(op).sizes.front();
  std::vector<bool> source(n), target(n);
  for (const auto& [from, to] : v.e.pairs[op.pairs]) {
    if (from >= n || to >= n) {
      v.problem(c, "STV0511", "pairs hold positions from 0 to {} inside the group, got {} -> {}", n - 1, from, to);
      return;
    }
    if (source[from] || target[to])
      v.problem(c, "STV0518", "each position sends once and receives once, {} {} twice", source[from] ? from : to,
                source[from] ? "sends" : "receives");
    source[from] = target[to] = true;
  }
}

void check(Verification& v, const Command& c, const Broadcast& op) {
  check_same_size(v, c);
  check_sharing(v, c, Sharing::EqualOrDisjoint);
  if (!check_common(v, c, op)) return;
  const auto n = static_cast<std::int64_t>(v.groups(op).sizes.front());
  if (op.root < 0 || op.root >= n)
    v.problem(c, "STV0512", "root is a position from 0 to {} inside the group, got {}", n - 1, op.root);
}

void check(Verification& v, const Command& c, const Send& op) {
  if (check_common(v, c, op)) check_peer(v, c, op, op.peer);
}

void check(Verification& v, const Command& c, const Recv& op) {
  if (check_common(v, c, op)) check_peer(v, c, op, op.peer);
}

// Rule 14.
void check(Verification& v, const Command& c, const CollectiveGroup&) {
  const CommandRegion& region = v.e.regions[c.regions[0]];
  if (region.commands.empty()) v.problem(c, "STV0521", "a collective_group must hold a collective");
  std::optional<std::int32_t> first;
  std::vector<ViewId> views;
  std::vector<std::uint32_t> owner;
  std::vector<bool> writes;
  for (const CommandId id : region.commands) {
    const Command& inner = v.e[id];
    const CollectiveAttributes* attributes = nullptr;
    std::visit(
        [&]<class T>(const T& op) {
          if constexpr (CollectiveOp<T>) attributes = &op;
        },
        inner.payload);
    if (!attributes) {
      v.problem(inner, "STV0520", "a collective_group holds collectives only, got {}", op_name(inner));
      continue;
    }
    const std::int32_t communicator = attributes->communicator.value_or(0);
    if (!first) first = communicator;
    if (communicator != *first)
      v.problem(inner, "STV0522",
                "a collective_group is one launch on one communicator (0 if not written), got {} and {}", *first,
                communicator);
    const auto add = [&](ViewId view, bool written) {
      views.push_back(view);
      owner.push_back(id.value);
      writes.push_back(written);
    };
    for (const ViewId view : inner.operands) add(view, false);
    for (const ViewId view : inner.results) add(view, true);
  }
  v.for_each_near_pair(views, [&](std::size_t i, std::size_t j) {
    if (owner[i] == owner[j] || (!writes[i] && !writes[j])) return;
    const View &a = v.e.views[views[i]], &b = v.e.views[views[j]];
    const Relation r = v.relation(a, b);
    if (!r.overlap) return;
    const std::string_view code = writes[i] && writes[j] ? "STV0523" : "STV0524";
    v.problem(c, b.loc, code,
              "commands of a collective_group are unordered: {}, which is {}, and {}, which is {}, share bytes{}",
              view_text(v.e, a), writes[i] ? "written" : "read", view_text(v.e, b), writes[j] ? "written" : "read",
              r.where);
    v.note(code, "the other", a.loc);
  });
}

}  // namespace stave
