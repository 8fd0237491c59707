// What a Kineto event is about, by its category and name; what a kernel's
// arguments say about a collective.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/timeline/rows.h"
#include "profiles/import/json_event.h"
#include "profiles/kineto_categories.h"

namespace stave {

inline bool is_gpu_work(KinetoKind kind) {
  return kind == KinetoKind::Kernel || kind == KinetoKind::Copy || kind == KinetoKind::Memset;
}

// Any case: ncclDevKernel_..., multimem_all_reduce_kernel. RCCL's mscclKernel is not seen.
bool names_collective(std::string_view kernel);
Family kernel_family(std::string_view kernel);

// The collective that the arguments of a kernel name.
struct CollectiveArguments {
  std::string communicator{};
  std::string op{};  // all_reduce, ...
  std::string dtype{};
  std::optional<std::int64_t> count{};
  std::optional<std::int64_t> bytes{};
  std::uint32_t ranks = 0;
  std::optional<std::int64_t> sequence{};
  bool by_order = false;  // the number was counted, not told
};
std::optional<CollectiveArguments> collective_arguments(const TraceEvent& event, std::string_view kernel);
// The op that a kernel's name says; "" if none.
std::string_view collective_op(std::string_view text);

// CUPTI's numbers from "Memcpy HtoD (Pinned -> Device)".
void fill_copy_kinds(std::string_view name, CopyDetail& copy);

// The N of "ProfilerStep#N".
std::optional<std::uint32_t> step_number(std::string_view name);

// Of "[8, 1, 1]" or "8 x 1 x 1".
std::optional<LaunchDims> launch_dims(const JsonValue& value);

// The stream's number in 7, "7" or "stream 7".
std::optional<std::int64_t> trailing_number(const JsonValue& value);

}  // namespace stave
