// The hardware that a schedule is timed on: plain numbers, each with its source.
//
// A machine file is TOML with its tables as CSV beside it (docs/machines.md).
// Codes, 0600-0649: STV0600 not TOML, STV0601 missing, STV0602 unknown key,
// STV0603 wrong type, STV0604 out of range, STV0605 no source, STV0606 table
// hash, STV0607 table rows, STV0608 no such machine, STV0609 too large or not
// text, STV0610 given twice, STV0611 table path, STV0612 unknown name.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"

namespace stave {

// `value` is in the unit that ends the key: _ps picoseconds, _hz, _bytes,
// _bytes_per_s, _flops_per_s, _w watts, _pj picojoules; none is a count or a plain factor.
struct Number {
  double value = 0;
  // In words, by habit "measured: …", "measured elsewhere: …", "data sheet: …", "paper: …", "derived: …", "assumed: …".
  std::string source;
  // Half the range seen around `value`, in its unit.
  std::optional<double> spread;

  friend bool operator==(const Number&, const Number&) = default;
};

inline Picoseconds picoseconds_of(const Number& n) { return picoseconds(n.value * 1e-12); }
inline BytesPerSecond bytes_per_second_of(const Number& n) { return BytesPerSecond{n.value}; }
inline FlopsPerSecond flops_per_second_of(const Number& n) { return FlopsPerSecond{n.value}; }

// One GPU.
struct Device {
  Number sm_count;
  Number sm_clock_hz;  // the clock that `tensor_*` and the tables hold for
  Number max_threads_per_sm;
  Number max_ctas_per_sm;
  Number registers_per_sm;              // 32-bit
  Number shared_memory_per_sm_bytes;    // all CTAs together, their reserved part included
  Number shared_memory_per_cta_bytes;   // the most that one CTA may ask for
  Number shared_memory_reserved_bytes;  // taken by the system for each CTA
  Number memory_bytes;
  Number memory_bandwidth_bytes_per_s;  // reads plus writes that a copy reaches
  Number memory_peak_bytes_per_s;       // data sheet
  Number l2_bytes;
  Number l2_bandwidth_bytes_per_s;
  Number copy_engines;
  Number power_limit_w;
  Number vector_flops_per_s;  // f32 outside the tensor cores
  // Dense tensor-core peaks; absent where the device has no such unit.
  std::optional<Number> tensor_f64_flops_per_s;
  std::optional<Number> tensor_tf32_flops_per_s;
  std::optional<Number> tensor_f16_flops_per_s;
  std::optional<Number> tensor_bf16_flops_per_s;
  std::optional<Number> tensor_f8_flops_per_s;
  std::optional<Number> tensor_s8_flops_per_s;
  Number
      kernel_gap_ps;  // eager: end of a kernel to the start of the next on its stream, as the period of empty kernels
  Number stream_gap_ps;      // the same over an event from another stream
  Number kernel_minimum_ps;  // what a kernel takes however little it does
  Number copy_minimum_ps;    // the same for a device-to-device copy or a memset

  friend bool operator==(const Device&, const Device&) = default;
};

// What the issuing thread pays for a call, and when it sees the device.
struct HostCosts {
  Number launch_ps;           // a kernel
  Number launch_observed_ps;  // a kernel, while CUPTI records kernels
  Number gemm_launch_ps;      // a library's product: choosing and launching its kernel
  Number event_record_ps;
  Number event_wait_ps;
  Number copy_ps;         // an asynchronous copy on a copy engine
  Number copy_device_ps;  // an asynchronous device-to-device copy
  Number memset_ps;
  Number collective_launch_ps;  // one collective or group on one rank's own thread
  Number sync_ps;               // last work of a stream done to the host going on
  Number predicate_read_ps;     // on top of `sync_ps`: copying a predicate to the host
  Number handoff_ps;            // one host thread waking another

  friend bool operator==(const HostCosts&, const HostCosts&) = default;
};

// CUDA graphs: the cost of structure, beside the nodes' own work.
struct GraphCosts {
  Number launch_ps;                // host time of one launch
  Number launch_per_node_ps;       // host time more for each node
  Number first_node_ps;            // launch to the first node's start on an idle device
  Number node_gap_ps;              // end of a node to the start of a dependent one, as the period of empty nodes
  Number fork_join_ps;             // one stage that forks and joins: this ...
  Number fork_join_per_branch_ps;  // ... plus this for each branch
  Number while_iteration_ps;       // one iteration with only the kernel that sets the condition
  Number while_kernel_ps;          // each further kernel of the body, as the period of empty kernels
  Number conditional_ps;           // an if or a switch, with its condition kernel

