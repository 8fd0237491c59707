// The numbers of a Chakra execution trace's messages: schema/protobuf/et_def.proto
// of github.com/mlcommons/chakra. A file is one GlobalMetadata and then Nodes,
// each behind its length.
#pragma once

#include <protozero/types.hpp>

namespace stave::chakra {

using Tag = protozero::pbf_tag_type;

// NOLINTBEGIN(readability-identifier-naming): named as in the .proto
enum class GlobalMetadata : Tag { version = 1, attributes = 2 };
enum class Node : Tag {
  id = 1,
  name = 2,
  type = 3,
  control_deps = 4,
  data_deps = 5,
  start_us = 6,
  duration_us = 7,
  inputs = 8,
  outputs = 9,
  attributes = 10,
};
enum class NodeType : std::uint32_t {
  invalid = 0,
  metadata = 1,
  load = 2,
  store = 3,
  compute = 4,
  send = 5,
  receive = 6,
  collective = 7,
};
enum class IoInfo : Tag { values = 1, shapes = 2, types = 3 };

// An attribute's value is one of many; lists are not read.
enum class Attribute : Tag {
  name = 1,
  double_value = 3,
  float_value = 5,
  int32_value = 7,
  int64_value = 9,
  uint32_value = 11,
  uint64_value = 13,
  sint32_value = 15,
  sint64_value = 17,
  fixed32_value = 19,
  fixed64_value = 21,
  sfixed32_value = 23,
  sfixed64_value = 25,
  bool_value = 27,
  string_value = 29,
};
// NOLINTEND(readability-identifier-naming)

}  // namespace stave::chakra
