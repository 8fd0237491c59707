// Units are types: bytes, flops and times do not mix by accident, and the only
// way from a size to a time is through a rate.
#pragma once

#include <chrono>
#include <cmath>
#include <compare>
#include <cstdint>

namespace stave {

// int64 picoseconds last 106 days; one byte at 450 GB/s is 2.2 ps.
using Picoseconds = std::chrono::duration<std::int64_t, std::pico>;
// Time since the start of a run.
using Time = Picoseconds;

constexpr Picoseconds operator""_ps(unsigned long long v) { return Picoseconds{static_cast<std::int64_t>(v)}; }
constexpr Picoseconds operator""_ns(unsigned long long v) { return Picoseconds{static_cast<std::int64_t>(v) * 1'000}; }
constexpr Picoseconds operator""_us(unsigned long long v) {
  return Picoseconds{static_cast<std::int64_t>(v) * 1'000'000};
}

template <class Tag>
struct Count {
  std::int64_t value = 0;

  constexpr Count() = default;
  constexpr explicit Count(std::int64_t v) : value(v) {}
  friend constexpr auto operator<=>(Count, Count) = default;
  constexpr Count& operator+=(Count other) {
    value += other.value;
    return *this;
  }
  constexpr Count& operator-=(Count other) {
    value -= other.value;
    return *this;
  }
  friend constexpr Count operator+(Count a, Count b) { return Count{a.value + b.value}; }
  friend constexpr Count operator-(Count a, Count b) { return Count{a.value - b.value}; }
  friend constexpr Count operator*(Count a, std::int64_t k) { return Count{a.value * k}; }
  friend constexpr Count operator/(Count a, std::int64_t k) { return Count{a.value / k}; }
};

using Bytes = Count<struct BytesTag>;
using Flops = Count<struct FlopsTag>;

constexpr Bytes operator""_B(unsigned long long v) { return Bytes{static_cast<std::int64_t>(v)}; }
constexpr Bytes operator""_KiB(unsigned long long v) { return Bytes{static_cast<std::int64_t>(v) << 10}; }
constexpr Bytes operator""_MiB(unsigned long long v) { return Bytes{static_cast<std::int64_t>(v) << 20}; }
constexpr Bytes operator""_GiB(unsigned long long v) { return Bytes{static_cast<std::int64_t>(v) << 30}; }

template <class Tag>
struct Rate {  // units a second
  double per_second = 0;

  friend constexpr auto operator<=>(Rate, Rate) = default;
  friend constexpr Rate operator*(Rate a, double k) { return Rate{a.per_second * k}; }
  friend constexpr Rate operator/(Rate a, double k) { return Rate{a.per_second / k}; }
};

using BytesPerSecond = Rate<BytesTag>;
using FlopsPerSecond = Rate<FlopsTag>;

// Costs are doubles made with + - * / sqrt only and rounded once, here, half
// away from zero, so that every compiler gives the same bytes.
inline Picoseconds picoseconds(double seconds) { return Picoseconds{std::llround(seconds * 1e12)}; }

template <class Tag>
Picoseconds operator/(Count<Tag> amount, Rate<Tag> rate) {
  return picoseconds(static_cast<double>(amount.value) / rate.per_second);
}

}  // namespace stave