  friend bool operator==(const GraphCosts&, const GraphCosts&) = default;
};

// A class of equal links; topology is nodes × devices_per_node, never pairs.
//   peer    between two devices of a node, each pair its own
//   switch  each device's port to the node's switch, shared by its transfers
//   pcie    each device to its host
//   nic     each device's share of the network between nodes
struct Link {
  std::string scope;
  Number bandwidth_bytes_per_s;  // one direction, as a copy engine reaches it
  Number peak_bytes_per_s;       // one direction, data sheet
  Number latency_ps;             // fixed part of a copy, so that time = latency + bytes / bandwidth

  friend bool operator==(const Link&, const Link&) = default;
};

// How a library runs one collective op. Times come from the tables where they
// have rows; `base`, `step` and `bus_bandwidth` serve elsewhere (times.h).
struct Collective {
  std::string op;         // all_reduce all_gather reduce_scatter all_to_all collective_permute broadcast
  std::string algorithm;  // "ring" or "copy_engine"
  Number channels;        // CTAs a rank; 0 for copy engines
  Number threads;         // of a CTA
  Number registers_per_thread;
  Number shared_memory_bytes;  // of a CTA
  Number base_latency_ps;
  Number step_latency_ps;
  Number bus_bandwidth_bytes_per_s;      // wire bytes a rank sends a second, large messages
  Number channel_bandwidth_bytes_per_s;  // the most that one channel moves; 0 for copy engines

  friend bool operator==(const Collective&, const Collective&) = default;
};

// The shape of a family's kernels on this machine.
struct KernelShape {
  std::string family;  // gemm map reduce memset copy: a file has these five, and may have more
  std::string kind;    // "cta_per_tile" "persistent_dynamic" "persistent_static" "gang"
  Number threads;      // of a CTA
  Number registers_per_thread;
  Number shared_memory_bytes;  // of a CTA
  Number tile_rows;            // of the row-major result; elements for map, reduce, memset, copy
  Number tile_columns;
  Number memory_efficiency;  // part of `memory_bandwidth` that it reaches alone

  friend bool operator==(const KernelShape&, const KernelShape&) = default;
};

// What one unit of a family's work takes from a resource.
struct ResourceUse {
  std::string family;    // gemm map reduce memset copy_device copy_host copy_peer, or a collective's op
  std::string resource;  // memory l2 power link_out link_in pcie_out pcie_in
  std::string per;       // "byte" (operands), "wire_byte" (times.h), "flop" or "second" (at full speed)
  Number amount;         // in bytes, or watts for power

  friend bool operator==(const ResourceUse&, const ResourceUse&) = default;
};

// Two kernels that share a device though not an SM slow each other by more
// than the counted resources explain (caches, power): the most of its own
// speed that `family` reaches while a kernel of `beside` has CTAs resident.
struct Beside {
  std::string family;  // "gemm", "collective"
  std::string beside;
  Number speed;        // it arrived while the other was resident
  Number speed_first;  // it was resident first

  friend bool operator==(const Beside&, const Beside&) = default;
};

// What work takes from a device, at the clock that the tables hold for (docs/models.md, "Clock and power").
struct EnergyCosts {
  Number idle_w;                   // that is always drawn
  Number gemm_pj_per_flop;         // of products; in proportion to the clock
  Number collective_pj_per_byte;   // of each byte that a rank sends by kernels
  Number copy_engine_pj_per_byte;  // the same by copy engines

  friend bool operator==(const EnergyCosts&, const EnergyCosts&) = default;
};

// A row-major product: [m, k] x [k, n] -> [m, n].
struct GemmRow {
  std::int64_t m = 0, n = 0, k = 0;
  std::int32_t sm_count = 0;  // the limit it ran under; 0 is the whole device
  std::int32_t ctas = 0;      // its grid; 0 is unknown
  std::int64_t time_ps = 0;

