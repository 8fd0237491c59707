#include "analysis/check/check_plan.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/check/cross_order.h"
#include "analysis/check/lifetimes.h"
#include "analysis/check/lints.h"
#include "analysis/check/report_findings.h"
#include "analysis/check/values.h"
#include "analysis/check/ways.h"
#include "core/lower/collective_contract.h"

namespace stave::check {
namespace {

// A rank's line on the way in hand, and how it was chosen.
struct Decided {
  Line line;
  Choices choices;
  bool everywhere = true;  // every rank of the class takes it
  bool stopped = false;    // at a meeting whose outcome was not known
};

// `agreements`: null where the rank is looked at alone.
Decided decide(const Plan& plan, Rank rank, const Control& control, Ways& ways, Agreements* agreements,
               std::int64_t max_nodes) {
  const RankClass& rank_class = plan.of_rank(rank);
  Decided out;
  const Expanded& e = rank_class.expanded;
  const bool several = plan.classes.size() > 1;
  Values values(e, rank, control.relevant, several ? agreements : nullptr, several && agreements == nullptr);
  Deciding deciding;
  deciding.stop = &values.stopped();
  deciding.ran = [&](const LineNode& node) { values.ran(node); };
  deciding.choose = [&](CommandId command, std::uint32_t options) -> std::uint32_t {
    if (!control.decides[command.value]) return options - 1;
    const Value value = values.predicate(command);
    std::uint32_t chosen = 0;
    if (value.number) {
      const bool is_switch = std::holds_alternative<Switch>(e[command].payload);
      const std::int64_t n = is_switch ? *value.number : *value.number == 0 ? 1 : 0;
      chosen = n < 0 || n >= options ? options - 1 : static_cast<std::uint32_t>(n);
    } else {
      chosen = ways.choose(value.name, options);
    }
    values.decided(command);
    out.choices.push_back({command, chosen, value.everywhere()});
    out.everywhere &= out.choices.back().everywhere;
    return chosen;
  };
  out.line = unroll(rank_class, deciding, max_nodes);
  out.stopped = values.stopped();
  return out;
}

class Checking {
 public:
  Checking(const Plan& plan, const PlanCheckOptions& options)
      : plan_(plan), options_(options), report_(plan), cliques_(plan), left_(options.max_commands) {}

  Result<PlanCheck> run() {
    for (const RankClass& rank_class : plan_.classes) {
      branching_ |= has_control_flow(rank_class);
      out_.peak_device_bytes = std::max(out_.peak_device_bytes, device_bytes(rank_class.expanded));
    }
    TRY_VOID(branching_ ? all_ways() : one_way());
    if (report_.has_stop() && report_.has_memory_fault()) TRY_VOID(tell_reached());
    out_.findings = report_.take();
    if (options_.lints)
      for (const RankClass& rank_class : plan_.classes) lint_text(rank_class, plan_.mode, lints_);
    std::move(lints_.begin(), lints_.end(), std::back_inserter(out_.findings));
    return std::move(out_);
  }

 private:
  // Where nothing branches, each class has one line.
  Result<World> straight_world() {
    World world;
    world.line_of_rank = plan_.class_of_rank;
    for (std::uint32_t c = 0; c < plan_.classes.size(); ++c) {
      TRY_VOID(still_wanted(options_.progress));
      world.lines.push_back(std::make_unique<const ClassLine>(plan_, c, unroll(plan_.classes[c], {}, left_)));
      count(world.lines.back()->line);
    }
    return world;
  }

  Result<void> one_way() {
    TRY(const World world, straight_world());
    meet(world, {}, true);
    out_.peak_device_bytes_shared = 0;
    for (const auto& line : world.lines) {
      const RankClass& rank_class = plan_.classes[line->rank_class];
      if (options_.lints) lint_line(rank_class, line->line, line->clocks, lints_);
      out_.peak_device_bytes_shared =
          std::max(*out_.peak_device_bytes_shared, shared_device_bytes(rank_class, line->line, line->clocks));
    }
    return {};
  }

  Result<void> all_ways() {
    // Where orders may lead through other ranks, memory is looked at with what all ranks do; else
    // each class by itself, which has far fewer ways.
    const bool together = orders_cross_ranks();
    if (!together)
      for (std::uint32_t c = 0; c < plan_.classes.size(); ++c) TRY_VOID(memory_on_all_ways(c));
    return each_world(together,
                      [&](const World& world, const std::vector<Choices>& choices) { meet(world, choices, together); });
  }

  // Calls f(world, choices) for each way: of all control flow, or of what decides about meetings.
  template <class F>
  Result<void> each_world(bool all, F&& f) {
    std::vector<Control> controls;
    for (const RankClass& c : plan_.classes)
      controls.push_back(all ? all_control(c.expanded) : control_of_meetings(c.expanded));
    Ways ways;
    std::int64_t looked_at = 0;
    do {
      TRY_VOID(still_wanted(options_.progress));
      if (stop(++looked_at)) break;
      std::vector<Choices> choices(plan_.ranks());
      const World world = decided_world(controls, ways, choices);
      f(world, choices);
    } while (ways.next());
    return {};
  }

