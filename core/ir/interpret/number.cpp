#include "core/ir/interpret/number.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

namespace stave {
namespace {

constexpr std::uint64_t double_mantissa = (std::uint64_t{1} << 52) - 1;

template <class T>
T read(std::span<const std::byte> bytes, std::size_t i) {
  assert((i + 1) * sizeof(T) <= bytes.size());
  T v;
  std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
  return v;
}

template <class T>
void write(std::span<std::byte> bytes, std::size_t i, T v) {
  assert((i + 1) * sizeof(T) <= bytes.size());
  std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
}

std::uint8_t read_nibble(std::span<const std::byte> bytes, std::size_t i) {
  const auto byte = read<std::uint8_t>(bytes, i / 2);
  return i % 2 == 0 ? byte & 0xf : byte >> 4;
}

void write_nibble(std::span<std::byte> bytes, std::size_t i, std::uint64_t v) {
  const auto byte = read<std::uint8_t>(bytes, i / 2);
  const auto half = static_cast<std::uint8_t>(v & 0xf);
  write<std::uint8_t>(bytes, i / 2,
                      static_cast<std::uint8_t>(i % 2 == 0 ? (byte & 0xf0) | half : (byte & 0x0f) | (half << 4)));
}

template <FloatFormat const& format>
const std::array<float, 256>& table_of() {
  static const std::array<float, 256> table = [] {
    std::array<float, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) t[i] = static_cast<float>(decode(format, i));
    return t;
  }();
  return table;
}

float f16_value(std::uint16_t h) {
  const std::uint32_t sign = std::uint32_t{h & 0x8000U} << 16;
  const std::uint32_t rest = h & 0x7fffU;
  if (rest >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000U | ((rest & 0x3ffU) << 13));
  if (rest >= 0x400) return std::bit_cast<float>(sign | ((rest << 13) + (112U << 23)));
  const float v = static_cast<float>(rest) * 0x1p-24F;
  return sign ? -v : v;
}

float bf16_value(std::uint16_t h) { return std::bit_cast<float>(std::uint32_t{h} << 16); }

const FloatFormat& format_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::F8E4M3: return f8e4m3_format;
    case Dtype::F8E5M2: return f8e5m2_format;
    case Dtype::F16: return f16_format;
    case Dtype::BF16: return bf16_format;
    default: return f32_format;
  }
}

template <class Out, class Read>
void each(std::size_t first, std::size_t count, Out* out, Read read_one) {
  // Negative values keep their bits: arithmetic is modulo 2^64.
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<Out>(read_one(first + i));  // NOLINT(bugprone-signed-char-misuse)
}

template <class Out>
void load_integer_dtype(std::span<const std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, Out* out) {
  const auto plain = [&]<class T>(T) { each(first, count, out, [&](std::size_t i) { return read<T>(bytes, i); }); };
  switch (dtype) {
    case Dtype::Bool: each(first, count, out, [&](std::size_t i) { return read<std::uint8_t>(bytes, i) != 0; }); break;
    case Dtype::S4:
      each(first, count, out,
           [&](std::size_t i) { return static_cast<std::int64_t>(std::uint64_t{read_nibble(bytes, i)} << 60) >> 60; });
      break;
    case Dtype::U4: each(first, count, out, [&](std::size_t i) { return read_nibble(bytes, i); }); break;
    case Dtype::S8: plain(std::int8_t{}); break;
    case Dtype::U8: plain(std::uint8_t{}); break;
    case Dtype::S16: plain(std::int16_t{}); break;
    case Dtype::U16: plain(std::uint16_t{}); break;
    case Dtype::S32: plain(std::int32_t{}); break;
    case Dtype::U32: plain(std::uint32_t{}); break;
    case Dtype::S64: plain(std::int64_t{}); break;
    case Dtype::U64: plain(std::uint64_t{}); break;
    default: assert(false && "an integer dtype");
  }
}

template <class Out>
void load_float_dtype(std::span<const std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, Out* out) {
  switch (dtype) {
    case Dtype::F8E4M3: {
      const auto& table = table_of<f8e4m3_format>();
      each(first, count, out, [&](std::size_t i) { return table[read<std::uint8_t>(bytes, i)]; });
      break;
    }
    case Dtype::F8E5M2: {
      const auto& table = table_of<f8e5m2_format>();
      each(first, count, out, [&](std::size_t i) { return table[read<std::uint8_t>(bytes, i)]; });
      break;
    }
    case Dtype::F16:
      each(first, count, out, [&](std::size_t i) { return f16_value(read<std::uint16_t>(bytes, i)); });
      break;
    case Dtype::BF16:
      each(first, count, out, [&](std::size_t i) { return bf16_value(read<std::uint16_t>(bytes, i)); });
      break;
    case Dtype::F32: each(first, count, out, [&](std::size_t i) { return read<float>(bytes, i); }); break;
    case Dtype::F64: each(first, count, out, [&](std::size_t i) { return read<double>(bytes, i); }); break;
    default: assert(false && "a float dtype");
  }
}

