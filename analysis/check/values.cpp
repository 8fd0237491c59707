#include "analysis/check/values.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace stave::check {
namespace {

// splitmix64's finaliser (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The name of something made of parts, in their order.
class Name {
 public:
  explicit Name(std::string_view kind) {
    for (const char c : kind) *this << static_cast<unsigned char>(c);
  }
  template <class T>
  Name& operator<<(T part) {
    name_ = mix(name_ ^ static_cast<std::uint64_t>(part));
    return *this;
  }
  std::uint64_t value() const { return name_; }

 private:
  std::uint64_t name_ = 0;
};

std::optional<std::int64_t> same_number(const Literals& literals) {
  if (literals.empty() || is_float(literals[0].dtype)) return std::nullopt;
  for (const Scalar& s : literals)
    if (s.integer != literals[0].integer) return std::nullopt;
  return literals[0].integer;
}

template <class F>
bool any_inside(const Expanded& e, const Command& command, const F& f) {
  for (const CommandRegionId region : command.regions)
    for (const CommandId id : e.regions[region].commands)
      if (f(e[id]) || any_inside(e, e[id], f)) return true;
  return false;
}

template <class F>
bool any_result(const Command& command, const F& f) {
  for (const ViewId view : command.results)
    if (f(view)) return true;
  return false;
}

bool is_control(const Command& command) {
  return std::holds_alternative<Cond>(command.payload) || std::holds_alternative<Switch>(command.payload) ||
         std::holds_alternative<While>(command.payload);
}

}  // namespace

bool Control::varies(const Expanded& e) const {
  for (const View& view : e.views)
    if (view.offset.varying && relevant[view.buffer.value]) return true;
  return false;
}

namespace {

class Slicing {
 public:
  explicit Slicing(const Expanded& e) : e_(e) {
    out_.decides.resize(e.commands.size());
    out_.relevant.resize(e.buffers.size());
  }

  template <class Decides>
  Control run(const Decides& decides) {
    do {
      grew_ = false;
      for (std::uint32_t i = 0; i < e_.commands.size(); ++i) {
        const Command& command = e_.commands[CommandId{i}];
        if (is_control(command)) {
          if (!out_.decides[i] && (decides(command) || writes_relevant(command))) out_.decides[i] = grew_ = true;
          if (out_.decides[i]) mark(command.operands[0]);
        } else if (writes(command)) {
          for (const ViewId view : command.operands) mark(view);
        }
      }
    } while (grew_);
    return std::move(out_);
  }

 private:
  void mark(ViewId view) {
    const std::uint32_t buffer = e_[view].buffer.value;
    grew_ |= !out_.relevant[buffer];
    out_.relevant[buffer] = true;
  }
  bool writes(const Command& command) const {
    return any_result(command, [&](ViewId view) { return out_.relevant[e_[view].buffer.value]; });
  }
  bool writes_relevant(const Command& command) const {
    return any_inside(e_, command, [&](const Command& inner) { return writes(inner); });
  }

  const Expanded& e_;
  Control out_;
  bool grew_ = false;
};

}  // namespace

Control all_control(const Expanded& e) {
  return Slicing(e).run([](const Command&) { return true; });
}

Control control_of_meetings(const Expanded& e) {
  return Slicing(e).run([&](const Command& command) {
    return any_inside(e, command, [](const Command& inner) {
      return std::holds_alternative<AsyncStart>(inner.payload) ||
             std::visit([]<class Op>(const Op&) { return CollectiveOp<Op>; }, inner.payload);
    });
  });
}

Values::Values(const Expanded& expanded, Rank rank, const std::vector<bool>& relevant, Agreements* agreements,
               bool alone)
    : e_(expanded),
      rank_(rank),
      relevant_(relevant),
      agreements_(agreements),
      alone_(alone),
      apart_(expanded.buffers.size()),
      buffers_(expanded.buffers.size()) {
  for (std::uint32_t axis = 0; axis < e_.mesh.sizes.size(); ++axis)
    if (e_.mesh.sizes[axis] > 1) all_axes_ |= std::uint64_t{1} << axis;
  for (std::uint32_t i = 0; i < e_.buffers.size(); ++i)
    if (relevant_[i]) {
      const Buffer& buffer = e_.buffers[BufferId{i}];
      buffers_[i][0] = {buffer.bytes, 0, buffer.bytes, entry_value(buffer, BufferId{i})};
    }
}