  // Runs stop at one fault and another is of memory: tells those that a run comes to.
  Result<void> tell_reached() {
    const bool exact = std::exchange(out_.exact, true);
    left_ = options_.max_commands;
    report_.begin_reached();
    if (branching_) {
      TRY_VOID(each_world(true, [&](const World& w, const std::vector<Choices>& choices) { reached(w, choices); }));
    } else {
      TRY(const World world, straight_world());
      reached(world, {});
    }
    if (out_.exact && !report_.full()) report_.rest_is_behind_stop();
    out_.exact = exact;
    return {};
  }

  void reached(const World& world, const std::vector<Choices>& choices) {
    const Meetings meetings = meetings_of(plan_, world, cliques_);
    const Liveness liveness(plan_, world, meetings, cliques_);
    const CrossOrder order(world, meetings);
    MemoryOptions options = memory_options();
    options.begins = [&](Rank rank, NodeIndex node) { return liveness.begins(rank, node); };
    if (!in_step(world) && !one_communicator(world))
      options.elsewhere = [&](Rank rank, NodeIndex a, NodeIndex b) { return order.ordered(rank, a, b); };
    memory(world, choices, options);
  }

  Result<void> memory_on_all_ways(std::uint32_t c) {
    const RankClass& rank_class = plan_.classes[c];
    const Control control = all_control(rank_class.expanded);
    const std::span<const Rank> ranks = rank_class.expanded.ranks;
    if (!control.varies(rank_class.expanded)) return memory_on_all_ways(c, control, ranks);
    for (const Rank& rank : ranks) TRY_VOID(memory_on_all_ways(c, control, {&rank, 1}));
    return {};
  }

  // Of ranks that go the same ways.
  Result<void> memory_on_all_ways(std::uint32_t c, const Control& control, std::span<const Rank> ranks) {
    Ways ways;
    std::int64_t looked_at = 0;
    do {
      TRY_VOID(still_wanted(options_.progress));
      if (stop(++looked_at)) break;
      Decided decided = decide(plan_, ranks[0], control, ways, nullptr, left_);
      const ClassLine line(plan_, c, std::move(decided.line));
      count(line.line);
      MemoryOptions options = memory_options();
      options.ranks = ranks;
      memory(line, decided.choices, options);
    } while (ways.next());
    return {};
  }

  World decided_world(const std::vector<Control>& controls, Ways& ways, std::vector<Choices>& choices) {
    Agreements agreements;
    while (true) {
      World world = try_world(controls, ways, choices, agreements);
      if (!agreements.decide()) {
        for (const auto& line : world.lines) count(line->line);
        return world;
      }
    }
  }

  World try_world(const std::vector<Control>& controls, Ways& ways, std::vector<Choices>& choices,
                  Agreements& agreements) {
    World world;
    std::vector<std::optional<std::uint32_t>> shared(plan_.classes.size());  // by class: the line of all its ranks
    std::vector<std::optional<std::uint32_t>> first_line(plan_.classes.size());
    std::int64_t nodes = 0;
    for (Rank rank = 0; rank < plan_.ranks(); ++rank) {
      const std::uint32_t c = plan_.class_of_rank[rank];
      if (nodes > options_.max_commands && first_line[c]) {
        shared[c] = first_line[c];  // too many to tell apart
        out_.exact = false;
      }
      if (shared[c]) {
        world.line_of_rank.push_back(*shared[c]);
        choices[rank] = choices[plan_.classes[c].expanded.ranks[0]];
        continue;
      }
      Decided decided = decide(plan_, rank, controls[c], ways, &agreements, left_);
      if (decided.everywhere && !decided.stopped && plan_.classes.size() == 1)
        shared[c] = static_cast<std::uint32_t>(world.lines.size());
      world.line_of_rank.push_back(static_cast<std::uint32_t>(world.lines.size()));
      if (!first_line[c]) first_line[c] = static_cast<std::uint32_t>(world.lines.size());
      nodes += static_cast<std::int64_t>(decided.line.nodes.size());
      world.lines.push_back(std::make_unique<const ClassLine>(plan_, c, std::move(decided.line)));
      choices[rank] = std::move(decided.choices);
    }
    return world;
  }

  void count(const Line& line) {
    left_ -= static_cast<std::int64_t>(line.nodes.size());
    out_.exact &= line.complete;
    if (options_.progress) options_.progress->ran(static_cast<std::int64_t>(line.nodes.size()));
  }

  bool stop(std::int64_t looked_at) {
    const bool enough = looked_at > options_.max_lines || left_ <= 0;
    out_.exact &= !enough;
    return enough || report_.full();
  }

  MemoryOptions memory_options() const { return {.ranks = {}, .max_accesses = options_.max_commands}; }

