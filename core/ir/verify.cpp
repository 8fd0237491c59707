#include <algorithm>

#include "core/ir/verify_state.h"

namespace stave {
namespace {

void check_buffers(Verification& v) {
  Command at_top;
  at_top.frame = FrameId{};
  for (const Buffer& b : v.e.buffers) {
    if (b.kind != Buffer::Kind::Constant || !b.literals) continue;
    std::int64_t elements = 1;
    for (const std::int64_t dim : b.shape) elements *= dim;
    const auto given = static_cast<std::int64_t>(v.e.literals[b.literals].size());
    // Buffers have no command; the place keeps them apart for the report.
    at_top.op = OpId{b.loc};
    if (given != elements && given != 1)
      v.problem(at_top, b.loc, "STV0470", "constant %{} of {} takes {} element(s), or one for all; got {}",
                v.e.module->text(b.name), type_text(b.dtype, b.shape), elements, given);
  }
}

// Bounds of the bytes, and what must not be written.
void check_views(Verification& v, const Command& c) {
  const auto in_bounds = [&](const View& view) {
    const CoordFacts facts = v.facts(view.offset);
    const std::int64_t room = v.e.buffers[view.buffer].bytes - view.bytes;
    if (facts.low >= 0 && facts.high <= room) return;
    for_each_own_coordinate(v.e, facts.axes, [&](std::span<const std::int64_t> at) {
      const std::int64_t offset = value_at(v.e.coord_exprs, view.offset, at);
      if (offset >= 0 && offset <= room) return true;
      v.problem(c, view.loc, "STV0400", "a view of {} bytes at offset {} is outside {} of {} bytes{}", view.bytes,
                offset, v.name(view), v.e.buffers[view.buffer].bytes,
                facts.axes ? " at " + coordinates_text(v.e.mesh, facts.axes, at) : "");
      return false;
    });
  };
  for (const ViewId id : c.operands) in_bounds(v.e.views[id]);
  for (const ViewId id : c.results) {
    const View& view = v.e.views[id];
    in_bounds(view);
    const Buffer& b = v.e.buffers[view.buffer];
    if (b.kind == Buffer::Kind::Parameter && b.direction == Direction::In) {
      v.problem(c, view.loc, "STV0472", "%{} is an `in` parameter and must not be written", v.e.module->text(b.name));
      v.note("STV0472", "the parameter", b.loc);
    } else if (b.kind == Buffer::Kind::Constant) {
      v.problem(c, view.loc, "STV0473", "%{} is a constant and must not be written", v.e.module->text(b.name));
      v.note("STV0473", "the constant", b.loc);
    }
  }
}

template <class T>
concept HasCheck = requires(Verification& v, const Command& c, const T& op) {
  check(v, c, op);
};

void check_command(Verification& v, const Command& c) {
  check_views(v, c);
  std::visit(
      [&]<class T>(const T& op) {
        if constexpr (HasCheck<T>)
          check(v, c, op);
        else
          static_assert(sizeof(T) == 0, "declare a check() overload for this op in core/ir/verify_state.h");
      },
      c.payload);
}

void check_region(Verification& v, CommandRegionId id) {
  for (const CommandId at : v.e.regions[id].commands) {
    if (v.full()) return;
    const Command& c = v.e[at];
    check_command(v, c);
    for (const CommandRegionId region : c.regions) check_region(v, region);
  }
}

}  // namespace

void Verification::add(const Command& c, Loc loc, std::string_view code, std::string message) {
  Problem problem;
  problem.code = code;
  problem.message = std::move(message);
  problem.place = loc != no_loc ? e.module->place(loc) : c.op ? e.place(c) : Place{.file = e.module->file};
  problem.notes = context_notes(e, c.frame, c.iteration);
  problems_->push_back(std::move(problem));
}

void Verification::note(std::string_view code, std::string message, Loc loc) {
  if (problems_->empty() || problems_->back().code != code) return;
  auto& notes = problems_->back().notes;
  Note note{std::move(message), e.module->place(loc)};
  // The first note only: a rule may be broken again without being reported again.
  for (const Note& other : notes)
    if (other == note) return;
  notes.insert(notes.begin(), std::move(note));
}

std::string Verification::name(const View& v) const {
  return fmt::format("%{}", e.module->text(e.buffers[v.buffer].name));
}

Relation Verification::relation(const View& a, const View& b) const {
  Relation out;
  if (a.buffer != b.buffer) return out;
  const auto judge = [&](std::int64_t a_begin, std::int64_t b_begin) {
    if (a_begin >= b_begin + b.bytes || b_begin >= a_begin + a.bytes) return;
    out.overlap = true;
    if (a_begin != b_begin || a.bytes != b.bytes) out.partial = true;
  };
  if (a.offset == b.offset) {
    judge(0, 0);
    return out;
  }
  const CoordFacts fa = facts(a.offset), fb = facts(b.offset);
  if (fa.low >= fb.high + b.bytes || fb.low >= fa.high + a.bytes) return out;
  const std::uint64_t axes = fa.axes | fb.axes;
  for_each_own_coordinate(e, axes, [&](std::span<const std::int64_t> at) {
    const bool before = out.overlap;
    judge(value_at(e.coord_exprs, a.offset, at), value_at(e.coord_exprs, b.offset, at));
    if (axes && (out.partial || (out.overlap && !before))) out.where = " at " + coordinates_text(e.mesh, axes, at);
    return !out.partial;
  });
  return out;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> Verification::near_pairs(std::span<const ViewId> views) const {
  struct Item {
    BufferId buffer;
    std::int64_t low, high;
    std::uint32_t position;
  };
  std::vector<Item> items;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const View& view = e.views[views[i]];
    const CoordFacts f = facts(view.offset);
    items.push_back({view.buffer, f.low, f.high + view.bytes, static_cast<std::uint32_t>(i)});
  }
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::tie(a.buffer, a.low, a.position) < std::tie(b.buffer, b.low, b.position);
  });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (std::size_t i = 0; i < items.size(); ++i)
    for (std::size_t j = i + 1; j < items.size(); ++j) {
      if (items[j].buffer != items[i].buffer || items[j].low >= items[i].high) break;
      out.emplace_back(std::min(items[i].position, items[j].position), std::max(items[i].position, items[j].position));
      if (out.size() > 4 * views.size() + 1000) return out;  // enough to find a problem; keeps it linear
    }
  std::sort(out.begin(), out.end());
  return out;
}

