#include "simulator/topology.h"

#include <algorithm>
#include <iterator>

namespace stave::simulator {

Topology::Topology(const Machine& machine, Engine& engine, std::size_t devices)
    : engine_(engine), per_node_(static_cast<std::uint32_t>(std::max(machine.devices_per_node, 1))) {
  const Link* link = machine.device_link();
  peer_ = link && link->scope == "peer";
  const DeviceSpec spec{sm_shape(machine.device),
                        std::max(static_cast<std::uint32_t>(machine.device.copy_engines.value), 1u)};
  Sharing& sharing = engine.sharing();
  for (std::size_t i = 0; i < devices; ++i) {
    engine.add_device(spec);
    first_.push_back(static_cast<std::uint32_t>(sharing.resources()));
    for (const ResourceKind kind :
         {ResourceKind::Memory, ResourceKind::L2, ResourceKind::Power, ResourceKind::Link, ResourceKind::Link,
          ResourceKind::Link, ResourceKind::Link, ResourceKind::Pcie, ResourceKind::Pcie})
      sharing.add_resource(kind);
  }
}

Topology::Own Topology::own(Resource resource) {
  switch (resource) {
    case Resource::Memory: return Memory;
    case Resource::L2: return L2;
    case Resource::Power: return Power;
    case Resource::LinkOut: return Out;
    case Resource::LinkIn: return In;
    case Resource::PcieOut: return PcieOut;
    case Resource::PcieIn: return PcieIn;
  }
  return Memory;
}

void Topology::local_uses(std::uint32_t device, const std::vector<std::pair<Resource, std::uint32_t>>& parts,
                          std::uint32_t ends, std::vector<Use>& uses) const {
  for (const auto& [resource, amount] : parts)
    if (resource != Resource::LinkOut && resource != Resource::LinkIn)
      uses.push_back({first_[device] + own(resource), (amount + ends - 1) / ends});
}

void Topology::link_uses(std::uint32_t from, std::uint32_t to, bool crosses_nodes, std::uint32_t amount,
                         std::vector<Use>& uses) {
  if (!crosses_nodes && peer_) {
    const auto [at, fresh] = pairs_.emplace(std::pair(from, to), 0);
    if (fresh) at->second = engine_.sharing().add_resource(ResourceKind::Link);
    uses.push_back({at->second, amount});
    return;
  }
  uses.push_back({first_[from] + (crosses_nodes ? NicOut : Out), amount});
  uses.push_back({first_[to] + (crosses_nodes ? NicIn : In), amount});
}

double Topology::memory_load(std::uint32_t device) const {
  return static_cast<double>(engine_.sharing().load(first_[device] + Memory)) / static_cast<double>(whole);
}

double Topology::link_load(std::uint32_t device) const {
  std::uint64_t load = engine_.sharing().load(first_[device] + Out);
  for (auto at = pairs_.lower_bound({device, 0}); at != pairs_.end() && at->first.first == device; ++at)
    load += engine_.sharing().load(at->second);
  return static_cast<double>(load) / static_cast<double>(whole);
}

Topology::Busiest Topology::busiest() const {
  // By Own.
  constexpr std::string_view names[] = {"memory bandwidth", "L2 bandwidth", "power",    "links out", "links in",
                                        "NIC out",          "NIC in",       "PCIe out", "PCIe in"};
  Busiest most;
  const auto look = [&](Picoseconds time, std::uint32_t device, std::string_view what) {
    if (time > most.time) most = {time, device, what};
  };
  for (std::uint32_t device = 0; device < first_.size(); ++device) {
    look(engine_.busy_sms(device), device, "SMs");
    look(engine_.busy_copy_engines(device), device, "copy engines");
    for (std::uint32_t i = 0; i < std::size(names); ++i) look(engine_.busy(first_[device] + i), device, names[i]);
  }
  for (const auto& [pair, resource] : pairs_) look(engine_.busy(resource), pair.first, "links out");
  return most;
}

}  // namespace stave::simulator