  // Of the ranks in `options`, which take the line.
  void memory(const ClassLine& line, const Choices& choices, const MemoryOptions& options) {
    const RankClass& rank_class = plan_.classes[line.rank_class];
    const MemoryFaults faults = memory_faults(rank_class, line.line, line.clocks, options);
    out_.exact &= faults.exact;
    report_.begin_line(rank_class);
    for (const Race& race : faults.races) report_.race(rank_class, line.line, race, choices);
    for (const UnwrittenRead& read : faults.unwritten) report_.unwritten(rank_class, read, choices);
  }

  // Of all ranks.
  void memory(const World& world, const std::vector<Choices>& choices, MemoryOptions options) {
    std::vector<std::vector<Rank>> ranks(world.lines.size());
    for (Rank rank = 0; rank < world.line_of_rank.size(); ++rank) ranks[world.line_of_rank[rank]].push_back(rank);
    for (std::size_t i = 0; i < world.lines.size(); ++i) {
      options.ranks = ranks[i];
      memory(*world.lines[i], choices.empty() ? Choices{} : choices[ranks[i][0]], options);
    }
  }

  static bool is_pairwise(const Payload& payload) {
    return std::holds_alternative<Send>(payload) || std::holds_alternative<Recv>(payload);
  }

  // Between ranks that run one line of collectives with equal parts, an order that leads through
  // another rank holds on the rank itself; and one communicator orders all that it runs.
  bool orders_cross_ranks() const {
    std::optional<std::int32_t> seen;
    bool several = false, pairwise = plan_.classes.size() > 1;
    for (const RankClass& c : plan_.classes)
      for (std::uint32_t i = 0; i < c.expanded.commands.size(); ++i)
        if (attributes_of(c.expanded[CommandId{i}])) {
          const std::int32_t communicator = communicator_of(c.expanded, CommandId{i});
          several |= seen && *seen != communicator;
          seen = communicator;
          pairwise |= is_pairwise(c.expanded[CommandId{i}].payload);
        }
    return several && (pairwise || branching_);
  }

  // True if all ranks issue the same commands and none of them depends on the rank: they come to each
  // together, whatever it is.
  bool in_step(const World& world) const {
    if (world.lines.size() != 1) return false;
    const Expanded& e = plan_.classes[world.lines[0]->rank_class].expanded;
    const Store<CommandId, PartTag>& parts = world.lines[0]->skeleton.parts;
    return std::none_of(parts.begin(), parts.end(), [&](CommandId part) { return is_pairwise(e[part].payload); });
  }

  static bool one_communicator(const World& world) {
    std::optional<std::int32_t> seen;
    for (const auto& line : world.lines)
      for (const Skeleton::Item& item : line->skeleton.items) {
        if (seen && *seen != item.communicator) return false;
        seen = item.communicator;
      }
    return true;
  }

  void meet(const World& world, const std::vector<Choices>& choices, bool with_memory) {
    const bool together = in_step(world);
    const bool serial = one_communicator(world);
    if (with_memory && (together || serial)) memory(world, choices, memory_options());
    const bool sms_suffice = serial || !may_run_out(world, options_.sms);
    if (!together || !sms_suffice) {
      const Meetings meetings = meetings_of(plan_, world, cliques_);
      if (with_memory && !together && !serial) {
        const CrossOrder order(world, meetings);
        MemoryOptions options = memory_options();
        options.elsewhere = [&](Rank rank, NodeIndex a, NodeIndex b) { return order.ordered(rank, a, b); };
        memory(world, choices, options);
      }
      if (!together && !ends(world, meetings, choices)) return;
      if (!sms_suffice)
        if (const auto stuck = residence(plan_, world, meetings, cliques_, options_.sms, out_.exact)) {
          report_.residence(*stuck, meetings, world, options_.sms);
          return;
        }
    }
    if (!serial)
      for (const Overlap& overlap : overlaps(plan_, world, cliques_, options_.sms)) report_.overlap(overlap, world);
  }

  // True if all ranks come to their ends; reports what keeps them from it.
  bool ends(const World& world, const Meetings& meetings, const std::vector<Choices>& choices) {
    const Liveness liveness(plan_, world, meetings, cliques_);
    for (const Liveness::Mismatch& mismatch : liveness.mismatches())
      report_.mismatch(mismatch, meetings, world, choices);
    if (!liveness.mismatches().empty()) return false;
    if (!liveness.ended()) report_.hang(liveness.chain(), meetings, world, choices);
    return liveness.ended();
  }

  const Plan& plan_;
  const PlanCheckOptions& options_;
  FindingsReport report_;
  Cliques cliques_;
  std::int64_t left_;
  bool branching_ = false;
  Findings lints_;
  PlanCheck out_;
};

}  // namespace
}  // namespace stave::check

namespace stave {

Result<PlanCheck> check_plan(const Plan& plan, const PlanCheckOptions& options) {
  return check::Checking(plan, options).run();
}

}  // namespace stave
