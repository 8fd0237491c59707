#include "simulator/costs.h"

#include <algorithm>
#include <cmath>

namespace stave::simulator {
namespace {

// Work has 12 bits below the picosecond in 63 (clock.h).
constexpr Picoseconds longest{std::int64_t{1} << 50};

}  // namespace

Costs::Costs(const Plan& plan, const Machine& machine, double clock)
    : plan_(plan), machine_(machine), clock_(clock), gemm_times_(machine) {
  for (const Beside& b : machine.besides)
    for (const std::string& name : {b.family, b.beside})
      if (std::find(rival_names_.begin(), rival_names_.end(), name) == rival_names_.end()) rival_names_.push_back(name);
  for (const RankClass& c : plan.classes) alone_.emplace_back(c.expanded.commands.size());
}

std::vector<Rivalry> Costs::rivalries() const {
  const auto pace_of = [](double speed) {
    return static_cast<std::uint64_t>(std::llround(std::clamp(speed, 0.0, 1.0) * static_cast<double>(full_pace)));
  };
  std::vector<Rivalry> all(rival_names_.size() * rival_names_.size());
  for (const Beside& b : machine_.besides) {
    const auto index = [&](const std::string& name) {
      return static_cast<std::size_t>(std::find(rival_names_.begin(), rival_names_.end(), name) - rival_names_.begin());
    };
    all[index(b.family) * rival_names_.size() + index(b.beside)] = {pace_of(b.speed.value),
                                                                    pace_of(b.speed_first.value)};
  }
  return all;
}

const Costed& Costs::of(std::uint32_t rank_class, CommandId command, std::size_t ranks, bool crosses_nodes) {
  Costed& costed =
      ranks == 1 ? alone_[rank_class][command.value] : together_[{rank_class, command.value, ranks, crosses_nodes}];
  if (!costed.known) {
    const Expanded& expanded = plan_.classes[rank_class].expanded;
    make(costed, {machine_, gemm_times_, expanded, expanded[command], clock_, ranks, crosses_nodes});
  }
  return costed;
}

void Costs::make(Costed& costed, const DemandOf& context) {
  costed.known = true;
  Result<Demand> demand = demand_of(context);
  if (!demand) {
    for (Problem& p : std::move(demand).problems()) problems_.push_back(std::move(p));
    return;
  }
  costed.demand = *std::move(demand);
  Demand& d = costed.demand;
  if (d.time > longest) {
    problems_.push_back(error_at(context.expanded.place(context.command), "STV0857",
                                 "one command takes {} ps; more than {} ps (18 minutes) cannot be simulated",
                                 d.time.count(), longest.count())
                            .problems.front());
    d.time = longest;
    return;
  }
  // A footprint that no SM can hold would wait for ever; the schedule's launch would fail.
  const SmShape sms = sm_shape(machine_.device);
  if (d.where == Where::Sms && sms.fit(d.footprint) == 0) {
    problems_.push_back(
        error_at(context.expanded.place(context.command), "STV0856",
                 "a CTA of {} threads, {} registers and {} bytes of shared memory does not fit into an SM of "
                 "'{}' ({} threads, {} registers, {} bytes)",
                 d.footprint.threads, d.footprint.registers, d.footprint.shared_bytes, machine_.name, sms.threads,
                 sms.registers, sms.shared_bytes)
            .problems.front());
    d.footprint = {};
  }
  costed.spec.kind = d.kind;
  costed.spec.tiles = d.tiles;
  costed.spec.ctas = d.ctas;
  costed.spec.slots = d.slots;
  costed.spec.work = d.tile_work();
  costed.spec.unit_cap = static_cast<std::uint32_t>(std::min(d.unit_cap, 1000.0) * 65536);
  costed.spec.latency = d.latency.count();
  if (const auto at = std::find(rival_names_.begin(), rival_names_.end(), d.rival); at != rival_names_.end())
    costed.spec.rival = static_cast<std::uint32_t>(at - rival_names_.begin());
  for (const ResourcePart& part : d.uses) costed.amounts.emplace_back(part.resource, amount_of(part.fraction));
  if (d.extrapolated) costed.slice_flags |= slice_flags::extrapolated;
  if (d.assumed) {
    Problem note;
    note.severity = Severity::Note;
    note.code = "STV0860";
    note.place = context.expanded.place(context.command);
    note.message = "the cost is assumed: operands and results once over the memory; give `cost = {time = ...}`";
    problems_.push_back(std::move(note));
  }
}

}  // namespace stave::simulator
