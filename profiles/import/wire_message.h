// Short words for reading protozero's messages.
#pragma once

#include <protozero/pbf_message.hpp>

#include <string_view>
#include <vector>

namespace stave::wire_message {

using protozero::pbf_message;
using protozero::tag_and_type;

inline constexpr auto varint = protozero::pbf_wire_type::varint;
inline constexpr auto bytes_type = protozero::pbf_wire_type::length_delimited;
inline constexpr auto fixed64 = protozero::pbf_wire_type::fixed64;
inline constexpr auto fixed32 = protozero::pbf_wire_type::fixed32;

inline std::string_view view(protozero::data_view data) { return {data.data(), data.size()}; }

template <class Tag>
pbf_message<Tag> message(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

// Repeated numbers, packed or one by one.
template <class Range, class Value>
void append(const Range& range, std::vector<Value>& out) {
  for (const auto value : range) out.push_back(static_cast<Value>(value));
}

}  // namespace stave::wire_message
