#include "simulator/demand.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <type_traits>

#include "core/machine/times.h"
#include "simulator/demand_kernel.h"
#include "simulator/energy.h"

namespace stave::simulator {
namespace {

bool on_host(const DemandOf& context, ViewId view) {
  return context.expanded.buffers[context.expanded[view].buffer].space == Space::Host;
}

Result<Demand> demand_of(const Memzero&, const DemandOf& context) {
  Demand d = memory_kernel(context, "memset", "memset", elements_of(context, context.command.results),
                           bytes_of(context.expanded, context.command.results), 0);
  d.call = HostCall::Memset;
  return d;
}

Result<Demand> demand_of(const Memset&, const DemandOf& context) { return demand_of(Memzero{}, context); }

Result<Demand> demand_of(const Copy&, const DemandOf& context) {
  const bool from_host = on_host(context, context.command.operands[0]);
  const bool to_host = on_host(context, context.command.results[0]);
  if (from_host || to_host) return host_copy(context, to_host);
  // A device-to-device copy runs on the SMs (measured: it waits for a GEMM that holds them).
  Demand d = memory_kernel(context, "copy_device", "copy", elements_of(context, context.command.results),
                           all_bytes(context), 0);
  d.call = HostCall::DeviceCopy;
  return d;
}

Result<Demand> demand_of(const Map& op, const DemandOf& context) {
  const std::int64_t elements = elements_of(context, context.command.results);
  const auto nodes = static_cast<double>(context.expanded.lambdas[op.f].nodes.size());
  return memory_kernel(context, "map", "map", elements, all_bytes(context), nodes * static_cast<double>(elements));
}

Result<Demand> demand_of(const Reduce&, const DemandOf& context) {
  const std::int64_t elements = elements_of(context, context.command.operands);
  return memory_kernel(context, "reduce", "reduce", elements, all_bytes(context), static_cast<double>(elements));
}

Result<Demand> demand_of(const Gemm& op, const DemandOf& context) {
  const Machine& machine = context.machine;
  const Expanded& expanded = context.expanded;
  const View& a = expanded[context.command.operands[0]];
  const View& c = expanded[context.command.results[0]];
  const auto a_shape = expanded.shape(a);
  const auto c_shape = expanded.shape(c);
  const std::int64_t m = c_shape[c_shape.size() - 2], n = c_shape[c_shape.size() - 1];
  const std::int64_t k = op.transpose_a ? a_shape[a_shape.size() - 2] : a_shape[a_shape.size() - 1];
  std::int64_t batch = 1;
  for (std::size_t i = 0; i + 2 < c_shape.size(); ++i) batch *= c_shape[i];
  const auto sms = static_cast<std::int64_t>(machine.device.sm_count.value);
  const std::int64_t ctas = op.sm_count > 0 ? std::min<std::int64_t>(op.sm_count, sms) : sms;

  Demand d;
  d.where = Where::Sms;
  d.call = HostCall::Gemm;
  d.family = Family::Gemm;
  d.rival = "gemm";
  const KernelShape& shape = shape_of(machine, "gemm");
  d.footprint =
      footprint_of(machine, shape.threads.value, shape.registers_per_thread.value, shape.shared_memory_bytes.value);
  d.kind = GridKind::PersistentDynamic;
  if (shape.kind == "cta_per_tile") d.kind = GridKind::OnePerTile;
  if (shape.kind == "persistent_static") d.kind = GridKind::PersistentStatic;
  d.ctas = ctas;
  if (m == 0 || n == 0 || k == 0 || batch == 0) {
    d.time = picoseconds_of(machine.device.kernel_minimum_ps);
    d.source = machine.device.kernel_minimum_ps.source;
    finish_kernel(context, d);
    return d;
  }
  const TileShape tile = gemm_tile(shape, m, n, batch, ctas);
  d.tiles = batch * ceil_div(m, tile.rows) * ceil_div(n, tile.columns);
  // A batch of products is timed as one that is as much taller: assumed, no table has batches.
  const TimeEstimate& estimate = context.gemm_times.of(a.dtype, batch * m, n, k, op.sm_count);
  const double flops =
      2.0 * static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  d.time = product_time(machine, estimate.time, a.dtype, flops, static_cast<double>(all_bytes(context)), context.clock);
  d.energy_uj = product_energy_uj(machine, a.dtype, flops, context.clock);
  d.source = estimate.source;
  d.extrapolated = estimate.extrapolated || batch > 1;
  finish_kernel(context, d);
  add_uses(context, d, {"gemm"}, {static_cast<double>(all_bytes(context)), 0, flops});
  return d;
}

Result<Demand> demand_of(const Kernel& op, const DemandOf& context) {
  const auto volume = [](const Dim3& v) { return static_cast<std::int64_t>(v.x) * v.y * v.z; };
  Demand d =
      memory_kernel(context, "kernel", "map", std::max<std::int64_t>(elements_of(context, context.command.results), 1),
                    all_bytes(context), 0);
  d.tiles = d.ctas = std::max<std::int64_t>(volume(op.grid), 1);
  d.cluster = volume(op.cluster);
  const auto threads = static_cast<double>(volume(op.block));
  d.footprint = footprint_of(context.machine, threads, 32, static_cast<double>(op.shared_memory));
  d.unit_cap = 1;
  d.assumed = !cost_of(context).time && !cost_of(context).bytes && !cost_of(context).flops;
  if (d.assumed) d.source = "assumed: operands and results once over the memory";
  d.rival = "kernel";
  finish_kernel(context, d);
  return d;
}

Result<Demand> demand_of(const CustomCall&, const DemandOf& context) {
  Demand d = memory_kernel(
      context, "custom_call", "map",
      std::max(elements_of(context, context.command.operands), elements_of(context, context.command.results)),
      all_bytes(context), 0);
  d.assumed = !cost_of(context).time && !cost_of(context).bytes && !cost_of(context).flops;
  if (d.assumed) d.source = "assumed: operands and results once over the memory";
  d.rival = "custom_call";
  return d;
}

std::string_view algorithm_of(const Machine& machine, std::string_view op, Algorithm wanted, bool& replaced) {
  replaced = false;
  if (wanted == Algorithm::CopyEngine) return "copy_engine";
  const std::string_view name = wanted == Algorithm::Automatic ? "ring" : name_of(wanted);
  if (machine.collective(op, name)) return name;
  replaced = name != "ring";
  return "ring";
}

// Bytes as collective_time counts them.
template <class T>
std::int64_t counted_bytes(const T&, const DemandOf& context) {
  if constexpr (std::is_same_v<T, AllGather> || std::is_same_v<T, Recv>)
    return bytes_of(context.expanded, context.command.results);
  else
    return bytes_of(context.expanded, context.command.operands);
}

template <CollectiveOp T>
Result<Demand> demand_of(const T& op, const DemandOf& context) {
  const Machine& machine = context.machine;
  const std::string_view name = collective_name(context.command.payload);
  // A permute, a send and a receive are transfers between two ranks each.
  constexpr bool pairwise = std::is_same_v<T, CollectivePermute> || std::is_same_v<T, Send> || std::is_same_v<T, Recv>;
  const int ranks = pairwise ? 2 : static_cast<int>(context.ranks);
  const std::int64_t bytes = counted_bytes(op, context);
  if (context.ranks <= 1) {
    Demand d = memory_kernel(context, "copy_device", "copy", std::max<std::int64_t>(bytes, 1), 2 * bytes, 0);
    d.family = Family::Collective;
    d.call = HostCall::Collective;
    return d;
  }
  bool replaced = false;
  const std::string_view algorithm = algorithm_of(machine, name, op.algorithm, replaced);
  const Collective* how = machine.collective(name, algorithm);
  Result<CollectiveEstimate> estimate = collective_time(machine, name, ranks, Bytes{bytes}, algorithm);
  if (!how || !estimate)
    return error_at(context.expanded.place(context.command), "STV0850",
                    "machine '{}' has no collective '{}' with algorithm '{}'", machine.name, name, algorithm);
  Demand d;
  d.kind = GridKind::Gang;
  d.call = HostCall::Collective;
  d.family = Family::Collective;
  d.latency = estimate->latency;
  d.time = estimate->transfer;
  d.source = estimate->source;
  d.extrapolated = estimate->extrapolated || replaced;
  const double wire = wire_bytes(name, ranks, static_cast<double>(bytes));
  if (context.crosses_nodes) {
    // The slowest link on the ring sets its pace: the network's, where there is one.
    if (const Link* nic = machine.link("nic")) {
      d.time = std::max(d.time, picoseconds(wire / nic->bandwidth_bytes_per_s.value));
      d.latency += picoseconds_of(nic->latency_ps);
      d.extrapolated = true;
    }
  }
  const auto channels = static_cast<std::int64_t>(how->channels.value);
  if (channels == 0) {
    d.where = Where::CopyEngine;
    d.tiles = d.ctas = d.slots = 1;
  } else {
    d.where = Where::Sms;
    const std::int64_t used = op.max_ctas > 0 ? std::min<std::int64_t>(op.max_ctas, channels) : channels;
    d.tiles = d.ctas = d.slots = used;
    d.footprint =
        footprint_of(machine, how->threads.value, how->registers_per_thread.value, how->shared_memory_bytes.value);
    // One channel alone moves at most its own bandwidth, which is more than its part of all of them.
    const double bus = how->bus_bandwidth_bytes_per_s.value, own = how->channel_bandwidth_bytes_per_s.value;
    const double cap = bus > 0 && own > 0 ? std::max(own * static_cast<double>(channels) / bus, 1.0) : 1;
    const double speed = std::min(cap * static_cast<double>(used) / static_cast<double>(channels), 1.0);
    d.time = picoseconds(seconds_of(d.time) / speed);
    d.unit_cap = std::max(cap * static_cast<double>(used) / (static_cast<double>(channels) * speed), 1.0);
    d.rival = "collective";
  }
  d.energy_uj = sent_energy_uj(machine, wire, channels == 0);
  if (const Cost& cost = cost_of(context); cost.time) {
    d.latency = Picoseconds{0};
    d.time = *cost.time;
    d.source = "the schedule's cost";
    d.extrapolated = false;
  }
  const Amounts amounts{static_cast<double>(bytes), wire, 0};
  if (channels == 0)
    add_uses(context, d, {"copy_peer"}, amounts);
  else
    add_uses(context, d, {name, "collective"}, amounts);
  return d;
}

// Commands that only order others: they ask nothing of the device.
template <class T>
concept Structure =
    std::is_same_v<T, Cond> || std::is_same_v<T, Switch> || std::is_same_v<T, While> || std::is_same_v<T, AsyncStart> ||
    std::is_same_v<T, AsyncDone> || std::is_same_v<T, CollectiveGroup> || std::is_same_v<T, RangeMark>;

template <Structure T>
Result<Demand> demand_of(const T&, const DemandOf&) {
  return Demand{};
}

template <class T>
concept HasDemand = requires(const T& op, const DemandOf& context) {
  { demand_of(op, context) } -> std::same_as<Result<Demand>>;
};
template <class>
struct AlwaysFalse : std::false_type {};

}  // namespace

const TimeEstimate& GemmTimes::of(Dtype dtype, std::int64_t m, std::int64_t n, std::int64_t k, int sm_count) {
  const auto [at, fresh] = known_.try_emplace({dtype, m, n, k, sm_count});
  if (fresh) at->second = gemm_time(machine_, name_of(dtype), m, n, k, sm_count);
  return at->second;
}

Result<Demand> demand_of(const DemandOf& context) {
  return std::visit(
      [&]<class T>(const T& op) -> Result<Demand> {
        if constexpr (HasDemand<T>)
          return demand_of(op, context);
        else
          static_assert(AlwaysFalse<T>::value, "add a demand_of() overload for this op to simulator/demand.cpp");
      },
      context.command.payload);
}

std::string_view collective_name(const Payload& payload) {
  return std::visit(
      []<class T>(const T&) -> std::string_view {
        if constexpr (std::is_same_v<T, Send> || std::is_same_v<T, Recv>)
          return CollectivePermute::info.name;
        else
          return T::info.name;
      },
      payload);
}

SmShape sm_shape(const Device& device) {
  const auto number = [](const Number& n, std::uint32_t otherwise) {
    return n.value > 0 ? static_cast<std::uint32_t>(n.value) : otherwise;
  };
  const SmShape other;
  return {number(device.sm_count, other.count), number(device.max_ctas_per_sm, other.ctas),
          number(device.max_threads_per_sm, other.threads), number(device.registers_per_sm, other.registers),
          number(device.shared_memory_per_sm_bytes, other.shared_bytes)};
}

std::int64_t slots_of(const Device& device, const Footprint& footprint) { return sm_shape(device).fit(footprint); }

Work Demand::tile_work() const {
  const auto total = static_cast<double>(work_of(time.count()));
  const auto slots_d = static_cast<double>(slots);
  double rounds = 0;  // tiles one after the other
  if (kind == GridKind::Gang) {
    rounds = 1;
  } else {
    const std::int64_t full = tiles / slots, rest = tiles % slots;
    rounds = static_cast<double>(full);
    if (rest > 0) rounds += std::max(1 / unit_cap, static_cast<double>(rest) / slots_d);
  }
  return std::llround(total / rounds);
}

}  // namespace stave::simulator