void check_device(Verification& v, const Command& c) {
  const auto one = [&](ViewId id) {
    const View& view = v.e.views[id];
    if (v.e.buffers[view.buffer].space != Space::Host) return;
    v.problem(c, view.loc, "STV0403", "{} needs device or symmetric memory; {} is in host memory",
              info_of(kind_of_payload(c.payload)).name, v.name(view));
  };
  for (const ViewId id : c.operands) one(id);
  for (const ViewId id : c.results) one(id);
}

void check_sharing(Verification& v, const Command& c, Sharing sharing, std::size_t skip_operand) {
  const auto pair = [&](const View& in, const View& out) {
    const Relation r = v.relation(in, out);
    const std::string_view op = info_of(kind_of_payload(c.payload)).name;
    if (sharing == Sharing::Disjoint && r.overlap)
      v.problem(c, out.loc, "STV0481", "source and destination of {} must be disjoint; {} and {} share bytes{}", op,
                view_text(v.e, in), view_text(v.e, out), r.where);
    if (sharing == Sharing::EqualOrDisjoint && r.partial)
      v.problem(c, out.loc, "STV0480",
                "source and destination of {} must be equal or disjoint; {} and {} overlap in part{}", op,
                view_text(v.e, in), view_text(v.e, out), r.where);
  };
  // A handful of views is the rule; an all_to_all may have thousands.
  if (c.operands.size() * c.results.size() <= 64) {
    for (std::size_t i = 0; i < c.operands.size(); ++i)
      for (const ViewId out : c.results)
        if (i != skip_operand) pair(v.operand(c, i), v.e.views[out]);
    return;
  }
  std::vector<ViewId> all;
  for (const ViewId id : c.operands) all.push_back(id);
  for (const ViewId id : c.results) all.push_back(id);
  v.for_each_near_pair(all, [&](std::size_t i, std::size_t j) {
    if (i < c.operands.size() && j >= c.operands.size() && i != skip_operand)
      pair(v.e.views[all[i]], v.e.views[all[j]]);
  });
}

void check_results_disjoint(Verification& v, const Command& c) {
  if (c.results.size() < 2) return;
  std::vector<ViewId> all;
  for (const ViewId id : c.results) all.push_back(id);
  v.for_each_near_pair(all, [&](std::size_t i, std::size_t j) {
    const View &a = v.e.views[all[i]], &b = v.e.views[all[j]];
    if (const Relation r = v.relation(a, b); r.overlap)
      v.problem(c, b.loc, "STV0483", "two results of {} must be disjoint; {} and {} share bytes{}",
                info_of(kind_of_payload(c.payload)).name, view_text(v.e, a), view_text(v.e, b), r.where);
  });
}

Problems verify(const Expansion& expansion) {
  Problems problems;
  for (const Expanded& e : expansion.classes) {
    Verification v(e, problems);
    check_buffers(v);
    check_region(v, e.body);
    check_tokens(v);
  }
  return problems;
}

}  // namespace stave
