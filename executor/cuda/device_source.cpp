#include "executor/cuda/device_source.h"

namespace stave::cuda {

std::string_view device_prelude() {
  return R"cuda(
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

__device__ inline float f16_value(u16 r) { float v; asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(r)); return v; }
__device__ inline u16 f16_raw(float v) { u16 r; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(r) : "f"(v)); return r; }
__device__ inline float bf16_value(u16 r) { return __uint_as_float((u32)r << 16); }
__device__ inline u16 bf16_raw(float v) { u16 r; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(r) : "f"(v)); return r; }

// M mantissa bits, exponent bias B; TOP is the code of infinity, or of NaN where there is no infinity.
template <int M, int B, u32 TOP, bool INFINITIES>
__device__ inline u8 f8_raw(float v) {
  u32 bits = __float_as_uint(v);
  u8 sign = (u8)(bits >> 24 & 0x80u);
  if (v != v) return sign | 0x7f;
  float a = fabsf(v);
  if (a > 1e6f) return sign | (u8)TOP;
  s32 e = (s32)(bits >> 23 & 255u) - 127;
  s32 q = (e > 1 - B ? e : 1 - B) - M;
  u32 r = (u32)rintf(ldexpf(a, -q));
  u32 code = r < (1u << M) ? r : ((u32)(q + M + B) << M) + (r - (1u << M));
  return sign | (u8)(code >= TOP ? TOP : code);
}
__device__ inline float e4m3_value(u8 r) {
  u32 m = r & 0x7fu;
  float v = m == 0x7fu ? __uint_as_float(0x7fc00000u)
            : m < 8u   ? (float)m * 0.001953125f
                       : __uint_as_float(((m >> 3) + 120u) << 23 | (m & 7u) << 20);
  return r & 0x80u ? -v : v;
}

template <int D> struct Elem;
#define ELEM(D, RAW, VALUE, BITS, FLOAT, SIGNED, TO_VALUE, TO_RAW)        \
  template <> struct Elem<D> {                                            \
    using Raw = RAW;                                                      \
    using Value = VALUE;                                                  \
    static constexpr int bits = BITS;                                     \
    static constexpr bool is_float = FLOAT;                               \
    static constexpr bool is_signed = SIGNED;                             \
    static __device__ inline Value value(Raw r) { return TO_VALUE; }      \
    static __device__ inline Raw raw(Value v) { return (Raw)(TO_RAW); }   \
  };
ELEM(0, u8, u32, 8, false, false, r != 0, v != 0)
ELEM(1, u8, s32, 4, false, true, (s32)((u32)r << 28) >> 28, v & 15)
ELEM(2, u8, u32, 4, false, false, r & 15u, v & 15u)
ELEM(3, s8, s32, 8, false, true, r, v)
ELEM(4, u8, u32, 8, false, false, r, v)
ELEM(5, s16, s32, 16, false, true, r, v)
ELEM(6, u16, u32, 16, false, false, r, v)
ELEM(7, s32, s32, 32, false, true, r, v)
ELEM(8, u32, u32, 32, false, false, r, v)
ELEM(9, s64, s64, 64, false, true, r, v)
ELEM(10, u64, u64, 64, false, false, r, v)
ELEM(11, u8, float, 8, true, true, e4m3_value(r), (f8_raw<3, 7, 0x7fu, false>(v)))
ELEM(12, u8, float, 8, true, true, f16_value((u16)((u32)r << 8)), (f8_raw<2, 15, 0x7cu, true>(v)))
ELEM(13, u16, float, 16, true, true, f16_value(r), f16_raw(v))
ELEM(14, u16, float, 16, true, true, bf16_value(r), bf16_raw(v))
ELEM(15, float, float, 32, true, true, r, v)
ELEM(16, double, double, 64, true, true, r, v)

template <int D> __device__ inline typename Elem<D>::Value get(const void* p, u64 i) {
  if constexpr (Elem<D>::bits == 4)
    return Elem<D>::value((u8)(((const u8*)p)[i / 2] >> (i % 2 * 4) & 15u));
  else
    return Elem<D>::value(((const typename Elem<D>::Raw*)p)[i]);
}
// Two 4-bit elements share a byte: one thread writes both.
template <int D> __device__ inline void put(void* p, u64 i, typename Elem<D>::Value v) {
  if constexpr (Elem<D>::bits == 4) {
    u8* byte = (u8*)p + i / 2;
    u32 shift = (u32)(i % 2) * 4;
    *byte = (u8)((*byte & ~(15u << shift)) | (u32)Elem<D>::raw(v) << shift);
  } else {
    ((typename Elem<D>::Raw*)p)[i] = Elem<D>::raw(v);
  }
}

