#include "simulator/demand_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace stave::simulator {
namespace {

// A memory-bound CTA alone on its SM does more than its part when others are
// missing: copying 512 MiB with 16 of 132 CTAs took 1919.6 us, with all of them
// 357.5 us, so 357.5 * 132 / (1919.6 * 16) = 1.54 (measured, H200, driver 580.159.04).
constexpr double memory_unit_cap = 1.54;

// A kernel family that the machine file says nothing about. Assumed: the shape of a plain elementwise kernel.
const KernelShape& default_shape() {
  static const KernelShape shape = [] {
    KernelShape s;
    s.threads.value = 256;
    s.registers_per_thread.value = 32;
    s.tile_rows.value = 4096;
    s.tile_columns.value = 1;
    s.memory_efficiency.value = 1;
    return s;
  }();
  return shape;
}

double capacity_of(const Machine& machine, Resource resource, bool crosses_nodes) {
  const Link* link = crosses_nodes ? machine.link("nic") : machine.device_link();
  const Link* pcie = machine.link("pcie");
  switch (resource) {
    case Resource::Memory: return machine.device.memory_bandwidth_bytes_per_s.value;
    case Resource::L2: return machine.device.l2_bandwidth_bytes_per_s.value;
    case Resource::Power: return machine.device.power_limit_w.value;
    case Resource::LinkOut:
    case Resource::LinkIn: return link ? link->bandwidth_bytes_per_s.value : 0;
    case Resource::PcieOut:
    case Resource::PcieIn: return pcie ? pcie->bandwidth_bytes_per_s.value : 0;
  }
  return 0;
}

constexpr std::array<std::pair<Resource, std::string_view>, 7> resource_names{{{Resource::Memory, "memory"},
                                                                               {Resource::L2, "l2"},
                                                                               {Resource::Power, "power"},
                                                                               {Resource::LinkOut, "link_out"},
                                                                               {Resource::LinkIn, "link_in"},
                                                                               {Resource::PcieOut, "pcie_out"},
                                                                               {Resource::PcieIn, "pcie_in"}}};

}  // namespace

const KernelShape& shape_of(const Machine& machine, std::string_view family) {
  const KernelShape* shape = machine.kernel(family);
  return shape ? *shape : default_shape();
}

Footprint footprint_of(const Machine& machine, double threads, double registers_per_thread, double shared_bytes) {
  return {static_cast<std::uint32_t>(threads), static_cast<std::uint32_t>(threads * registers_per_thread),
          static_cast<std::uint32_t>(shared_bytes + machine.device.shared_memory_reserved_bytes.value)};
}

void add_uses(const DemandOf& context, Demand& demand, std::initializer_list<std::string_view> names,
              const Amounts& amounts) {
  const double seconds = seconds_of(demand.time);
  if (!(seconds > 0)) return;
  for (const auto& [resource, name] : resource_names) {
    const double capacity = capacity_of(context.machine, resource, context.crosses_nodes);
    if (!(capacity > 0)) continue;
    const stave::ResourceUse* use = nullptr;
    for (const std::string_view family : names)
      if (!use) use = context.machine.use(family, name);
    double per_second = 0;
    if (use) {
      const double quantity = use->per == "byte"        ? amounts.bytes
                              : use->per == "wire_byte" ? amounts.wire_bytes
                              : use->per == "flop"      ? amounts.flops
                                                        : seconds;
      per_second = use->amount.value * quantity / seconds;
    } else if (resource == Resource::Memory) {
      per_second = amounts.bytes / seconds;
    } else if (resource == Resource::LinkOut || resource == Resource::LinkIn) {
      per_second = amounts.wire_bytes / seconds;
    } else if (demand.where == Where::CopyEngine && (resource == Resource::PcieOut || resource == Resource::PcieIn)) {
      per_second = amounts.wire_bytes > 0 ? 0 : amounts.bytes / seconds;
    }
    // It runs at this speed when it is alone, so it never asks for more than there is.
    if (per_second > 0) demand.uses.push_back({resource, std::min(per_second / capacity, 1.0)});
  }
}

std::int64_t bytes_of(const Expanded& expanded, IdRange<View> views) {
  std::int64_t sum = 0;
  for (const ViewId view : views) sum += expanded[view].bytes;
  return sum;
}

const Cost& cost_of(const DemandOf& context) {
  static const Cost nothing;
  return context.command.cost ? context.expanded.costs[context.command.cost] : nothing;
}

void override_with(const Cost& cost, Demand& demand) {
  if (cost.ctas) demand.ctas = std::max<std::int64_t>(*cost.ctas, 1);
  if (cost.tiles) demand.tiles = std::max<std::int64_t>(*cost.tiles, 1);
  if (cost.persistent) demand.kind = *cost.persistent ? GridKind::PersistentDynamic : GridKind::OnePerTile;
  if (cost.time) {
    demand.time = *cost.time;
    demand.source = "the schedule's cost";
    demand.extrapolated = demand.assumed = false;
  }
}

void finish_kernel(const DemandOf& context, Demand& demand) {
  override_with(cost_of(context), demand);
  if (demand.kind == GridKind::OnePerTile) demand.ctas = demand.tiles;
  demand.ctas = std::min(demand.ctas, demand.tiles);
  const auto sms = static_cast<std::int64_t>(context.machine.device.sm_count.value);
  demand.slots =
      std::max<std::int64_t>(std::min(demand.ctas, sms * slots_of(context.machine.device, demand.footprint)), 1);
}

