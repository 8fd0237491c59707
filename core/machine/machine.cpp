#include "core/machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

#include "core/machine/fields.h"

namespace stave {
namespace {

template <class T, class Match>
const T* first_of(const std::vector<T>& values, const Match& match) {
  const auto it = std::find_if(values.begin(), values.end(), match);
  return it == values.end() ? nullptr : &*it;
}

std::string in_unit(std::string_view key, double value) {
  if (key.ends_with("_bytes_per_s")) return fmt::format("{:.4g} GB/s", value / 1e9);
  if (key.ends_with("_flops_per_s")) return fmt::format("{:.4g} TFLOP/s", value / 1e12);
  if (key.ends_with("_ps")) return fmt::format("{:.4g} us", value / 1e6);
  if (key.ends_with("_hz")) return fmt::format("{:.4g} MHz", value / 1e6);
  if (key.ends_with("_w")) return fmt::format("{:.4g} W", value);
  if (key.ends_with("_bytes") && value >= 1 << 20) return fmt::format("{:.4g} MiB", value / (1 << 20));
  if (key.ends_with("_bytes")) return fmt::format("{:.10g} B", value);
  return fmt::format("{:.10g}", value);
}

std::string_view without_unit(std::string_view key) {
  for (std::string_view unit : {"_bytes_per_s", "_flops_per_s", "_ps", "_hz", "_w", "_bytes"})
    if (key.ends_with(unit)) return key.substr(0, key.size() - unit.size());
  return key;
}

void add_line(std::string& out, std::string_view key, const Number& number) {
  std::string value = in_unit(key, number.value);
  if (number.spread) value += " ± " + in_unit(key, *number.spread);
  out += fmt::format("    {:<28} {:<24} {}\n", without_unit(key), value, number.source);
}

template <class T>
void add_numbers(std::string& out, const T& value) {
  const auto one = [&](const auto& field) {
    const auto& member = value.*field.member;
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, Number>)
      add_line(out, field.key, member);
    else if constexpr (std::is_same_v<std::decay_t<decltype(member)>, std::optional<Number>>) {
      if (member) add_line(out, field.key, *member);
    }
  };
  std::apply([&](const auto&... field) { (one(field), ...); }, machine_fields::fields(&value));
}

}  // namespace

const Link* Machine::link(std::string_view scope) const {
  return first_of(links, [&](const Link& l) { return l.scope == scope; });
}

const Link* Machine::device_link() const {
  const Link* shared = link("switch");
  return shared ? shared : link("peer");
}

const Collective* Machine::collective(std::string_view op, std::string_view algorithm) const {
  return first_of(collectives, [&](const Collective& c) { return c.op == op && c.algorithm == algorithm; });
}

const KernelShape* Machine::kernel(std::string_view family) const {
  return first_of(kernels, [&](const KernelShape& k) { return k.family == family; });
}

const ResourceUse* Machine::use(std::string_view family, std::string_view resource) const {
  return first_of(uses, [&](const ResourceUse& u) { return u.family == family && u.resource == resource; });
}

const Beside* Machine::beside(std::string_view family, std::string_view other) const {
  return first_of(besides, [&](const Beside& b) { return b.family == family && b.beside == other; });
}

std::optional<FlopsPerSecond> Machine::tensor_rate(std::string_view dtype) const {
  const auto rate = [](const std::optional<Number>& n) -> std::optional<FlopsPerSecond> {
    if (!n) return std::nullopt;
    return FlopsPerSecond{n->value};
  };
  if (dtype == "f64") return rate(device.tensor_f64_flops_per_s);
  if (dtype == "tf32") return rate(device.tensor_tf32_flops_per_s);
  if (dtype == "f16") return rate(device.tensor_f16_flops_per_s);
  if (dtype == "bf16") return rate(device.tensor_bf16_flops_per_s);
  if (dtype.starts_with("f8")) return rate(device.tensor_f8_flops_per_s);
  if (dtype == "s8" || dtype == "u8") return rate(device.tensor_s8_flops_per_s);
  return std::nullopt;
}

std::string_view measured_remark(const Machine& machine) {
  return machine.measured ? "" : "not measured: error unknown";
}

std::string summary(const Machine& machine) {
  std::string out = fmt::format("{}: {}\n", machine.name, machine.description);
  out += fmt::format("  {} node{} x {} device{}, clock state: {}\n", machine.nodes, machine.nodes == 1 ? "" : "s",
                     machine.devices_per_node, machine.devices_per_node == 1 ? "" : "s", machine.clock_state);
  if (!machine.measured) out += fmt::format("  {}\n", measured_remark(machine));
  out += fmt::format("  sha256 {}\n", machine.sha256);
  out += "  device\n";
  add_numbers(out, machine.device);
  out += "  host\n";
  add_numbers(out, machine.host);
  out += "  graph\n";
  add_numbers(out, machine.graph);
  if (machine.energy) {
    out += "  energy\n";
    add_numbers(out, *machine.energy);
  }
  for (const Link& link : machine.links) {
    out += fmt::format("  link {}\n", link.scope);
    add_numbers(out, link);
  }
  for (const Collective& collective : machine.collectives) {
    out += fmt::format("  collective {} ({})\n", collective.op, collective.algorithm);
    add_numbers(out, collective);
  }
  for (const KernelShape& kernel : machine.kernels) {
    out += fmt::format("  kernel {} ({})\n", kernel.family, kernel.kind);
    add_numbers(out, kernel);
  }
  if (!machine.uses.empty()) out += "  resource use\n";
  for (const ResourceUse& use : machine.uses)
    add_line(out, fmt::format("{} {} per {}", use.family, use.resource, use.per), use.amount);
  for (const Beside& beside : machine.besides) {
    out += fmt::format("  {} beside {}\n", beside.family, beside.beside);
    add_numbers(out, beside);
  }
  if (!machine.tables.empty()) out += "  tables\n";
  for (const Table& table : machine.tables)
    out += fmt::format("    {:<28} {:<24} {}\n", table.csv,
                       fmt::format("{} {} rows", table.op, table.gemm.size() + table.collective.size()), table.source);
  const std::vector<std::string> notes = table_notes(machine);
  if (!notes.empty()) out += "  where tables win\n";
  for (const std::string& note : notes) out += fmt::format("    {}\n", note);
  return out;
}

}  // namespace stave
