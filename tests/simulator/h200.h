// Sizes of the H200 and of kernels on it.
#pragma once

#include "simulator/sms.h"

namespace stave::simulator {

// CUDA programming guide, compute capability 9.0.
inline constexpr SmShape h200{132, 32, 2048, 65536, 233472};
// What cuBLAS and NCCL kernels take there (measured with CUPTI, 2x H200).
inline constexpr Footprint gemm{384, 64512, 214212};
inline constexpr Footprint all_reduce{544, 52224, 104832};

}  // namespace stave::simulator
