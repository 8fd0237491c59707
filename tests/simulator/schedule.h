// Schedules as text, predicted on a machine of the test's own.
#pragma once

#include <memory>
#include <string>

#include "core/ir/expanded.h"
#include "core/lower/plan.h"
#include "core/machine/machine.h"
#include "core/text/parse.h"
#include "simulator/simulate.h"

namespace stave {

inline Result<Plan> plan_of(const std::string& text, Mode mode = Mode::Eager) {
  TRY(Module module, parse("test.stave", text));
  TRY(Expansion expansion, expand_and_verify(std::make_shared<const Module>(std::move(module))));
  return lower(std::move(expansion), mode);
}

// Round numbers: 10 SMs, memory 1 TB/s, links 100 GB/s, PCIe 50 GB/s, a ring of
// 4 channels (512 threads, 100 KB each) without latency, hosts and gaps that cost nothing.
inline Machine plain_machine(int devices) {
  Machine m;
  m.name = "plain";
  m.devices_per_node = devices;
  m.device.sm_count.value = 10;
  m.device.max_threads_per_sm.value = 2048;
  m.device.max_ctas_per_sm.value = 32;
  m.device.registers_per_sm.value = 65536;
  m.device.shared_memory_per_sm_bytes.value = 233472;
  m.device.memory_bandwidth_bytes_per_s.value = 1e12;
  m.device.copy_engines.value = 2;
  m.device.power_limit_w.value = 700;
  m.device.tensor_bf16_flops_per_s = Number{1e15, "assumed: test", {}};
  m.device.memory_peak_bytes_per_s.value = 1e12;
  Link link;
  link.scope = "switch";
  link.bandwidth_bytes_per_s.value = 100e9;
  m.links.push_back(link);
  link.scope = "pcie";
  link.bandwidth_bytes_per_s.value = 50e9;
  m.links.push_back(link);
  m.links_in_file = m.links;
  for (const char* op :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "collective_permute", "broadcast"}) {
    Collective c;
    c.op = op;
    c.algorithm = "ring";
    c.channels.value = 4;
    c.threads.value = 512;
    c.shared_memory_bytes.value = 100e3;
    c.bus_bandwidth_bytes_per_s.value = 100e9;
    c.channel_bandwidth_bytes_per_s.value = 25e9;
    m.collectives.push_back(c);
    c.algorithm = "copy_engine";
    c.channels.value = 0;
    c.shared_memory_bytes.value = 0;
    c.channel_bandwidth_bytes_per_s.value = 0;
    m.collectives.push_back(c);
  }
  return m;
}

// Slices of streams, not of hosts, by the name of their op.
inline std::vector<Slice> device_slices(const Timeline& timeline, std::string_view op, std::uint32_t rank = 0) {
  std::vector<Slice> found;
  for (const Slice& slice : timeline.slices()) {
    const Track& track = timeline.track(slice.track);
    if (track.kind == TrackKind::Stream && track.rank == rank && timeline.text(slice.name) == op)
      found.push_back(slice);
  }
  return found;
}

}  // namespace stave
