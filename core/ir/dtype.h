// Element types and where a buffer lives.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace stave {

enum class Dtype : std::uint8_t {
  Bool,
  S4,
  U4,
  S8,
  U8,
  S16,
  U16,
  S32,
  U32,
  S64,
  U64,
  F8E4M3,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64
};
inline constexpr int dtype_count = 17;

enum class DtypeKind : std::uint8_t { Bool, Signed, Unsigned, Float };

// s4 and u4 are stored two to a byte, low half first; bool is one byte, 0 or 1.
// f8e4m3 has no infinities (the "fn" form); f8e5m2 follows IEEE 754.
struct DtypeInfo {
  std::string_view name;
  int bits;
  DtypeKind kind;
};
const DtypeInfo& info_of(Dtype dtype);
inline std::string_view name_of(Dtype dtype) { return info_of(dtype).name; }
inline int bits_of(Dtype dtype) { return info_of(dtype).bits; }
inline bool is_float(Dtype dtype) { return info_of(dtype).kind == DtypeKind::Float; }
inline bool is_integer(Dtype dtype) { return !is_float(dtype) && dtype != Dtype::Bool; }
std::optional<Dtype> dtype_named(std::string_view name);

// device: this rank's GPU memory. host: pinned host memory.
// symmetric: device memory that peers can address at the same offset.
enum class Space : std::uint8_t { Device, Host, Symmetric };
std::string_view name_of(Space space);  // "device", "host", "symmetric"

}  // namespace stave