  friend bool operator==(const GemmRow&, const GemmRow&) = default;
};

struct CollectiveRow {
  std::string op;
  std::int32_t ranks = 0;
  std::int64_t bytes = 0;  // as collective_time counts them (times.h)
  std::int64_t time_ps = 0;

  friend bool operator==(const CollectiveRow&, const CollectiveRow&) = default;
};

// The device that a table's times come from, as far as they depend on it.
struct TableDevice {
  double sm_count = 0;
  double flops_per_s = 0;
  double memory_bytes_per_s = 0;
  double memory_peak_bytes_per_s = 0;
  double l2_bytes = 0;
  double l2_bytes_per_s = 0;

  friend bool operator==(const TableDevice&, const TableDevice&) = default;
};

// Measured times. In a machine file earlier tables win over later ones.
struct Table {
  std::string op;         // "gemm" or "collective"
  std::string dtype;      // of a gemm; "" for collectives
  std::string algorithm;  // of collectives; "" for a gemm
  std::string csv;        // file name beside the machine file
  std::string sha256;     // of the CSV
  std::string source;
  std::vector<GemmRow> gemm;
  std::vector<CollectiveRow> collective;
  TableDevice device;  // gemm only: the machine's own numbers unless the file gives [table.device]

  friend bool operator==(const Table&, const Table&) = default;
};

struct Machine {
  std::string name;
  std::string description;
  int nodes = 1;
  int devices_per_node = 1;
  bool measured = false;  // false: predictions carry "not measured: error unknown"
  std::string clock_state;

  Device device;
  HostCosts host;
  GraphCosts graph;
  std::optional<EnergyCosts> energy;  // none: how its clock falls under load is not known
  std::vector<Link> links;
  std::vector<Collective> collectives;
  std::vector<KernelShape> kernels;
  std::vector<ResourceUse> uses;
  std::vector<Beside> besides;
  std::vector<Table> tables;
  // `links` as the file has them: what-if edits of a bandwidth scale the tables by the ratio.
  std::vector<Link> links_in_file;

  std::string file;    // where it was read from
  std::string text;    // the TOML
  std::string sha256;  // of `text`, which holds the hashes of the tables

  int devices() const { return nodes * devices_per_node; }
  // The row of that name, or null. A machine that was read has its "pcie" link,
  // a device_link() if a node has two devices, a "nic" if there are two nodes,
  // all six "ring" collectives if there are two devices, and the five kernels.
  const Link* link(std::string_view scope) const;
  // The link between devices of a node: "switch", else "peer".
  const Link* device_link() const;
  const Collective* collective(std::string_view op, std::string_view algorithm = "ring") const;
  const KernelShape* kernel(std::string_view family) const;
  const ResourceUse* use(std::string_view family, std::string_view resource) const;
  const Beside* beside(std::string_view family, std::string_view other) const;
  // Dense tensor-core peak by dtype name (f64 tf32 f16 bf16 f8… s8); f32 runs on the vector units.
  std::optional<FlopsPerSecond> tensor_rate(std::string_view dtype) const;
};

// The text of a table by its file name.
using ReadTable = std::function<Result<std::string>(const std::string& csv)>;

// `file` names the text in errors.
Result<Machine> parse_machine(const std::string& file, std::string_view text, const ReadTable& read_table);
// Tables are read from the folder of `path`.
Result<Machine> load_machine(const std::string& path);

// A path (it has a '/' or ends in ".toml") or a name, looked for as NAME.toml
// in the folders of machine_folders().
Result<Machine> find_machine(const std::string& name_or_path);
// STAVE_MACHINES (split at ':'), ../share/stave/machines from the executable,
// and the source tree's machines/ where it exists.
std::vector<std::string> machine_folders();

struct MachineListing {
  std::string name;
  std::string path;
};
// Each name once, the one that find_machine takes; sorted by name.
std::vector<MachineListing> list_machines();

// Which keys of the file tables win over, so that an edit of them changes little or nothing.
std::vector<std::string> table_notes(const Machine& machine);

// A page for a person: what it is, its main numbers, where they come from.
std::string summary(const Machine& machine);
// "not measured: error unknown" or, for a measured machine, "".
std::string_view measured_remark(const Machine& machine);

}  // namespace stave
