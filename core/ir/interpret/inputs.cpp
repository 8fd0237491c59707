#include "core/ir/interpret/inputs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "core/ir/interpret/number.h"
#include "core/ir/interpret/operand.h"

namespace stave {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators"):
// output i of a stream is mix(key + (i + 1) * gamma), so any element can be made alone.
constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// FNV-1a, 64 bits.
std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

// A random element is one of at most 256 values, of which this is number `index`.
void store_random_value(std::span<std::byte> bytes, Dtype dtype, std::size_t i, int index_bits, std::uint64_t index) {
  const auto value = static_cast<std::int64_t>(index);
  const std::int64_t half = std::int64_t{1} << (index_bits - 1);
  if (is_float(dtype))
    store_double(bytes, dtype, i, static_cast<double>(value - half) / static_cast<double>(half));
  else
    store_signed(bytes, dtype, i, is_signed(dtype) ? value - half : value);
}

template <class Bits>
void fill_from(std::span<const Bits> values, std::span<std::byte> bytes, std::size_t count, std::uint64_t key,
               int index_bits) {
  for (std::size_t i = 0; i < count; ++i) {
    const Bits& value = values[mix(key + (i + 1) * gamma) >> (64 - index_bits)];
    std::memcpy(bytes.data() + i * sizeof(Bits), &value, sizeof(Bits));
  }
}

void fill_random(std::span<std::byte> bytes, Dtype dtype, std::size_t count, std::uint64_t key) {
  int index_bits = 4;
  if (dtype == Dtype::Bool) index_bits = 1;
  if (is_float(dtype)) index_bits = std::min(significand_bits(dtype), 8);
  if (bits_of(dtype) < 8) {
    for (std::size_t i = 0; i < count; ++i)
      store_random_value(bytes, dtype, i, index_bits, mix(key + (i + 1) * gamma) >> (64 - index_bits));
    return;
  }
  const auto fill = [&]<class Bits>(Bits) {
    std::vector<Bits> values(std::size_t{1} << index_bits);
    for (std::size_t v = 0; v < values.size(); ++v)
      store_random_value(std::as_writable_bytes(std::span(values)), dtype, v, index_bits, v);
    fill_from(std::span<const Bits>(values), bytes, count, key, index_bits);
  };
  switch (bits_of(dtype)) {
    case 8: return fill(std::uint8_t{});
    case 16: return fill(std::uint16_t{});
    case 32: return fill(std::uint32_t{});
    default: return fill(std::uint64_t{});
  }
}

void fill_iota(std::span<std::byte> bytes, Dtype dtype, std::size_t count) {
  std::uint64_t period = 0;
  if (is_float(dtype)) period = std::uint64_t{1} << significand_bits(dtype);
  if (dtype == Dtype::Bool) period = 2;
  for (std::size_t i = 0; i < count; ++i) store_unsigned(bytes, dtype, i, period ? i % period : i);
}

Result<std::vector<std::byte>> part_of_file(const Input& input, const InputTarget& target) {
  const NpyArray& array = input.array;
  const Place place{input.spec.path, 0, 0, 0, 0};
  if (array.dtype != target.dtype)
    return error_at(place, "STV0681", "the array is {}, parameter %{} is {}", name_of(array.dtype), target.parameter,
                    name_of(target.dtype));
  if (std::ranges::equal(array.shape, target.shape)) return array.bytes;
  const bool per_rank = array.shape.size() == target.shape.size() + 1 &&
                        array.shape[0] == static_cast<std::int64_t>(target.ranks) &&
                        std::equal(target.shape.begin(), target.shape.end(), array.shape.begin() + 1);
  if (!per_rank)
    return error_at(place, "STV0682", "the array is [{}]; parameter %{} takes [{}], or [{}{}{}] for one part a rank",
                    fmt::join(array.shape, ", "), target.parameter, fmt::join(target.shape, ", "), target.ranks,
                    target.shape.empty() ? "" : ", ", fmt::join(target.shape, ", "));
  const std::int64_t elements = elements_of(target.shape);
  if (elements * bits_of(target.dtype) % 8 != 0)
    return error_at(place, "STV0683", "{} elements of {} a rank do not end at a whole byte", elements,
                    name_of(target.dtype));
  const std::int64_t size = storage_bytes(target.dtype, elements);
  const auto first = array.bytes.begin() + size * target.rank;
  return std::vector<std::byte>(first, first + size);
}

}  // namespace