Demand memory_kernel(const DemandOf& context, std::string_view name, std::string_view family, std::int64_t elements,
                     std::int64_t bytes, double flops) {
  const Machine& machine = context.machine;
  const Device& device = machine.device;
  const KernelShape& shape = shape_of(machine, family);
  const Cost& cost = cost_of(context);
  if (cost.bytes) bytes = *cost.bytes;
  if (cost.flops) flops = static_cast<double>(*cost.flops);
  const auto moved = static_cast<double>(bytes);
  const bool in_l2 = moved <= device.l2_bytes.value && device.l2_bandwidth_bytes_per_s.value > 0;
  const double bandwidth = (in_l2 ? device.l2_bandwidth_bytes_per_s.value : device.memory_bandwidth_bytes_per_s.value) *
                           (shape.memory_efficiency.value > 0 ? shape.memory_efficiency.value : 1);
  const bool copies = family == "copy" || family == "memset";
  const double least = (copies ? device.copy_minimum_ps.value : device.kernel_minimum_ps.value) * 1e-12;
  const double vector_rate = device.vector_flops_per_s.value;
  double seconds = bandwidth > 0 ? moved / bandwidth : 0;
  if (vector_rate > 0) seconds = std::max(seconds, flops / vector_rate);

  Demand demand;
  demand.where = Where::Sms;
  demand.family = copies ? Family::Memory : Family::Compute;
  const double per_tile = std::max(shape.tile_rows.value * std::max(shape.tile_columns.value, 1.0), 1.0);
  demand.tiles = std::max<std::int64_t>(ceil_div(elements, static_cast<std::int64_t>(per_tile)), 1);
  demand.footprint =
      footprint_of(machine, shape.threads.value, shape.registers_per_thread.value, shape.shared_memory_bytes.value);
  demand.unit_cap = memory_unit_cap;
  demand.time = picoseconds(least + seconds);
  demand.rival = family;
  demand.source = fmt::format("{} model: bytes over bandwidth; {}", family, device.memory_bandwidth_bytes_per_s.source);
  finish_kernel(context, demand);
  // Traffic that the L2 serves does not reach the memory.
  if (in_l2 && !machine.use(name, "l2") && bandwidth > 0 && demand.time.count() > 0) {
    demand.uses.push_back(
        {Resource::L2, std::min(moved / seconds_of(demand.time) / device.l2_bandwidth_bytes_per_s.value, 1.0)});
    return demand;
  }
  // A copy's coefficient counts each byte once.
  add_uses(context, demand, {name, family}, {family == "copy" ? moved / 2 : moved, 0, flops});
  return demand;
}

std::int64_t elements_of(const DemandOf& context, IdRange<View> views) {
  std::int64_t most = 0;
  for (const ViewId view : views) most = std::max(most, context.expanded.elements(context.expanded[view]));
  return most;
}

std::int64_t all_bytes(const DemandOf& context) {
  return bytes_of(context.expanded, context.command.operands) + bytes_of(context.expanded, context.command.results);
}

Demand host_copy(const DemandOf& context, bool to_host) {
  const auto bytes = static_cast<double>(bytes_of(context.expanded, context.command.results));
  const Link* pcie = context.machine.link("pcie");
  Demand d;
  d.where = Where::CopyEngine;
  d.kind = GridKind::Gang;
  d.call = HostCall::HostCopy;
  d.family = Family::Memory;
  if (pcie) {
    d.latency = picoseconds_of(pcie->latency_ps);
    d.time = picoseconds(bytes / pcie->bandwidth_bytes_per_s.value);
    d.source = pcie->bandwidth_bytes_per_s.source;
  } else {
    d.source = "assumed: the machine has no link of scope pcie";
    d.assumed = true;
  }
  const Cost& cost = cost_of(context);
  if (cost.time) d.latency = Picoseconds{0};
  override_with(cost, d);
  d.tiles = d.ctas = 1;
  add_uses(context, d, {"copy_host"}, {bytes, 0, 0});
  // The coefficients name both directions; a copy goes one way.
  std::erase_if(d.uses, [&](const ResourcePart& part) {
    return part.resource == (to_host ? Resource::PcieIn : Resource::PcieOut);
  });
  return d;
}

TileShape gemm_tile(const KernelShape& shape, std::int64_t m, std::int64_t n, std::int64_t batch, std::int64_t ctas) {
  const auto a = std::max<std::int64_t>(static_cast<std::int64_t>(shape.tile_rows.value), 64);
  const auto b = std::max<std::int64_t>(static_cast<std::int64_t>(shape.tile_columns.value), 64);
  const std::int64_t rows = std::max(a, b), columns = std::min(a, b);
  std::vector<TileShape> candidates{{rows, columns}, {columns, rows}, {rows * 5 / 4, columns}, {columns, rows * 5 / 4}};
  for (std::int64_t r = rows; r >= 64; r /= 2)
    for (std::int64_t c = columns; c >= 64; c /= 2)
      if (r * c < rows * columns) {
        candidates.push_back({r, c});
        if (r != c) candidates.push_back({c, r});
      }
  TileShape best = candidates.front();
  std::int64_t least = 0;
  for (const TileShape& t : candidates) {
    const std::int64_t waves = ceil_div(batch * ceil_div(m, t.rows) * ceil_div(n, t.columns), ctas);
    const std::int64_t cost = waves * (t.rows + t.columns);
    if (least != 0 && cost >= least) continue;
    least = cost;
    best = t;
  }
  return best;
}

}  // namespace stave::simulator
