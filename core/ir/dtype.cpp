#include "core/ir/dtype.h"

#include <array>

namespace stave {
namespace {

constexpr std::array<DtypeInfo, dtype_count> infos = {{
    {"bool", 8, DtypeKind::Bool},
    {"s4", 4, DtypeKind::Signed},
    {"u4", 4, DtypeKind::Unsigned},
    {"s8", 8, DtypeKind::Signed},
    {"u8", 8, DtypeKind::Unsigned},
    {"s16", 16, DtypeKind::Signed},
    {"u16", 16, DtypeKind::Unsigned},
    {"s32", 32, DtypeKind::Signed},
    {"u32", 32, DtypeKind::Unsigned},
    {"s64", 64, DtypeKind::Signed},
    {"u64", 64, DtypeKind::Unsigned},
    {"f8e4m3", 8, DtypeKind::Float},
    {"f8e5m2", 8, DtypeKind::Float},
    {"f16", 16, DtypeKind::Float},
    {"bf16", 16, DtypeKind::Float},
    {"f32", 32, DtypeKind::Float},
    {"f64", 64, DtypeKind::Float},
}};

}  // namespace

const DtypeInfo& info_of(Dtype dtype) { return infos[static_cast<std::size_t>(dtype)]; }

std::optional<Dtype> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < infos.size(); ++i)
    if (infos[i].name == name) return static_cast<Dtype>(i);
  return std::nullopt;
}

std::string_view name_of(Space space) {
  switch (space) {
    case Space::Device: return "device";
    case Space::Host: return "host";
    case Space::Symmetric: return "symmetric";
  }
  return "device";
}

}  // namespace stave