// The coordinates of the rank along some axes.
std::uint64_t Values::place(std::uint64_t axes) const {
  const std::vector<std::int64_t> at = e_.mesh.coordinates(rank_);
  Name name("place");
  for (std::uint32_t axis = 0; axis < at.size(); ++axis)
    if (axes >> axis & 1) name << axis << at[axis];
  return name.value();
}

Value Values::entry_value(const Buffer& buffer, BufferId id) const {
  if (buffer.kind == Buffer::Kind::Constant) {
    const Literals& literals = e_.literals[buffer.literals];
    Name name("constant");
    for (const Scalar& s : literals) name << s.integer << std::bit_cast<std::uint64_t>(s.number);
    return {name.value(), name.value(), 0, true, same_number(literals)};
  }
  Name recipe(buffer.kind == Buffer::Kind::Parameter ? "parameter" : "scratch");
  if (buffer.kind == Buffer::Kind::Parameter)
    for (const char c : e_.module->text(buffer.name)) recipe << c;
  else
    recipe << id.value << e_.ranks[0];
  std::uint64_t varies = all_axes_;
  for (const std::uint32_t axis : buffer.uniform) varies &= ~(std::uint64_t{1} << axis);
  const std::uint64_t name = varies == 0 ? recipe.value() : (Name("at") << recipe.value() << place(varies)).value();
  return {name, recipe.value(), varies, true, std::nullopt};
}

Value Values::read(ViewId id) const {
  const View& view = e_[id];
  if (!relevant_[view.buffer.value]) return {Name("irrelevant").value(), 0, all_axes_, false, std::nullopt};
  const Pieces& pieces = buffers_[view.buffer.value];
  const std::int64_t begin = e_.at(view.offset, rank_);
  const std::int64_t end = begin + view.bytes;
  auto at = std::prev(pieces.upper_bound(begin));
  const Piece& first = at->second;
  Value value;
  if (at->first <= begin && first.end >= end &&
      (first.value.number || (first.from == begin && first.whole == view.bytes))) {
    value = first.value;
  } else {
    Name name("pieces"), recipe("pieces");
    for (; at != pieces.end() && at->first < end; ++at) {
      const Piece& piece = at->second;
      const std::int64_t from = std::max(at->first, begin);
      const std::int64_t bytes = std::min(piece.end, end) - from;
      name << piece.value.name << from - piece.from << bytes;
      recipe << piece.value.recipe << from - piece.from << bytes;
      value.varies |= piece.value.varies;
      value.alike &= piece.value.alike;
    }
    value.name = name.value();
    value.recipe = recipe.value();
  }
  value.alike &= !view.offset.varying && !apart_[view.buffer.value];
  return value;
}

void Values::write(ViewId id, const Value& value) {
  const View& view = e_[id];
  if (!relevant_[view.buffer.value]) return;
  Pieces& pieces = buffers_[view.buffer.value];
  const std::int64_t begin = e_.at(view.offset, rank_);
  const std::int64_t end = begin + view.bytes;
  const auto split = [&](std::int64_t at) {
    auto piece = std::prev(pieces.upper_bound(at));
    if (piece->first == at || piece->second.end <= at) return;
    Piece rest = piece->second;
    piece->second.end = at;
    pieces[at] = rest;
  };
  split(begin);
  split(end);
  pieces.erase(pieces.lower_bound(begin), pieces.lower_bound(end));
  pieces[begin] = {end, begin, view.bytes, value};
  if (view.offset.varying) apart_[view.buffer.value] = true;  // other ranks wrote elsewhere
}

