// Buffers as an op sees them: bytes, element type and shape.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/ir/dtype.h"

namespace stave {

// `bytes` holds storage_bytes(dtype, elements of shape), row-major, at any alignment.
struct ConstOperand {
  std::span<const std::byte> bytes;
  Dtype dtype = Dtype::F32;
  std::span<const std::int64_t> shape{};
};

struct Operand {
  std::span<std::byte> bytes;
  Dtype dtype = Dtype::F32;
  std::span<const std::int64_t> shape{};

  operator ConstOperand() const { return {bytes, dtype, shape}; }
};

inline std::int64_t elements_of(std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}

}  // namespace stave