void store_bits(std::span<std::byte> bytes, Dtype dtype, std::size_t i, std::uint64_t v) {
  if (bits_of(dtype) == 4) return write_nibble(bytes, i, v);
  switch (bits_of(dtype)) {
    case 8: return write(bytes, i, static_cast<std::uint8_t>(v));
    case 16: return write(bytes, i, static_cast<std::uint16_t>(v));
    case 32: return write(bytes, i, static_cast<std::uint32_t>(v));
    default: return write(bytes, i, v);
  }
}

}  // namespace

int significand_bits(Dtype dtype) {
  assert(is_float(dtype));
  return dtype == Dtype::F64 ? 53 : format_of(dtype).mantissa_bits + 1;
}

double decode(const FloatFormat& format, std::uint32_t bits) {
  const bool negative = (bits & format.sign_bit()) != 0;
  const std::uint32_t code = bits & (format.sign_bit() - 1);
  const std::uint32_t mantissa = code & ((1U << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(code >> format.mantissa_bits);
  const std::uint64_t sign = std::uint64_t{negative} << 63;
  if (code > format.top() || (!format.infinities && code == format.top())) {
    const std::uint64_t payload = std::uint64_t{mantissa} << (52 - format.mantissa_bits);
    return std::bit_cast<double>(sign | 0x7ff8000000000000U | payload);
  }
  if (code == format.top()) return std::bit_cast<double>(sign | 0x7ff0000000000000U);
  const double magnitude = exponent == 0 ? std::ldexp(mantissa, 1 - format.bias() - format.mantissa_bits)
                                         : std::ldexp(mantissa + (1U << format.mantissa_bits),
                                                      exponent - format.bias() - format.mantissa_bits);
  return negative ? -magnitude : magnitude;
}

std::uint32_t encode(const FloatFormat& format, bool negative, std::uint64_t significand, int exponent) {
  const std::uint32_t sign = negative ? format.sign_bit() : 0;
  if (significand == 0) return sign;
  const int smallest = 1 - format.bias();  // exponent of the smallest normal number
  const int leading = static_cast<int>(std::bit_width(significand)) - 1 + exponent;
  const int scale = leading > smallest ? leading : smallest;
  // The result is `kept` units of 2^(scale - mantissa_bits).
  const int shift = scale - format.mantissa_bits - exponent;
  std::uint64_t kept = 0;
  if (shift <= 0) {
    kept = significand << -shift;
  } else if (shift <= 64) {
    kept = shift == 64 ? 0 : significand >> shift;
    const std::uint64_t half = std::uint64_t{1} << (shift - 1);
    const std::uint64_t lost = significand & (half | (half - 1));
    if (lost > half || (lost == half && kept % 2 == 1)) ++kept;
  }
  // A carry out of the mantissa raises the exponent, as it should; a subnormal that
  // rounds up to the smallest normal number gets exponent 1.
  const std::int64_t code =
      (static_cast<std::int64_t>(scale - smallest) << format.mantissa_bits) + static_cast<std::int64_t>(kept);
  return sign | (code >= format.top() ? format.top() : static_cast<std::uint32_t>(code));
}

std::uint32_t encode(const FloatFormat& format, double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool negative = bits >> 63 != 0;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff);
  const std::uint64_t mantissa = bits & double_mantissa;
  const std::uint32_t sign = negative ? format.sign_bit() : 0;
  if (exponent == 0x7ff) {
    if (mantissa == 0 || !format.infinities) return sign | format.top();
    const std::uint32_t quiet = 1U << (format.mantissa_bits - 1);
    return sign | format.top() | quiet | static_cast<std::uint32_t>(mantissa >> (52 - format.mantissa_bits));
  }
  if (exponent == 0) return encode(format, negative, mantissa, -1074);
  return encode(format, negative, mantissa | (double_mantissa + 1), exponent - 1075);
}

std::int64_t storage_bytes(Dtype dtype, std::int64_t elements) {
  const int bits = bits_of(dtype);
  return bits >= 8 ? elements * (bits / 8) : elements / 2 + elements % 2;
}

double round_to(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::F64: return value;
    case Dtype::F32: return static_cast<float>(value);
    case Dtype::F16: return f16_value(static_cast<std::uint16_t>(encode(f16_format, value)));
    case Dtype::BF16: return bf16_value(static_cast<std::uint16_t>(encode(bf16_format, value)));
    case Dtype::F8E4M3: return table_of<f8e4m3_format>()[encode(f8e4m3_format, value)];
    case Dtype::F8E5M2: return table_of<f8e5m2_format>()[encode(f8e5m2_format, value)];
    default: assert(false && "a float dtype"); return value;
  }
}

