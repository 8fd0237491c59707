// Protobuf messages of our own, field by field.
#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace stave::wire {

inline std::string varint(std::uint64_t value) {
  std::string out;
  for (; value > 0x7f; value >>= 7) out += static_cast<char>((value & 0x7f) | 0x80);
  return out + static_cast<char>(value);
}
inline std::string field(std::uint32_t number, std::integral auto value) {
  return varint(number << 3) + varint(static_cast<std::uint64_t>(value));
}
inline std::string field(std::uint32_t number, std::string_view bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}
inline std::string field(std::uint32_t number, const std::string& bytes) {
  return field(number, std::string_view(bytes));
}
inline std::string field(std::uint32_t number, const char* text) { return field(number, std::string_view(text)); }
inline std::string fixed(std::uint32_t number, std::uint64_t value) {
  std::string out = varint(number << 3 | 1);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
  return out;
}
inline std::string real(std::uint32_t number, double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return fixed(number, bits);
}
inline std::string delimited(std::string_view message) { return varint(message.size()) + std::string(message); }

}  // namespace stave::wire
