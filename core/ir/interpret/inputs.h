// Values for the buffers of a run: `--input a=random:7`, `a=iota`, `a=zeros`, `a=FILE.npy`.
// The same bytes on every machine and compiler. Codes STV0680-0683.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ir/dtype.h"
#include "core/ir/expanded.h"
#include "core/ir/interpret/npy.h"

namespace stave {

struct InputSpec {
  enum class Kind : std::uint8_t { Random, Iota, Zeros, File, Number };
  std::string parameter;  // without the %
  Kind kind = Kind::Zeros;
  std::uint64_t seed = 0;  // Random
  std::string path{};      // File
  double number = 0;       // Number: every element; true is 1

  friend bool operator==(const InputSpec&, const InputSpec&) = default;
};

// "a=random:7", "a=random" (seed 0), "a=iota", "a=zeros", "a=27", "a=true", "a=FILE.npy". STV0680.
Result<InputSpec> parse_input_spec(std::string_view text);

// A spec with its file read.
struct Input {
  InputSpec spec;
  NpyArray array{};  // File
};
Result<Input> load_input(InputSpec spec);

// The buffer to fill on one rank.
struct InputTarget {
  std::string_view parameter;
  Dtype dtype = Dtype::F32;
  std::span<const std::int64_t> shape{};
  Rank rank = 0;
  std::size_t ranks = 1;
  Rank uniform_rank = 0;  // equal on ranks that must get equal values; see uniform_rank()
};

// The first rank with this rank's coordinates on all axes but the uniform ones.
Rank uniform_rank(std::span<const std::int64_t> mesh_sizes, const Axes& uniform, Rank rank);

// random: element i is a function of (seed, parameter, uniform_rank, i); floats are multiples
//   of 2^-7 in [-1, 1) (f8e4m3: 2^-3, f8e5m2: 2^-2), so exact in every float dtype, and sums
//   of up to 2^10 products of them are exact in f32; signed integers -8..7, unsigned 0..15.
// A number: every element, rounded or truncated as a cast from f64 does.
// iota: 0, 1, 2, ... row-major, the same on all ranks; integers wrap, floats start again at
//   2^(bits of the significand), up to where all integers are exact; bool alternates.
// File: the dtype must be the buffer's; the shape is the buffer's (same on all ranks) or
//   [ranks, ...] (one part a rank).
Result<std::vector<std::byte>> fill_input(const Input& input, const InputTarget& target);

}  // namespace stave
