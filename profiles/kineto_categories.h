// The categories of Kineto's events: importers read them, the exporter writes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace stave {

enum class KinetoKind : std::uint8_t {
  Kernel,
  Copy,
  Memset,
  Call,      // of the CUDA or HIP API
  Sync,      // a wait, as a record
  Range,     // an annotation on a thread
  GpuRange,  // an annotation on a stream
  Host,      // an operator, a Python function
  Other,
};

struct KinetoCategory {
  std::string_view name{};
  KinetoKind kind = KinetoKind::Other;
};

// The first of a kind is the one that is written.
inline constexpr KinetoCategory kineto_categories[] = {
    {"cpu_op", KinetoKind::Host},
    {"kernel", KinetoKind::Kernel},
    {"cuda_runtime", KinetoKind::Call},
    {"python_function", KinetoKind::Host},
    {"cuda_driver", KinetoKind::Call},
    {"gpu_memcpy", KinetoKind::Copy},
    {"gpu_memset", KinetoKind::Memset},
    {"user_annotation", KinetoKind::Range},
    {"gpu_user_annotation", KinetoKind::GpuRange},
    {"cuda_sync", KinetoKind::Sync},
    {"cuda_event", KinetoKind::Sync},
    {"Trace", KinetoKind::Range},
    // before 2022
    {"Kernel", KinetoKind::Kernel},
    {"Memcpy", KinetoKind::Copy},
    {"Memset", KinetoKind::Memset},
    {"Runtime", KinetoKind::Call},
    {"Operator", KinetoKind::Host},
    // other devices
    {"hip_runtime", KinetoKind::Call},
    {"xpu_runtime", KinetoKind::Call},
    {"mtia_runtime", KinetoKind::Call},
    {"privateuse1_runtime", KinetoKind::Call},
    {"concurrent_kernel", KinetoKind::Kernel},
};

constexpr KinetoKind kineto_kind(std::string_view category) {
  const auto at = std::ranges::find(kineto_categories, category, &KinetoCategory::name);
  return at == std::end(kineto_categories) ? KinetoKind::Other : at->kind;
}

// Of any kind but Other.
constexpr std::string_view kineto_category(KinetoKind kind) {
  return std::ranges::find(kineto_categories, kind, &KinetoCategory::kind)->name;
}

}  // namespace stave
