// Elements of buffers as numbers and back: every dtype, exact, in any alignment.
// Floats come as double (all of our formats fit), integers and bool as the 64-bit
// two's complement of their value: sign-extended if the dtype is signed, zero-extended
// otherwise. docs/numerics.md states the rules that users rely on.
//
//   rounding   to nearest, ties to even, once, straight from the wider value
//   overflow   f8e5m2, f16, bf16, f32: infinity; f8e4m3 has none: NaN (as XLA's F8E4M3FN)
//   NaN        keeps its sign and the leading bits of its payload, and becomes quiet
//   integers   wrap
//   float to integer   truncates, saturates, NaN is 0 (as XLA and PTX cvt.rzi)
//   to bool    is the value other than zero? (NaN is)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/ir/dtype.h"

namespace stave {

// A binary floating-point format of at most 32 bits with a sign bit and gradual
// underflow. Without infinities the largest code is NaN and the rest of the top
// exponent are numbers.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  bool infinities;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr std::uint32_t sign_bit() const { return 1U << (exponent_bits + mantissa_bits); }
  // The code of infinity; without infinities, of NaN.
  constexpr std::uint32_t top() const {
    return infinities ? ((1U << exponent_bits) - 1) << mantissa_bits : sign_bit() - 1;
  }
};
inline constexpr FloatFormat f8e4m3_format{4, 3, false};
inline constexpr FloatFormat f8e5m2_format{5, 2, true};
inline constexpr FloatFormat f16_format{5, 10, true};
inline constexpr FloatFormat bf16_format{8, 7, true};
inline constexpr FloatFormat f32_format{8, 23, true};

// Bits of the significand with the hidden one: 8 for bf16. Float dtypes only.
int significand_bits(Dtype dtype);

double decode(const FloatFormat& format, std::uint32_t bits);
std::uint32_t encode(const FloatFormat& format, double value);
// (-1)^negative * significand * 2^exponent, rounded once.
std::uint32_t encode(const FloatFormat& format, bool negative, std::uint64_t significand, int exponent);

// Bytes that `elements` elements take; s4 and u4 round up to a whole byte.
std::int64_t storage_bytes(Dtype dtype, std::int64_t elements);

// The nearest value of a float dtype.
double round_to(Dtype float_dtype, double value);
// An integer or bool as the nearest value of a float dtype.
double float_of(Dtype float_dtype, Dtype integer_dtype, std::uint64_t value);
// A float as an integer or bool.
std::uint64_t integer_of(Dtype integer_dtype, double value);
// The value modulo 2^bits in the form that this header uses; bool: not zero.
std::uint64_t wrapped(Dtype integer_dtype, std::uint64_t value);
inline bool is_signed(Dtype dtype) { return info_of(dtype).kind == DtypeKind::Signed; }

// Elements first to first + count - 1. `load_doubles` takes integers too (rounded to
// double), `load_floats` rounds what is wider than f32, `load_integers` converts floats
// as `integer_of` to s64 does. Stores convert to the dtype by the rules above. Two s4 in
// one byte are written one at a time, so neighbours keep their value.
void load_doubles(std::span<const std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, double* out);
void load_floats(std::span<const std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, float* out);
void load_integers(std::span<const std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count,
                   std::uint64_t* out);
void store_doubles(std::span<std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, const double* in);
// `from` is the dtype that the integers are of: it tells their sign.
void store_integers(std::span<std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, Dtype from,
                    const std::uint64_t* in);

// With `digits` significant ones; "nan" whatever its sign, which no dtype's meaning depends on.
std::string real_text(double value, int digits);

inline double load_double(std::span<const std::byte> bytes, Dtype dtype, std::size_t i) {
  double v = 0;
  load_doubles(bytes, dtype, i, 1, &v);
  return v;
}
inline std::int64_t load_signed(std::span<const std::byte> bytes, Dtype dtype, std::size_t i) {
  std::uint64_t v = 0;
  load_integers(bytes, dtype, i, 1, &v);
  return static_cast<std::int64_t>(v);
}
inline std::uint64_t load_unsigned(std::span<const std::byte> bytes, Dtype dtype, std::size_t i) {
  return static_cast<std::uint64_t>(load_signed(bytes, dtype, i));
}
inline void store_double(std::span<std::byte> bytes, Dtype dtype, std::size_t i, double v) {
  store_doubles(bytes, dtype, i, 1, &v);
}
inline void store_signed(std::span<std::byte> bytes, Dtype dtype, std::size_t i, std::int64_t v) {
  const auto bits = static_cast<std::uint64_t>(v);
  store_integers(bytes, dtype, i, 1, Dtype::S64, &bits);
}
inline void store_unsigned(std::span<std::byte> bytes, Dtype dtype, std::size_t i, std::uint64_t v) {
  store_integers(bytes, dtype, i, 1, Dtype::U64, &v);
}

}  // namespace stave
