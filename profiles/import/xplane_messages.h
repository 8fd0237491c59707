// The numbers of XSpace's messages: xplane.proto of github.com/openxla/xla
// (third_party/tsl/tsl/profiler/protobuf).
#pragma once

#include <protozero/types.hpp>

namespace stave::xplane {

using Tag = protozero::pbf_tag_type;

// These two are read field by field, from a stream.
namespace space {
inline constexpr std::uint32_t planes = 1;
}
namespace plane {
inline constexpr std::uint32_t name = 2;
inline constexpr std::uint32_t lines = 3;
inline constexpr std::uint32_t event_metadata = 4;
inline constexpr std::uint32_t stat_metadata = 5;
inline constexpr std::uint32_t stats = 6;
}  // namespace plane
namespace line {
inline constexpr std::uint32_t id = 1;
inline constexpr std::uint32_t name = 2;
inline constexpr std::uint32_t timestamp_ns = 3;
inline constexpr std::uint32_t events = 4;
inline constexpr std::uint32_t display_name = 11;
}  // namespace line

// NOLINTBEGIN(readability-identifier-naming): named as in the .proto
enum class Event : Tag { metadata_id = 1, offset_ps = 2, duration_ps = 3, stats = 4, num_occurrences = 5 };
enum class Stat : Tag {
  metadata_id = 1,
  double_value = 2,
  uint64_value = 3,
  int64_value = 4,
  str_value = 5,
  ref_value = 7,  // the name of another XStatMetadata
};
enum class MapEntry : Tag { key = 1, value = 2 };
enum class EventMetadata : Tag { id = 1, name = 2, display_name = 4, stats = 5 };
enum class StatMetadata : Tag { id = 1, name = 2 };
// NOLINTEND(readability-identifier-naming)

}  // namespace stave::xplane