// Rounds to odd, so that a second rounding to a narrower float is the only one that counts.
__device__ inline float odd_float(double x) {
  float f = __double2float_rz(x);
  if ((double)f != x && f == f && fabsf(f) < 3.4e38f) f = __uint_as_float(__float_as_uint(f) | 1u);
  return f;
}
template <int D> __device__ inline typename Elem<D>::Value round_to(double x) {
  if constexpr (D == 16) return x;
  else if constexpr (D == 15) return __double2float_rn(x);
  else return Elem<D>::value(Elem<D>::raw(odd_float(x)));
}
template <int D> __device__ inline typename Elem<D>::Value rounded(float x) {
  if constexpr (D >= 15) return x;
  else return Elem<D>::value(Elem<D>::raw(x));
}
template <int D> __device__ inline typename Elem<D>::Value wrap(u64 x) {
  if constexpr (D == 0) return x != 0;
  else if constexpr (D == 1) return (s32)((u32)x << 28) >> 28;
  else if constexpr (D == 2) return (u32)x & 15u;
  else return (typename Elem<D>::Value)(typename Elem<D>::Raw)x;
}
template <int D> __device__ inline typename Elem<D>::Value to_integer(double x) {
  using V = typename Elem<D>::Value;
  constexpr int bits = Elem<D>::bits;
  if constexpr (D == 0) return x != 0;
  else if constexpr (D == 9) {
    return x != x ? 0 : x >= 9223372036854775808.0 ? 0x7fffffffffffffffll : x < -9223372036854775808.0 ? (s64)1 << 63 : (s64)x;
  } else if constexpr (D == 10) {
    return !(x > 0) ? 0 : x >= 18446744073709551616.0 ? ~0ull : (u64)x;
  } else {
    const double low = Elem<D>::is_signed ? -(double)(1ull << (bits - 1)) : 0.0;
    const double high = Elem<D>::is_signed ? (double)(1ull << (bits - 1)) - 1 : (double)(1ull << bits) - 1;
    return x != x ? (V)0 : x < low ? (V)(s64)low : x > high ? (V)(s64)high : (V)(s64)x;
  }
}
template <int TO, int FROM> __device__ inline typename Elem<TO>::Value cast(typename Elem<FROM>::Value v) {
  if constexpr (TO == FROM) return v;
  else if constexpr (Elem<FROM>::is_float && Elem<TO>::is_float) {
    if constexpr (FROM == 16) return round_to<TO>(v);
    else if constexpr (TO == 16) return (double)v;
    else return rounded<TO>((float)v);
  } else if constexpr (Elem<FROM>::is_float) return to_integer<TO>((double)v);
  else if constexpr (Elem<TO>::is_float) {
    if constexpr (TO == 15) return (float)v;
    else return round_to<TO>((double)v);
  } else return wrap<TO>((u64)v);
}

template <class T> __device__ inline T min_of(T a, T b) { return a <= b || a != a ? a : b; }
template <class T> __device__ inline T max_of(T a, T b) { return a >= b || a != a ? a : b; }
template <int R, class T> __device__ inline T combine(T a, T b) {
  if constexpr (R == 0) return a + b;
  else if constexpr (R == 1) return a * b;
  else if constexpr (R == 2) return min_of(a, b);
  else return max_of(a, b);
}
// KIND: 0 rounds towards zero, 1 down, 2 is the remainder of 1.
template <int KIND, bool SIGNED, class T> __device__ inline T divided(T a, T b) {
  if (b == 0) return KIND == 2 ? a : (T)~(T)0;
  if constexpr (SIGNED) {
    if (b == (T)-1) return KIND == 2 ? 0 : (T)(0ull - (u64)a);
    T q = a / b, r = a % b;
    bool down = KIND != 0 && r != 0 && (r < 0) != (b < 0);
    return KIND == 2 ? (down ? r + b : r) : (down ? q - 1 : q);
  } else {
    return KIND == 2 ? a % b : a / b;
  }
}
__device__ inline float float_mod(float a, float b) { float r = fmodf(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }
__device__ inline double float_mod(double a, double b) { double r = fmod(a, b); return r != 0 && (r < 0) != (b < 0) ? r + b : r; }

template <class T, int N> struct alignas(sizeof(T) * N) Pack { T e[N]; };
)cuda";
}

}  // namespace stave::cuda
