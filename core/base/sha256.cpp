#include "core/base/sha256.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace stave {
namespace sha256_block {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64
// primes (FIPS 180-4, section 4.2.2).
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void add_block(State& state, const unsigned char* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
           std::uint32_t{block[4 * i + 2]} << 8 | std::uint32_t{block[4 * i + 3]};
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + round_constants[i] + w[i];
    const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const State add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state[i] += add[i];
}

#ifdef __x86_64__
// CPUID leaf 7: EBX bit 29; leaf 1: ECX bits 9 (SSSE3) and 19 (SSE4.1).
bool has_instructions() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c >> 9 & 1) == 0 || (c >> 19 & 1) == 0) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b >> 29 & 1) != 0;
}

// The instructions take the state as the words ABEF and CDGH, four rounds at a time.
__attribute__((target("sha,sse4.1,ssse3"))) void add_by_instructions(State& state, const unsigned char* blocks,
                                                                     std::size_t count) {
  const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i* const words = reinterpret_cast<__m128i*>(state.data());
  const __m128i cdab = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i efgh = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
  __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
  for (; count > 0; --count, blocks += 64) {
    const __m128i abef_before = abef, cdgh_before = cdgh;
    __m128i w[4];
    for (std::size_t i = 0; i < 16; ++i) {
      __m128i& next = w[i % 4];
      if (i < 4) {
        next = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(blocks) + i), big_endian);
      } else {
        const __m128i minus_7 = _mm_alignr_epi8(w[(i + 3) % 4], w[(i + 2) % 4], 4);
        next = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(next, w[(i + 1) % 4]), minus_7), w[(i + 3) % 4]);
      }
      const __m128i constants = _mm_loadu_si128(reinterpret_cast<const __m128i*>(round_constants.data()) + i);
      const __m128i sum = _mm_add_epi32(next, constants);
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }
  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  _mm_storeu_si128(words, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(words + 1, _mm_alignr_epi8(dchg, feba, 8));
}
#endif

}  // namespace

void add_portable(State& state, const unsigned char* blocks, std::size_t count) {
  for (; count > 0; --count, blocks += 64) add_block(state, blocks);
}

void add(State& state, const unsigned char* blocks, std::size_t count) {
#ifdef __x86_64__
  static const bool fast = has_instructions();
  if (fast) return add_by_instructions(state, blocks, count);
#endif
  add_portable(state, blocks, count);
}

}  // namespace sha256_block

void Sha256::add(std::string_view data) {
  const auto* at = reinterpret_cast<const unsigned char*>(data.data());
  const auto* const end = at + data.size();
  const std::size_t waiting = bytes_ % block_.size();
  bytes_ += data.size();
  if (waiting > 0) {
    const std::size_t n = std::min(block_.size() - waiting, data.size());
    std::copy(at, at + n, block_.begin() + static_cast<std::ptrdiff_t>(waiting));
    at += n;
    if (waiting + n < block_.size()) return;
    sha256_block::add(state_, block_.data(), 1);
  }
  const std::size_t whole = static_cast<std::size_t>(end - at) / block_.size();
  sha256_block::add(state_, at, whole);
  at += whole * block_.size();
  std::copy(at, end, block_.begin());
}

std::string Sha256::digest() const {
  sha256_block::State state = state_;
  std::array<unsigned char, 128> tail{};
  const std::size_t left = bytes_ % block_.size();
  std::copy(block_.begin(), block_.begin() + static_cast<std::ptrdiff_t>(left), tail.begin());
  tail[left] = 0x80;
  const std::size_t end = left < 56 ? 64 : 128;
  const std::uint64_t bits = bytes_ * 8;
  for (std::size_t i = 0; i < 8; ++i) tail[end - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  sha256_block::add(state, tail.data(), end / 64);
  std::string out;
  for (const std::uint32_t word : state) out += fmt::format("{:08x}", word);
  return out;
}

std::string sha256(std::string_view data) {
  Sha256 hash;
  hash.add(data);
  return hash.digest();
}

}  // namespace stave
