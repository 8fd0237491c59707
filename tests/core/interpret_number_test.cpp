#include "core/ir/interpret/number.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/core/interpret_support.h"

namespace stave {
namespace {

struct Small {
  Dtype dtype;
  FloatFormat format;
};
const Small small_floats[] = {{Dtype::F8E4M3, f8e4m3_format},
                              {Dtype::F8E5M2, f8e5m2_format},
                              {Dtype::F16, f16_format},
                              {Dtype::BF16, bf16_format}};

std::uint32_t codes(const FloatFormat& f) { return f.sign_bit() * 2; }

double at(Dtype dtype, std::uint32_t code) {
  TestBuffer b(dtype, {1});
  std::memcpy(b.bytes.data(), &code, b.bytes.size());
  return load_double(b.bytes, dtype, 0);
}

TEST(Number, EveryCodeOfTheSmallFloatsRoundTrips) {
  for (const auto& [dtype, format] : small_floats) {
    const std::uint32_t quiet = 1U << (format.mantissa_bits - 1);
    for (std::uint32_t code = 0; code < codes(format); ++code) {
      const double value = decode(format, code);
      if (std::isnan(value)) {
        ASSERT_TRUE(std::isnan(at(dtype, code)));
      } else {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(at(dtype, code)), std::bit_cast<std::uint64_t>(value));
      }
      const std::uint32_t expected = std::isnan(value) && format.infinities ? code | quiet : code;
      ASSERT_EQ(encode(format, value), expected) << name_of(dtype) << " " << code;
      TestBuffer b(dtype, {1});
      store_double(b.bytes, dtype, 0, value);
      std::uint32_t stored = 0;
      std::memcpy(&stored, b.bytes.data(), b.bytes.size());
      ASSERT_EQ(stored, expected);
      std::uint32_t through_float = 0;
      float f = 0;
      load_floats(b.bytes, dtype, 0, 1, &f);
      store_double(b.bytes, dtype, 0, f);
      std::memcpy(&through_float, b.bytes.data(), b.bytes.size());
      ASSERT_EQ(through_float, expected);
    }
  }
}

// Between neighbours of every format: the middle goes to the even code, what is a hair
// above it up, what is a hair below it down. That is round to nearest even, whole.
TEST(Number, RoundsToNearestEvenBetweenAllNeighbours) {
  for (const auto& [dtype, format] : small_floats) {
    for (std::uint32_t code = 0; code + 1 < format.top(); ++code) {
      const double low = decode(format, code);
      const double high = decode(format, code + 1);
      ASSERT_LT(low, high);
      const double middle = low + (high - low) / 2;
      const std::uint32_t even = code % 2 == 0 ? code : code + 1;
      ASSERT_EQ(encode(format, middle), even) << name_of(dtype) << " " << code;
      ASSERT_EQ(encode(format, std::nextafter(middle, high)), code + 1);
      ASSERT_EQ(encode(format, std::nextafter(middle, low)), code);
      ASSERT_EQ(encode(format, -middle), even | format.sign_bit());
      ASSERT_EQ(round_to(dtype, middle), decode(format, even));
    }
  }
}

TEST(Number, KnownVectors) {
  EXPECT_EQ(at(Dtype::F16, 0x3c00), 1.0);
  EXPECT_EQ(at(Dtype::F16, 0x7bff), 65504.0);
  EXPECT_EQ(at(Dtype::F16, 0x0001), 0x1p-24);
  EXPECT_EQ(at(Dtype::F16, 0x0400), 0x1p-14);
  EXPECT_EQ(at(Dtype::F16, 0x3555), 0.333251953125);
  EXPECT_EQ(at(Dtype::F16, 0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(at(Dtype::BF16, 0x3f80), 1.0);
  EXPECT_EQ(at(Dtype::BF16, 0x4049), 3.140625);
  EXPECT_EQ(at(Dtype::BF16, 0x0001), 0x1p-133);
  EXPECT_EQ(at(Dtype::F8E4M3, 0x7e), 448.0);
  EXPECT_EQ(at(Dtype::F8E4M3, 0x01), 0x1p-9);
  EXPECT_EQ(at(Dtype::F8E4M3, 0x08), 0x1p-6);
  EXPECT_TRUE(std::isnan(at(Dtype::F8E4M3, 0x7f)));
  EXPECT_TRUE(std::isnan(at(Dtype::F8E4M3, 0xff)));
  EXPECT_EQ(at(Dtype::F8E5M2, 0x7b), 57344.0);
  EXPECT_EQ(at(Dtype::F8E5M2, 0x01), 0x1p-16);
  EXPECT_EQ(at(Dtype::F8E5M2, 0x7c), std::numeric_limits<double>::infinity());
}

TEST(Number, Overflow) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(round_to(Dtype::F8E4M3, 464), 448);  // the tie goes to the even code
  EXPECT_TRUE(std::isnan(round_to(Dtype::F8E4M3, std::nextafter(464.0, 500.0))));
  EXPECT_TRUE(std::isnan(round_to(Dtype::F8E4M3, infinity)));
  EXPECT_TRUE(std::isnan(round_to(Dtype::F8E4M3, -1e300)));
  EXPECT_EQ(round_to(Dtype::F8E5M2, std::nextafter(61440.0, 0.0)), 57344);
  EXPECT_EQ(round_to(Dtype::F8E5M2, 61440), infinity);
  EXPECT_EQ(round_to(Dtype::F16, std::nextafter(65520.0, 0.0)), 65504);
  EXPECT_EQ(round_to(Dtype::F16, -65520), -infinity);
  EXPECT_EQ(round_to(Dtype::BF16, 3.4e38), infinity);
  EXPECT_EQ(round_to(Dtype::F32, 1e300), infinity);
}

TEST(Number, WideValuesRoundOnce) {
  const double above_tie = 1 + 0x1p-11 + 0x1p-40;  // through f32 this is a tie, and 1
  EXPECT_EQ(round_to(Dtype::F16, above_tie), 1 + 0x1p-10);
  EXPECT_EQ(round_to(Dtype::F16, static_cast<float>(above_tie)), 1.0);
  const std::uint64_t wide = (std::uint64_t{1} << 60) + (std::uint64_t{1} << 52) + 1;  // through f64 a tie
  EXPECT_EQ(float_of(Dtype::BF16, Dtype::S64, wide), 0x1p60 + 0x1p53);
  EXPECT_EQ(round_to(Dtype::BF16, static_cast<double>(wide)), 0x1p60);
  EXPECT_EQ(float_of(Dtype::BF16, Dtype::S64, ~wide + 1), -(0x1p60 + 0x1p53));
}

TEST(Number, SixtyFourBitSignificandsBelowTheSmallestSubnormal) {
  const std::uint64_t half = std::uint64_t{1} << 63;  // times 2^-88 half of 2^-24, f16's smallest
  EXPECT_EQ(encode(f16_format, false, half, -88), 0U);
  EXPECT_EQ(encode(f16_format, false, half + 1, -88), 1U);
  EXPECT_EQ(encode(f16_format, true, half + 1, -88), 0x8001U);
  EXPECT_EQ(encode(f16_format, false, ~std::uint64_t{0}, -89), 0U);
  EXPECT_EQ(encode(f16_format, false, half + half / 2, -87), 2U);  // 1.5 units: a tie, to the even 2
}

RC_GTEST_PROP(NumberLaw, F32FormatIsTheHardwares, (std::uint64_t bits)) {
  const double value = std::bit_cast<double>(bits);
  RC_PRE(!std::isnan(value));
  RC_ASSERT(encode(f32_format, value) == std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  const auto f = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (!std::isnan(f)) {
    const auto near = std::bit_cast<double>(std::bit_cast<std::uint64_t>(static_cast<double>(f)) + (bits >> 60));
    if (!std::isnan(near))
      RC_ASSERT(encode(f32_format, near) == std::bit_cast<std::uint32_t>(static_cast<float>(near)));
  }
}

RC_GTEST_PROP(NumberLaw, IntegersToF32AreTheHardwares, (std::uint64_t v)) {
  RC_ASSERT(float_of(Dtype::F32, Dtype::U64, v) == static_cast<float>(v));
  RC_ASSERT(float_of(Dtype::F32, Dtype::S64, v) == static_cast<float>(static_cast<std::int64_t>(v)));
}

TEST(Number, EveryIntegerOfEightAndSixteenBitsRoundTrips) {
  for (const Dtype dtype : {Dtype::S4, Dtype::U4, Dtype::S8, Dtype::U8, Dtype::S16, Dtype::U16}) {
    const int bits = bits_of(dtype);
    TestBuffer b(dtype, {4});
    for (std::int64_t i = 0; i < std::int64_t{1} << bits; ++i) {
      const std::int64_t v = is_signed(dtype) ? i - (std::int64_t{1} << (bits - 1)) : i;
      store_signed(b.bytes, dtype, 1, v);
      ASSERT_EQ(load_signed(b.bytes, dtype, 1), v);
      ASSERT_EQ(load_double(b.bytes, dtype, 1), static_cast<double>(v));
      store_double(b.bytes, dtype, 2, static_cast<double>(v));
      ASSERT_EQ(load_signed(b.bytes, dtype, 2), v);
      store_signed(b.bytes, dtype, 1, v + (std::int64_t{1} << bits) * 3);  // wraps
      ASSERT_EQ(load_signed(b.bytes, dtype, 1), v);
    }
  }
}

TEST(Number, NibblesLieLowHalfFirstAndKeepTheirNeighbour) {
  TestBuffer b(Dtype::U4, {5}, {1, 2, 3, 4, 5});
  ASSERT_EQ(b.bytes.size(), 3U);
  EXPECT_EQ(b.bytes[0], std::byte{0x21});
  EXPECT_EQ(b.bytes[1], std::byte{0x43});
  EXPECT_EQ(b.bytes[2], std::byte{0xa5});  // the upper half belongs to nobody
  store_signed(b.bytes, Dtype::S4, 1, -1);
  EXPECT_EQ(b.bytes[0], std::byte{0xf1});
  EXPECT_EQ(load_signed(b.bytes, Dtype::S4, 1), -1);
  EXPECT_EQ(load_signed(b.bytes, Dtype::U4, 1), 15);
}

TEST(Number, FloatsTruncateAndSaturateToIntegers) {
  const double nan = std::nan("");
  const auto as = [](Dtype d, double v) { return static_cast<std::int64_t>(integer_of(d, v)); };
  EXPECT_EQ(as(Dtype::S32, 2.9), 2);
  EXPECT_EQ(as(Dtype::S32, -2.9), -2);
  EXPECT_EQ(as(Dtype::S32, 1e10), 2147483647);
  EXPECT_EQ(as(Dtype::S32, -1e10), -2147483648LL);
  EXPECT_EQ(as(Dtype::S4, 100), 7);
  EXPECT_EQ(as(Dtype::S4, -100), -8);
  EXPECT_EQ(as(Dtype::U4, 15.9), 15);
  EXPECT_EQ(as(Dtype::U8, -0.5), 0);
  EXPECT_EQ(as(Dtype::U8, -1), 0);
  EXPECT_EQ(as(Dtype::U8, 256), 255);
  EXPECT_EQ(as(Dtype::S64, 9.3e18), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(as(Dtype::S64, -9.3e18), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_of(Dtype::U64, 1e19), 10000000000000000000ULL);
  EXPECT_EQ(integer_of(Dtype::U64, 2e19), ~0ULL);
  EXPECT_EQ(as(Dtype::S32, nan), 0);
  EXPECT_EQ(as(Dtype::U64, nan), 0);
  EXPECT_EQ(as(Dtype::Bool, nan), 1);
  EXPECT_EQ(as(Dtype::Bool, 0.25), 1);
  EXPECT_EQ(as(Dtype::Bool, -0.0), 0);
}

TEST(Number, LargeIntegersStayExact) {
  for (const Dtype dtype : {Dtype::S64, Dtype::U64}) {
    TestBuffer b(dtype, {2});
    const std::uint64_t v = 0x7fffffffffffffff;
    store_unsigned(b.bytes, dtype, 1, v);
    EXPECT_EQ(load_unsigned(b.bytes, dtype, 1), v);
  }
  TestBuffer b(Dtype::U64, {1});
  store_unsigned(b.bytes, Dtype::U64, 0, ~0ULL);
  EXPECT_EQ(load_double(b.bytes, Dtype::U64, 0), 0x1p64);
  EXPECT_EQ(storage_bytes(Dtype::S4, 5), 3);
  EXPECT_EQ(storage_bytes(Dtype::F64, 5), 40);
}

TEST(Number, AnyAlignment) {
  std::vector<std::byte> bytes(17);
  const std::span<std::byte> odd = std::span(bytes).subspan(1);
  store_double(odd, Dtype::F64, 1, -2.5);
  EXPECT_EQ(load_double(odd, Dtype::F64, 1), -2.5);
}

}  // namespace
}  // namespace stave