double float_of(Dtype float_dtype, Dtype integer_dtype, std::uint64_t value) {
  const bool negative = is_signed(integer_dtype) && static_cast<std::int64_t>(value) < 0;
  if (float_dtype == Dtype::F64)
    return is_signed(integer_dtype) ? static_cast<double>(static_cast<std::int64_t>(value))
                                    : static_cast<double>(value);
  const FloatFormat& format = format_of(float_dtype);
  return decode(format, encode(format, negative, negative ? ~value + 1 : value, 0));
}

std::uint64_t integer_of(Dtype dtype, double value) {
  if (dtype == Dtype::Bool) return value != 0 ? 1 : 0;
  if (std::isnan(value)) return 0;
  const int bits = bits_of(dtype);
  if (is_signed(dtype)) {
    const double limit = std::ldexp(1.0, bits - 1);
    const std::uint64_t largest = (std::uint64_t{1} << (bits - 1)) - 1;
    if (value >= limit) return largest;
    if (value <= -limit) return ~largest;
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  if (value <= 0) return 0;
  if (value >= std::ldexp(1.0, bits)) return ~std::uint64_t{0} >> (64 - bits);
  return static_cast<std::uint64_t>(value);
}

std::uint64_t wrapped(Dtype dtype, std::uint64_t value) {
  if (dtype == Dtype::Bool) return value != 0 ? 1 : 0;
  const int unused = 64 - bits_of(dtype);
  if (is_signed(dtype)) return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << unused) >> unused);
  return value << unused >> unused;
}

void load_doubles(std::span<const std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, double* out) {
  is_float(dtype) ? load_float_dtype(bytes, dtype, first, count, out)
                  : load_integer_dtype(bytes, dtype, first, count, out);
}

void load_floats(std::span<const std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, float* out) {
  is_float(dtype) ? load_float_dtype(bytes, dtype, first, count, out)
                  : load_integer_dtype(bytes, dtype, first, count, out);
}

void load_integers(std::span<const std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count,
                   std::uint64_t* out) {
  if (!is_float(dtype)) return load_integer_dtype(bytes, dtype, first, count, out);
  for (std::size_t i = 0; i < count; ++i) out[i] = integer_of(Dtype::S64, load_double(bytes, dtype, first + i));
}

void store_doubles(std::span<std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, const double* in) {
  switch (dtype) {
    case Dtype::F64:
      for (std::size_t i = 0; i < count; ++i) write(bytes, first + i, in[i]);
      break;
    case Dtype::F32:
      for (std::size_t i = 0; i < count; ++i) write(bytes, first + i, static_cast<float>(in[i]));
      break;
    case Dtype::F16:
    case Dtype::BF16:
    case Dtype::F8E4M3:
    case Dtype::F8E5M2: {
      const FloatFormat& format = format_of(dtype);
      for (std::size_t i = 0; i < count; ++i) store_bits(bytes, dtype, first + i, encode(format, in[i]));
      break;
    }
    default:
      for (std::size_t i = 0; i < count; ++i) store_bits(bytes, dtype, first + i, integer_of(dtype, in[i]));
  }
}

void store_integers(std::span<std::byte> bytes, Dtype dtype, std::size_t first, std::size_t count, Dtype from,
                    const std::uint64_t* in) {
  for (std::size_t i = 0; i < count; ++i) {
    if (is_float(dtype)) {
      store_double(bytes, dtype, first + i, float_of(dtype, from, in[i]));
    } else {
      store_bits(bytes, dtype, first + i, wrapped(dtype, in[i]));
    }
  }
}

std::string real_text(double value, int digits) {
  return std::isnan(value) ? "nan" : fmt::format("{:.{}g}", value, digits);
}

}  // namespace stave
