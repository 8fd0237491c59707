#include "tests/checker/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "core/lower/collective_contract.h"

namespace stave {

namespace {

// Puts the command at `from` of a region behind the one at `to`; the ids in between change.
void move_command(Expanded& e, CommandRegionId region, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t base = e.regions[region].commands.first;
  const Command moved = e.commands[CommandId{base + from}];
  for (std::uint32_t i = from; i < to; ++i) e.commands[CommandId{base + i}] = e.commands[CommandId{base + i + 1}];
  e.commands[CommandId{base + to}] = moved;
  for (std::uint32_t i = from; i <= to; ++i) {
    const CommandId id{base + i};
    if (!e.commands[id].token) continue;
    Token& token = e.tokens[e.commands[id].token];
    (std::holds_alternative<AsyncStart>(e.commands[id].payload) ? token.start : token.done) = id;
  }
}

CollectiveAttributes* attributes_to_edit(Command& command) {
  return std::visit(
      []<class T>(T& op) -> CollectiveAttributes* {
        if constexpr (CollectiveOp<T>)
          return &op;
        else
          return nullptr;
      },
      command.payload);
}

// Half of the view's bytes.
bool halve(Expanded& e, IdRange<View> views) {
  for (const ViewId id : views) {
    View& view = e.views[id];
    if (view.shape.empty() || view.bytes % 2 != 0) return false;
    std::int64_t& first = e.dims[view.shape[0]];
    if (first % 2 != 0) return false;
    first /= 2;
    view.bytes /= 2;
  }
  return true;
}

bool retype(Expanded& e, IdRange<View> views) {
  for (const ViewId id : views) {
    View& view = e.views[id];
    if (view.dtype != Dtype::F32) return false;
    view.dtype = Dtype::S32;
  }
  return true;
}

// False: it cannot be made there.
using Edit = std::function<bool(Expanded&, CommandId)>;
struct NamedEdit {
  std::string_view what;
  Edit edit;
};

template <class T, class F>
Edit of_op(F change) {
  return [change](Expanded& e, CommandId id) {
    T* op = std::get_if<T>(&e.commands[id].payload);
    return op != nullptr && change(*op);
  };
}
template <class F>
Edit of_collective(F change) {
  return [change](Expanded& e, CommandId id) {
    CollectiveAttributes* op = attributes_to_edit(e.commands[id]);
    return op != nullptr && change(e, *op, e.commands[id]);
  };
}

constexpr auto other_reduction = [](auto& op) {
  op.reduction = op.reduction == Reduction::Sum ? Reduction::Max : Reduction::Sum;
  return true;
};
constexpr auto other_peer = [](auto& op) {
  if (op.peer.varying) return false;
  op.peer.constant = op.peer.constant == 0 ? 1 : op.peer.constant - 1;
  return true;
};

const std::vector<NamedEdit>& edits() {
  static const std::vector<NamedEdit> all{
      {"another reduction", of_op<AllReduce>(other_reduction)},
      {"another reduction", of_op<ReduceScatter>(other_reduction)},
      {"another root", of_op<Broadcast>([](Broadcast& op) { return op.root = op.root == 0 ? 1 : 0, true; })},
      {"another peer", of_op<Send>(other_peer)},
      {"another peer", of_op<Recv>(other_peer)},
      {"another shift", of_op<CollectivePermute>([](CollectivePermute& op) {
         if (op.shift) ++*op.shift;
         return op.shift.has_value();
       })},
      {"another communicator", of_collective([](Expanded&, CollectiveAttributes& op, Command&) {
         op.communicator = 7;
         return true;
       })},
      {"all SMs", of_collective([](Expanded&, CollectiveAttributes& op, Command&) {
         op.max_ctas = 132;
         return op.algorithm != Algorithm::CopyEngine;
       })},
      {"each rank for itself", of_collective([](Expanded& e, CollectiveAttributes& op, Command&) {
         std::int64_t n = 1;
         for (const std::uint32_t axis : e.axes[op.axis]) n *= e.mesh.sizes[axis];
         Groups groups;
         for (std::int64_t i = 0; i < n; ++i) groups.push_back({static_cast<std::uint32_t>(i)});
         op.groups = e.groups.add(groups);
         return true;
       })},
      {"half the elements", of_collective([](Expanded& e, CollectiveAttributes&, Command& c) {
         return halve(e, c.operands) && halve(e, c.results);
       })},
      {"another dtype", of_collective([](Expanded& e, CollectiveAttributes&, Command& c) {
         return retype(e, c.operands) && retype(e, c.results);
       })},
      {"on a stream of its own", of_op<AsyncStart>([](AsyncStart& op) {
         op.stream = {StreamRef::Kind::Computation, 9};
         return true;
       })},
      {"on communication 0", of_op<AsyncStart>([](AsyncStart& op) {
         const StreamRef before = op.stream;
         op.stream = {StreamRef::Kind::Communication, 0};
         return before != op.stream;
       })},
  };
  return all;
}

class Mutants {
 public:
  explicit Mutants(const Expansion& from) : from_(from) {}

