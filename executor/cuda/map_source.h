// CUDA C++ of the ops that are compiled at run time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/ir/ops.h"

namespace stave::cuda {

// How an operand of a map is read: element for element, one for all, or again
// and again where its shape is a suffix.
struct MapOperand {
  Dtype dtype = Dtype::F32;
  std::int64_t elements = 1;
  bool aligned = true;  // to the bytes that `width` elements take
};

struct MapShape {
  std::vector<MapOperand> operands;
  std::vector<MapOperand> results;
  std::int64_t elements = 1;
};

// Elements that a thread takes at a time: 16 bytes of the widest dtype.
std::uint32_t map_width(const MapShape& shape);

// extern "C" map(operands..., results...): `map_width` elements a thread.
std::string map_source(const Lambda& f, const MapShape& shape);

inline constexpr std::uint32_t map_threads = 256;

struct ReduceShape {
  Dtype dtype = Dtype::F32;
  Dtype result = Dtype::F32;
  Reduction reduction = Reduction::Sum;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> axes;
  bool aligned = true;  // the operand, to 16 bytes
};

// A reduction in two kernels: `chunks` partial results an element, then their combination.
struct ReducePlan {
  std::int64_t outputs = 1;
  std::int64_t length = 1;   // elements that one result combines
  bool rows = false;         // they are consecutive: a block shares them
  std::uint32_t chunks = 1;  // parts of `length`
  std::uint32_t threads = 256;
  std::uint32_t blocks = 1;  // of the first kernel in x; `chunks` in y
  std::int64_t scratch_bytes = 0;
  bool shared = false;               // the threads of a block share the partial sums of one result
  std::uint32_t combine_blocks = 1;  // of the second kernel, of `combine_threads`
};
inline constexpr std::uint32_t combine_threads = 128;
ReducePlan plan_reduce(const ReduceShape& shape, std::uint32_t multiprocessors);

// extern "C" partial(operand, scratch), combine_partials(scratch, result).
std::string reduce_source(const ReduceShape& shape, const ReducePlan& plan);

// extern "C" gemm(a, b, c, bias, d): an element a thread, k in order. For what cuBLASLt does not take.
struct GemmShape {
  Dtype a = Dtype::F32, b = Dtype::F32, d = Dtype::F32;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
};
std::string gemm_source(const Gemm& gemm, const GemmShape& shape);

}  // namespace stave::cuda