void Values::decided(CommandId command) {
  if (predicate(command).everywhere()) return;
  any_inside(e_, e_[command], [&](const Command& inner) {
    for (const ViewId view : inner.results) apart_[e_[view].buffer.value] = true;
    return false;
  });
}

void Values::ran(const LineNode& node) {
  if (node.kind == LineNode::Kind::Work || node.kind == LineNode::Kind::Collective) run(node.command);
}

void Values::run(CommandId id) {
  const Command& command = e_[id];
  std::visit(
      [&]<class Op>(const Op& op) {
        if constexpr (CollectiveOp<Op>) {
          meet(id, op);
        } else if constexpr (std::is_same_v<Op, CollectiveGroup>) {
          for (const CommandRegionId region : command.regions)
            for (const CommandId member : e_.regions[region].commands) run(member);
        } else if constexpr (std::is_same_v<Op, Copy>) {
          write(command.results[0], read(command.operands[0]));
        } else if constexpr (std::is_same_v<Op, Memzero>) {
          write(command.results[0], {Name("zero").value(), Name("zero").value(), 0, true, 0});
        } else if constexpr (std::is_same_v<Op, RangeMark>) {
          for (const CommandRegionId region : command.regions)
            for (const CommandId inner : e_.regions[region].commands) run(inner);
        } else {
          compute(id);
        }
      },
      command.payload);
}

void Values::compute(CommandId id) {
  const Command& command = e_[id];
  if (!any_result(command, [&](ViewId view) { return relevant_[e_[view].buffer.value]; })) return;
  Name op("op");
  op << command.payload.index();
  if (const auto* map = std::get_if<Map>(&command.payload)) {
    for (const LambdaNode& n : e_.lambdas[map->f].nodes)
      op << static_cast<int>(n.op) << static_cast<int>(n.dtype) << n.a << n.b << n.c << n.value.integer
         << std::bit_cast<std::uint64_t>(n.value.number);
  } else {
    op << command.op.value;
    for (IterationId i = command.iteration; i; i = e_.iterations[i].outer) op << e_.iterations[i].value;
  }
  Name name = op, recipe = op;
  Value made;
  for (const ViewId view : command.operands) {
    const Value value = read(view);
    name << value.name;
    recipe << value.recipe;
    made.varies |= value.varies;
    made.alike &= value.alike;
  }
  std::uint32_t result = 0;
  for (const ViewId view : command.results) {
    made.name = (Name("result") << name.value() << result).value();
    made.recipe = (Name("result") << recipe.value() << result++).value();
    write(view, made);
  }
}

bool Values::puts_in_the_same(ViewId result, const Value& in, const GroupOfRank& group,
                              const Agreements::Meeting& meeting) {
  if (alone_) return false;
  if (agreements_ == nullptr) return in.alike;
  if (!relevant_[e_[result].buffer.value]) return false;
  const std::optional<bool> same = agreements_->same(meeting, rank_, group.members.size(), in.recipe, in.alike);
  stopped_ |= !same;
  return same.value_or(false);
}

std::optional<bool> Agreements::same(const Meeting& meeting, Rank rank, std::size_t members, std::uint64_t recipe,
                                     bool alike) {
  if (const auto known = known_.find(meeting); known != known_.end()) return known->second;
  Open& open = open_[meeting];
  open.members = members;
  open.recipes[rank] = recipe;
  open.alike &= alike;
  return std::nullopt;
}

bool Agreements::Open::same() const {
  return alike && recipes.size() == members && std::all_of(recipes.begin(), recipes.end(), [&](const auto& r) {
           return r.second == recipes.begin()->second;
         });
}

bool Agreements::decide() {
  if (open_.empty()) return false;
  const bool any_full = std::any_of(open_.begin(), open_.end(),
                                    [](const auto& o) { return o.second.recipes.size() == o.second.members; });
  for (const auto& [meeting, open] : open_)
    if (!any_full || open.recipes.size() == open.members) known_[meeting] = open.same();
  open_.clear();
  return true;
}