Result<InputSpec> parse_input_spec(std::string_view text) {
  const std::size_t equals = text.find('=');
  const auto bad = [&] {
    return error_at(
        {}, "STV0680",
        "an input is NAME=random:SEED, NAME=iota, NAME=zeros, a number, true, false or NAME=FILE.npy, got \"{}\"",
        text);
  };
  if (equals == std::string_view::npos || equals == 0) return bad();
  InputSpec spec;
  std::string_view name = text.substr(0, equals);
  if (name[0] == '%') name.remove_prefix(1);
  if (name.empty()) return bad();
  spec.parameter = name;
  const std::string_view value = text.substr(equals + 1);
  if (value == "iota") {
    spec.kind = InputSpec::Kind::Iota;
  } else if (value == "zeros") {
    spec.kind = InputSpec::Kind::Zeros;
  } else if (value == "random" || value.substr(0, 7) == "random:") {
    spec.kind = InputSpec::Kind::Random;
    if (value.size() > 6) {
      const char* end = value.data() + value.size();
      const auto [at, error] = std::from_chars(value.data() + 7, end, spec.seed);
      if (error != std::errc{} || at != end) return bad();
    }
  } else if (value.size() > 4 && value.substr(value.size() - 4) == ".npy") {
    spec.kind = InputSpec::Kind::File;
    spec.path = value;
  } else if (value == "true" || value == "false") {
    spec.kind = InputSpec::Kind::Number;
    spec.number = value == "true" ? 1 : 0;
  } else {
    spec.kind = InputSpec::Kind::Number;
    const char* end = value.data() + value.size();
    const auto [at, error] = std::from_chars(value.data(), end, spec.number);
    if (error != std::errc{} || at != end || !std::isfinite(spec.number)) return bad();
  }
  return spec;
}

Result<Input> load_input(InputSpec spec) {
  Input input;
  if (spec.kind == InputSpec::Kind::File) {
    TRY(input.array, read_npy(spec.path));
  }
  input.spec = std::move(spec);
  return input;
}

Rank uniform_rank(std::span<const std::int64_t> mesh_sizes, const Axes& uniform, Rank rank) {
  std::int64_t rest = rank;
  std::int64_t stride = 1;
  std::int64_t result = 0;
  for (std::size_t axis = mesh_sizes.size(); axis-- > 0;) {
    const std::int64_t coordinate = rest % mesh_sizes[axis];
    rest /= mesh_sizes[axis];
    if (std::find(uniform.begin(), uniform.end(), axis) == uniform.end()) result += coordinate * stride;
    stride *= mesh_sizes[axis];
  }
  return static_cast<Rank>(result);
}

Result<std::vector<std::byte>> fill_input(const Input& input, const InputTarget& target) {
  if (input.spec.kind == InputSpec::Kind::File) return part_of_file(input, target);
  const std::int64_t elements = elements_of(target.shape);
  std::vector<std::byte> bytes(static_cast<std::size_t>(storage_bytes(target.dtype, elements)));
  const auto count = static_cast<std::size_t>(elements);
  if (input.spec.kind == InputSpec::Kind::Random) {
    fill_random(bytes, target.dtype, count,
                mix(mix(mix(input.spec.seed + gamma) ^ fnv1a(target.parameter)) ^ target.uniform_rank));
  } else if (input.spec.kind == InputSpec::Kind::Iota) {
    fill_iota(bytes, target.dtype, count);
  } else if (input.spec.kind == InputSpec::Kind::Number) {
    for (std::size_t i = 0; i < count; ++i) store_double(bytes, target.dtype, i, input.spec.number);
  }
  return bytes;
}

}  // namespace stave