  std::vector<Mutant> take() {
    for (std::uint32_t c = 0; c < from_.classes.size(); ++c) {
      const Expanded& e = from_.classes[c];
      for (std::size_t i = 0; i < e.commands.size(); ++i)
        for (const NamedEdit& named : edits())
          add(c, fmt::format("{}: {}", e.path(CommandId{i}), named.what),
              [&](Expanded& changed) { return named.edit(changed, CommandId{i}); });
      for (std::size_t r = 0; r < e.regions.size(); ++r) orders(c, CommandRegionId{r});
      for (const BufferId id : e.parameters)
        if (!e.buffers[id].uniform.empty())
          add(c, fmt::format("%{} is not uniform", e.module->text(e.buffers[id].name)), [&](Expanded& changed) {
            changed.buffers[id].uniform.clear();
            return true;
          });
    }
    trips();
    return std::move(made_);
  }

 private:
  void orders(std::uint32_t c, CommandRegionId region) {
    const Expanded& e = from_.classes[c];
    const IdRange<Command> commands = e.regions[region].commands;
    const auto n = static_cast<std::uint32_t>(commands.size());
    std::optional<std::uint32_t> collective;
    for (std::uint32_t i = 0; i < n; ++i) {
      const Command& command = e[commands[i]];
      if (std::holds_alternative<AsyncDone>(command.payload) && i + 1 < n)
        add(c, fmt::format("{} at the end", e.path(commands[i])),
            [&](Expanded& changed) { return move_command(changed, region, i, n - 1), true; });
      if (i + 1 < n)
        add(c, fmt::format("{} behind the next", e.path(commands[i])),
            [&](Expanded& changed) { return move_command(changed, region, i, i + 1), true; });
      if (!attributes_of(command)) continue;
      if (collective)
        add(c, fmt::format("{} behind {}", e.path(commands[*collective]), e.path(commands[i])),
            [&](Expanded& changed) { return move_command(changed, region, *collective, i), true; });
      collective = i;
    }
  }

  // The bound of each repeat: one iteration less, one more.
  void trips() {
    const Module& module = *from_.classes[0].module;
    for (std::size_t i = 0; i < module.ops.size(); ++i) {
      const Op& op = module.ops[OpId{i}];
      if (op.kind != kind_of<Repeat>) continue;
      for (const Id<Attr> id : op.attrs) {
        if (module.text(module.attrs[id].name) != "to") continue;
        for (const BinaryOp less_or_more : {BinaryOp::Sub, BinaryOp::Add}) {
          auto changed = std::make_shared<Module>(module);
          const ExprId one = changed->exprs.add(Expr::integer(1));
          changed->attrs[id].value = changed->exprs.add(
              Expr::pair(ExprKind::Binary, module.attrs[id].value.value, one.value, no_loc, less_or_more));
          trips(fmt::format("the repeat at line {}: one iteration {}", module.place(op.loc).line,
                            less_or_more == BinaryOp::Sub ? "less" : "more"),
                std::move(changed));
        }
      }
    }
  }

  void trips(const std::string& what, std::shared_ptr<const Module> changed) {
    ExpandOptions options;
    for (const auto& [name, value] : from_.classes[0].params) options.params.emplace_back(name, std::to_string(value));
    Result<Expansion> everywhere = expand_and_verify(changed, options);
    if (!everywhere) return;
    const auto last = static_cast<Rank>(from_.class_of_rank.size() - 1);
    Expanded alone = everywhere->classes[everywhere->class_of_rank[last]];
    alone.ranks = {last};
    keep(what + ", on all ranks", std::move(*everywhere));
    Expansion mixed = from_;
    std::vector<Rank>& others = mixed.classes[mixed.class_of_rank[last]].ranks;
    if (others.size() < 2) return;
    others.pop_back();
    mixed.class_of_rank[last] = static_cast<std::uint32_t>(mixed.classes.size());
    mixed.classes.push_back(std::move(alone));
    keep(fmt::format("{}, on rank {}", what, last), std::move(mixed));
  }

  template <class F>
  void add(std::uint32_t c, const std::string& what, F edit) {
    Expansion everywhere = from_;
    if (!edit(everywhere.classes[c])) return;
    keep(what + ", on all ranks", std::move(everywhere));
    const std::vector<Rank>& ranks = from_.classes[c].ranks;
    if (ranks.size() < 2) return;
    Expansion alone = from_;
    Expanded last = from_.classes[c];
    if (!edit(last)) return;
    const Rank rank = ranks.back();
    last.ranks = {rank};
    alone.classes[c].ranks.pop_back();
    alone.class_of_rank[rank] = static_cast<std::uint32_t>(alone.classes.size());
    alone.classes.push_back(std::move(last));
    keep(fmt::format("{}, on rank {}", what, rank), std::move(alone));
  }

  void keep(std::string what, Expansion expansion) {
    if (verify(expansion).empty()) made_.push_back({std::move(what), std::move(expansion)});
  }

  const Expansion& from_;
  std::vector<Mutant> made_;
};

}  // namespace

std::vector<Mutant> mutants_of(const Expansion& expansion) { return Mutants(expansion).take(); }

}  // namespace stave
