#include "profiles/import/kineto_kinds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "profiles/import/copy_kinds.h"
#include "profiles/import/json_text.h"

namespace stave {
namespace {

bool contains_any_case(std::string_view text, std::string_view lower) {
  return std::search(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
         }) != text.end();
}

struct Dtype {
  std::string_view name;
  std::string_view dtype;
  std::int64_t bytes;
};
// c10's scalar types.
constexpr Dtype dtypes[] = {{"Float", "f32", 4},
                            {"Half", "f16", 2},
                            {"BFloat16", "bf16", 2},
                            {"Double", "f64", 8},
                            {"Int", "s32", 4},
                            {"Long", "s64", 8},
                            {"Short", "s16", 2},
                            {"Char", "s8", 1},
                            {"Byte", "u8", 1},
                            {"Bool", "bool", 1},
                            {"Float8_e4m3fn", "f8e4m3fn", 1},
                            {"Float8_e5m2", "f8e5m2", 1}};

}  // namespace

// Symmetric memory and serving engines have kernels of their own, which name the op alone. Inductor names a fused
// kernel by all the ops around it, and blocks and warps reduce within one device.
bool names_collective(std::string_view kernel) {
  if (contains_any_case(kernel, "nccl") || contains_any_case(kernel, "rccl")) return true;
  if (kernel.starts_with("triton_")) return false;
  if (!contains_any_case(kernel, "all") && !contains_any_case(kernel, "scatter")) return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::string plain;
  std::vector<bool> begins;  // a word: no part of "small_reduce" is an op
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    const char c = kernel[i];
    if (c == '_') continue;
    const bool capital = c >= 'A' && c <= 'Z';
    begins.push_back(i == 0 || capital || !is_letter(kernel[i - 1]));
    plain += capital ? static_cast<char>(c + 32) : c;
  }
  for (const std::string_view op : {"allreduce", "allgather", "reducescatter", "alltoall"}) {
    for (std::size_t at = plain.find(op); at != std::string::npos; at = plain.find(op, at + 1)) {
      const std::string_view before = std::string_view(plain).substr(0, at);
      if (begins[at] && !before.ends_with("block") && !before.ends_with("warp")) return true;
    }
  }
  return false;
}

Family kernel_family(std::string_view kernel) {
  if (names_collective(kernel)) return Family::Collective;
  return contains_any_case(kernel, "gemm") ? Family::Gemm : Family::Compute;
}

std::string_view collective_op(std::string_view text) {
  static constexpr std::pair<std::string_view, std::string_view> ops[] = {{"allreduce", "all_reduce"},
                                                                          {"all_reduce", "all_reduce"},
                                                                          {"allgather", "all_gather"},
                                                                          {"all_gather", "all_gather"},
                                                                          {"reducescatter", "reduce_scatter"},
                                                                          {"reduce_scatter", "reduce_scatter"},
                                                                          {"alltoall", "all_to_all"},
                                                                          {"all_to_all", "all_to_all"},
                                                                          {"broadcast", "broadcast"},
                                                                          {"sendrecv", "sendrecv"},
                                                                          {"send", "send"},
                                                                          {"recv", "recv"},
                                                                          {"barrier", "barrier"},
                                                                          {"gather", "gather"},
                                                                          {"scatter", "scatter"},
                                                                          {"reduce", "reduce"}};
  for (const auto& [part, op] : ops)
    if (contains_any_case(text, part)) return op;
  return {};
}

std::optional<CollectiveArguments> collective_arguments(const TraceEvent& event, std::string_view kernel) {
  const JsonValue name = event.argument("Collective name");
  const JsonValue group = event.argument("Process Group Name");
  if (!name && !group) return std::nullopt;
  CollectiveArguments out;
  const std::string_view op = collective_op(name ? name.text : kernel);
  out.op = op.empty() ? unescaped(name.text) : std::string(op);
  if (out.op.empty()) out.op = "collective";
  const JsonValue members = event.argument("Process Group Ranks");
  out.communicator = group ? unescaped(group.text) : std::string("unnamed");
  if (members) out.communicator += ' ' + unescaped(members.text);
  const std::optional<std::int64_t> in = integer(event.argument("In msg nelems"));
  const std::optional<std::int64_t> out_count = integer(event.argument("Out msg nelems"));
  if (in || out_count) out.count = std::max(in.value_or(0), out_count.value_or(0));
  const JsonValue dtype = event.argument("dtype");
  out.dtype = unescaped(dtype.text);
  for (const Dtype& known : dtypes) {
    if (known.name != dtype.text) continue;
    out.dtype = known.dtype;
    if (out.count && *out.count >= 0 && *out.count < (std::int64_t{1} << 59)) out.bytes = *out.count * known.bytes;
  }
  const std::int64_t ranks = integer(event.argument("Group size")).value_or(0);
  out.ranks = ranks > 0 && ranks < (1 << 24) ? static_cast<std::uint32_t>(ranks) : 0;
  out.sequence = integer(event.argument("Seq"));
  return out;
}

void fill_copy_kinds(std::string_view name, CopyDetail& copy) {
  for (std::uint32_t kind = 1; kind < std::size(copy_kinds); ++kind)
    if (name.find(copy_kinds[kind]) != std::string_view::npos) copy.copy_kind = kind;
  const std::size_t open = name.find('('), arrow = name.find(" -> ");
  if (open == std::string_view::npos || arrow == std::string_view::npos || arrow < open) return;
  const std::string_view from = name.substr(open + 1, arrow - open - 1), to = name.substr(arrow + 4);
  for (std::uint32_t kind = 0; kind < std::size(memory_kinds); ++kind) {
    if (from == memory_kinds[kind]) copy.source_kind = kind;
    if (to.starts_with(memory_kinds[kind])) copy.destination_kind = kind;
  }
}

std::optional<std::uint32_t> step_number(std::string_view name) {
  constexpr std::string_view prefix = "ProfilerStep#";
  if (!name.starts_with(prefix)) return std::nullopt;
  std::uint32_t step = 0;
  const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), step);
  if (error != std::errc{} || end != name.data() + name.size() || step == StepNumber::none) return std::nullopt;
  return step;
}

std::optional<LaunchDims> launch_dims(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::Array && value.kind != JsonValue::Kind::String) return std::nullopt;
  LaunchDims out{};
  std::string_view text = value.text;
  for (std::uint32_t& dim : out) {
    text.remove_prefix(std::min(text.find_first_not_of("[,x \t\r\n"), text.size()));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc{}) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return out;
}

std::optional<std::int64_t> trailing_number(const JsonValue& value) {
  if (const std::optional<std::int64_t> number = integer(value)) return number;
  if (value.kind != JsonValue::Kind::String) return std::nullopt;
  std::size_t at = value.text.size();
  while (at > 0 && value.text[at - 1] >= '0' && value.text[at - 1] <= '9') --at;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.text.data() + at, value.text.data() + value.text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

}  // namespace stave
