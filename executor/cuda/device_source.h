// The device code that every generated kernel starts with: element types as
// docs/numerics.md defines them, by the numbers of Dtype.
#pragma once

#include <string_view>

namespace stave::cuda {

// CUDA C++ for NVRTC; includes nothing.
//   Elem<D>::Value    what the element computes as: s32, u32, s64, u64, float (f32 and narrower), double
//   get<D>(p, i), put<D>(p, i, v)    element i of packed storage
//   cast<To, From>(v)                rounds, saturates or wraps
//   combine<R>(a, b)                 R: 0 sum, 1 prod, 2 min, 3 max
std::string_view device_prelude();

}  // namespace stave::cuda