template <class Op>
void Values::meet(CommandId id, const Op& op) {
  const Command& command = e_[id];
  const GroupOfRank group = e_.group_of(op, rank_);
  const std::int32_t communicator = communicator_of(e_, id);
  Name clique("clique");
  for (const Rank member : group.members) clique << member;
  const std::uint64_t number = meetings_[{clique.value(), communicator}]++;
  constexpr bool equal =
      std::is_same_v<Op, AllReduce> || std::is_same_v<Op, AllGather> || std::is_same_v<Op, Broadcast>;
  std::uint64_t axes = 0;  // along which the members differ
  for (const std::uint32_t axis : e_.axes[op.axis]) axes |= std::uint64_t{1} << axis;
  for (std::uint32_t i = 0; i < command.results.size(); ++i) {
    const Value in = i < command.operands.size() ? read(command.operands[i]) : Value{0, 0, 0, false, std::nullopt};
    const bool same_recipe = equal && !op.groups &&
                             puts_in_the_same(command.results[i], in, group, {clique.value(), communicator, number, i});
    if (same_recipe && std::is_same_v<Op, Broadcast> && (in.varies & axes) == 0) {
      write(command.results[i], in);
      continue;
    }
    Value out{};
    if (same_recipe) {
      out.varies = in.varies & ~axes;
      Name recipe("met");
      recipe << command.payload.index() << group.members.size() << axes << in.recipe;
      if constexpr (std::is_same_v<Op, AllReduce>) recipe << static_cast<int>(op.reduction);
      if constexpr (std::is_same_v<Op, Broadcast>) recipe << op.root;
      out.recipe = recipe.value();
      out.name = (Name("at") << out.recipe << place(out.varies)).value();
    } else {
      // New, whatever went in: equal on all members, or each one's own.
      Name name("meeting");
      name << clique.value() << communicator << number << command.payload.index() << i;
      if (!equal) name << group.position;
      out.name = out.recipe = name.value();
      out.varies = equal && !op.groups ? all_axes_ & ~axes : all_axes_;
      out.alike = equal && out.varies == 0;
    }
    write(command.results[i], out);
  }
}

Value Values::predicate(CommandId command) const { return read(e_[command].operands[0]); }

std::string why_not_uniform(const Expanded& e, CommandId command) {
  std::vector<bool> seen(e.buffers.size());
  std::vector<BufferId> open{e[e[command].operands[0]].buffer};
  seen[open[0].value] = true;
  std::string blame;
  while (!open.empty() && blame.empty()) {
    const BufferId at = open.back();
    open.pop_back();
    const Buffer& buffer = e.buffers[at];
    std::string axes;
    for (std::uint32_t axis = 0; axis < e.mesh.sizes.size(); ++axis)
      if (e.mesh.sizes[axis] > 1 &&
          std::find(buffer.uniform.begin(), buffer.uniform.end(), axis) == buffer.uniform.end())
        axes += fmt::format("{}{}", axes.empty() ? "" : ", ", e.mesh.axes[axis]);
    if (buffer.kind == Buffer::Kind::Parameter && buffer.direction != Direction::Out && !axes.empty())
      return fmt::format("parameter `%{}`, which may differ along {}", e.module->text(buffer.name), axes);
    for (std::uint32_t i = 0; i < e.commands.size(); ++i) {
      const Command& c = e.commands[CommandId{i}];
      if (!any_result(c, [&](ViewId view) { return e[view].buffer == at; })) continue;
      const bool same_for_all = std::holds_alternative<AllReduce>(c.payload) ||
                                std::holds_alternative<AllGather>(c.payload) ||
                                std::holds_alternative<Broadcast>(c.payload);
      if (same_for_all) continue;
      for (const ViewId view : c.operands)
        if (const std::uint32_t from = e[view].buffer.value; !seen[from]) {
          seen[from] = true;
          open.push_back(e[view].buffer);
        }
      if (std::visit([]<class Op>(const Op&) { return CollectiveOp<Op>; }, c.payload))
        blame = fmt::format("`{}`, which gives each rank its own", e.path(CommandId{i}));
    }
  }
  return blame;
}

}  // namespace stave::check
