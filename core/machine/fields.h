// Each struct of a machine file names its keys once; reader and summary go by these lists.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "core/machine/machine.h"

namespace stave::machine_fields {

enum class Bound { Positive, ZeroOrMore, Whole, WholeOrZero, Part };

template <class T>
struct NumberField {
  std::string_view key;
  Number T::*member;
  Bound bound;
};

template <class T>
struct OptionalField {
  std::string_view key;
  std::optional<Number> T::*member;
  Bound bound;
};

// One of `allowed`; any text if that is empty.
template <class T>
struct NameField {
  std::string_view key;
  std::string T::*member;
  std::span<const std::string_view> allowed = {};
};

inline constexpr std::string_view scopes[] = {"peer", "switch", "pcie", "nic"};
inline constexpr std::string_view collective_ops[] = {"all_reduce", "all_gather",         "reduce_scatter",
                                                      "all_to_all", "collective_permute", "broadcast"};
inline constexpr std::string_view algorithms[] = {"ring", "copy_engine"};
inline constexpr std::string_view kernel_kinds[] = {"cta_per_tile", "persistent_dynamic", "persistent_static", "gang"};
// Each machine file has these.
inline constexpr std::string_view kernel_families[] = {"gemm", "map", "reduce", "memset", "copy"};
inline constexpr std::string_view resources[] = {"memory", "l2", "power", "link_out", "link_in", "pcie_out", "pcie_in"};
inline constexpr std::string_view use_units[] = {"byte", "wire_byte", "flop", "second"};

using enum Bound;

inline auto fields(const Device*) {
  using N = NumberField<Device>;
  using O = OptionalField<Device>;
  return std::tuple{
      N{"sm_count", &Device::sm_count, Whole},
      N{"sm_clock_hz", &Device::sm_clock_hz, Positive},
      N{"max_threads_per_sm", &Device::max_threads_per_sm, Whole},
      N{"max_ctas_per_sm", &Device::max_ctas_per_sm, Whole},
      N{"registers_per_sm", &Device::registers_per_sm, Whole},
      N{"shared_memory_per_sm_bytes", &Device::shared_memory_per_sm_bytes, Whole},
      N{"shared_memory_per_cta_bytes", &Device::shared_memory_per_cta_bytes, Whole},
      N{"shared_memory_reserved_bytes", &Device::shared_memory_reserved_bytes, WholeOrZero},
      N{"memory_bytes", &Device::memory_bytes, Whole},
      N{"memory_bandwidth_bytes_per_s", &Device::memory_bandwidth_bytes_per_s, Positive},
      N{"memory_peak_bytes_per_s", &Device::memory_peak_bytes_per_s, Positive},
      N{"l2_bytes", &Device::l2_bytes, Whole},
      N{"l2_bandwidth_bytes_per_s", &Device::l2_bandwidth_bytes_per_s, Positive},
      N{"copy_engines", &Device::copy_engines, WholeOrZero},
      N{"power_limit_w", &Device::power_limit_w, Positive},
      N{"vector_flops_per_s", &Device::vector_flops_per_s, Positive},
      O{"tensor_f64_flops_per_s", &Device::tensor_f64_flops_per_s, Positive},
      O{"tensor_tf32_flops_per_s", &Device::tensor_tf32_flops_per_s, Positive},
      O{"tensor_f16_flops_per_s", &Device::tensor_f16_flops_per_s, Positive},
      O{"tensor_bf16_flops_per_s", &Device::tensor_bf16_flops_per_s, Positive},
      O{"tensor_f8_flops_per_s", &Device::tensor_f8_flops_per_s, Positive},
      O{"tensor_s8_flops_per_s", &Device::tensor_s8_flops_per_s, Positive},
      N{"kernel_gap_ps", &Device::kernel_gap_ps, ZeroOrMore},
      N{"stream_gap_ps", &Device::stream_gap_ps, ZeroOrMore},
      N{"kernel_minimum_ps", &Device::kernel_minimum_ps, ZeroOrMore},
      N{"copy_minimum_ps", &Device::copy_minimum_ps, ZeroOrMore},
  };
}

inline auto fields(const HostCosts*) {
  using N = NumberField<HostCosts>;
  return std::tuple{
      N{"launch_ps", &HostCosts::launch_ps, ZeroOrMore},
      N{"launch_observed_ps", &HostCosts::launch_observed_ps, ZeroOrMore},
      N{"gemm_launch_ps", &HostCosts::gemm_launch_ps, ZeroOrMore},
      N{"event_record_ps", &HostCosts::event_record_ps, ZeroOrMore},
      N{"event_wait_ps", &HostCosts::event_wait_ps, ZeroOrMore},
      N{"copy_ps", &HostCosts::copy_ps, ZeroOrMore},
      N{"copy_device_ps", &HostCosts::copy_device_ps, ZeroOrMore},
      N{"memset_ps", &HostCosts::memset_ps, ZeroOrMore},
      N{"collective_launch_ps", &HostCosts::collective_launch_ps, ZeroOrMore},
      N{"sync_ps", &HostCosts::sync_ps, ZeroOrMore},
      N{"predicate_read_ps", &HostCosts::predicate_read_ps, ZeroOrMore},
      N{"handoff_ps", &HostCosts::handoff_ps, ZeroOrMore},
  };
}

inline auto fields(const GraphCosts*) {
  using N = NumberField<GraphCosts>;
  return std::tuple{
      N{"launch_ps", &GraphCosts::launch_ps, ZeroOrMore},
      N{"launch_per_node_ps", &GraphCosts::launch_per_node_ps, ZeroOrMore},
      N{"first_node_ps", &GraphCosts::first_node_ps, ZeroOrMore},
      N{"node_gap_ps", &GraphCosts::node_gap_ps, ZeroOrMore},
      N{"fork_join_ps", &GraphCosts::fork_join_ps, ZeroOrMore},
      N{"fork_join_per_branch_ps", &GraphCosts::fork_join_per_branch_ps, ZeroOrMore},
      N{"while_iteration_ps", &GraphCosts::while_iteration_ps, ZeroOrMore},
      N{"while_kernel_ps", &GraphCosts::while_kernel_ps, ZeroOrMore},
      N{"conditional_ps", &GraphCosts::conditional_ps, ZeroOrMore},
  };
}

inline auto fields(const EnergyCosts*) {
  using N = NumberField<EnergyCosts>;
  return std::tuple{
      N{"idle_w", &EnergyCosts::idle_w, ZeroOrMore},
      N{"gemm_pj_per_flop", &EnergyCosts::gemm_pj_per_flop, ZeroOrMore},
      N{"collective_pj_per_byte", &EnergyCosts::collective_pj_per_byte, ZeroOrMore},
      N{"copy_engine_pj_per_byte", &EnergyCosts::copy_engine_pj_per_byte, ZeroOrMore},
  };
}

inline auto fields(const Link*) {
  return std::tuple{
      NameField<Link>{"scope", &Link::scope, scopes},
      NumberField<Link>{"bandwidth_bytes_per_s", &Link::bandwidth_bytes_per_s, Positive},
      NumberField<Link>{"peak_bytes_per_s", &Link::peak_bytes_per_s, Positive},
      NumberField<Link>{"latency_ps", &Link::latency_ps, ZeroOrMore},
  };
}

inline auto fields(const Collective*) {
  using N = NumberField<Collective>;
  return std::tuple{
      NameField<Collective>{"op", &Collective::op, collective_ops},
      NameField<Collective>{"algorithm", &Collective::algorithm, algorithms},
      N{"channels", &Collective::channels, WholeOrZero},
      N{"threads", &Collective::threads, WholeOrZero},
      N{"registers_per_thread", &Collective::registers_per_thread, WholeOrZero},
      N{"shared_memory_bytes", &Collective::shared_memory_bytes, WholeOrZero},
      N{"base_latency_ps", &Collective::base_latency_ps, ZeroOrMore},
      N{"step_latency_ps", &Collective::step_latency_ps, ZeroOrMore},
      N{"bus_bandwidth_bytes_per_s", &Collective::bus_bandwidth_bytes_per_s, Positive},
      N{"channel_bandwidth_bytes_per_s", &Collective::channel_bandwidth_bytes_per_s, ZeroOrMore},
  };
}

inline auto fields(const KernelShape*) {
  using N = NumberField<KernelShape>;
  return std::tuple{
      NameField<KernelShape>{"family", &KernelShape::family},
      NameField<KernelShape>{"kind", &KernelShape::kind, kernel_kinds},
      N{"threads", &KernelShape::threads, Whole},
      N{"registers_per_thread", &KernelShape::registers_per_thread, Whole},
      N{"shared_memory_bytes", &KernelShape::shared_memory_bytes, WholeOrZero},
      N{"tile_rows", &KernelShape::tile_rows, Whole},
      N{"tile_columns", &KernelShape::tile_columns, Whole},
      N{"memory_efficiency", &KernelShape::memory_efficiency, Part},
  };
}

inline auto fields(const ResourceUse*) {
  return std::tuple{
      NameField<ResourceUse>{"family", &ResourceUse::family},
      NameField<ResourceUse>{"resource", &ResourceUse::resource, resources},
      NameField<ResourceUse>{"per", &ResourceUse::per, use_units},
      NumberField<ResourceUse>{"amount", &ResourceUse::amount, ZeroOrMore},
  };
}

inline auto fields(const Beside*) {
  return std::tuple{
      NameField<Beside>{"family", &Beside::family},
      NameField<Beside>{"beside", &Beside::beside},
      NumberField<Beside>{"speed", &Beside::speed, Part},
      NumberField<Beside>{"speed_first", &Beside::speed_first, Part},
  };
}

}  // namespace stave::machine_fields
