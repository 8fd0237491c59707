#include "profiles/import/chakra_nodes.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/json.h"
#include "profiles/import/json_text.h"
#include "profiles/import/wire_message.h"

namespace stave {
namespace {

namespace ck = chakra;
using namespace wire_message;

std::string number_text(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

std::pair<std::string_view, std::string> attribute_of(std::string_view bytes) {
  std::pair<std::string_view, std::string> out;
  std::string& value = out.second;
  pbf_message<ck::Attribute> in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(ck::Attribute::name, bytes_type): out.first = view(in.get_view()); break;
      case tag_and_type(ck::Attribute::double_value, fixed64): value = number_text(in.get_double()); break;
      case tag_and_type(ck::Attribute::float_value, fixed32):
        value = number_text(static_cast<double>(in.get_float()));
        break;
      case tag_and_type(ck::Attribute::int32_value, varint): value = std::to_string(in.get_int32()); break;
      case tag_and_type(ck::Attribute::int64_value, varint): value = std::to_string(in.get_int64()); break;
      case tag_and_type(ck::Attribute::uint32_value, varint): value = std::to_string(in.get_uint32()); break;
      case tag_and_type(ck::Attribute::uint64_value, varint): value = std::to_string(in.get_uint64()); break;
      case tag_and_type(ck::Attribute::sint32_value, varint): value = std::to_string(in.get_sint32()); break;
      case tag_and_type(ck::Attribute::sint64_value, varint): value = std::to_string(in.get_sint64()); break;
      case tag_and_type(ck::Attribute::fixed32_value, fixed32): value = std::to_string(in.get_fixed32()); break;
      case tag_and_type(ck::Attribute::fixed64_value, fixed64): value = std::to_string(in.get_fixed64()); break;
      case tag_and_type(ck::Attribute::sfixed32_value, fixed32): value = std::to_string(in.get_sfixed32()); break;
      case tag_and_type(ck::Attribute::sfixed64_value, fixed64): value = std::to_string(in.get_sfixed64()); break;
      case tag_and_type(ck::Attribute::bool_value, varint): value = in.get_bool() ? "true" : "false"; break;
      case tag_and_type(ck::Attribute::string_value, bytes_type): value = json_quoted(view(in.get_view())); break;
      default: in.skip();
    }
  }
  return out;
}

void io_attributes(std::string_view bytes, std::string_view values, std::string_view shapes, std::string_view types,
                   ChakraNode& node) {
  pbf_message<ck::IoInfo> in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(ck::IoInfo::values, bytes_type):
        node.attributes.emplace_back(values, json_quoted(view(in.get_view())));
        break;
      case tag_and_type(ck::IoInfo::shapes, bytes_type):
        node.attributes.emplace_back(shapes, json_quoted(view(in.get_view())));
        break;
      case tag_and_type(ck::IoInfo::types, bytes_type):
        node.attributes.emplace_back(types, json_quoted(view(in.get_view())));
        break;
      default: in.skip();
    }
  }
}

}  // namespace

std::string_view ChakraNode::attribute(std::string_view wanted) const {
  for (const auto& [name, value] : attributes)
    if (name == wanted) return value;
  return {};
}

std::optional<std::int64_t> ChakraNode::number(std::string_view wanted) const {
  const std::string_view value = attribute(wanted);
  return integer({value.starts_with('"') ? JsonValue::Kind::String : JsonValue::Kind::Number, false,
                  value.starts_with('"') ? value.substr(1, value.size() - 2) : value});
}

std::string ChakraNode::text(std::string_view wanted) const {
  const std::string_view value = attribute(wanted);
  return value.starts_with('"') ? unescaped(value.substr(1, value.size() - 2)) : std::string(value);
}

ChakraNodes::ChakraNodes(ByteSource& source, std::string_view file, ProblemCounts* problems)
    : stream_(source, file, problems) {}

Result<bool> ChakraNodes::next(ChakraNode& node) {
  WireField message;
  while (true) {
    TRY(const bool more, stream_.next_delimited(message));
    if (!more) return false;
    TRY(const std::optional<std::string_view> bytes, stream_.take(message));
    if (!bytes) continue;
    if (!in_nodes_) {
      in_nodes_ = true;
      const bool good = parsed([&] {
        pbf_message<ck::GlobalMetadata> in(bytes->data(), bytes->size());
        while (in.next()) {
          switch (in.tag_and_type()) {
            case tag_and_type(ck::GlobalMetadata::version, bytes_type):
              if (version_.empty()) version_ = view(in.get_view());
              break;
            case tag_and_type(ck::GlobalMetadata::attributes, bytes_type):
              if (auto attribute = attribute_of(view(in.get_view()));
                  attribute.first == "schema" && attribute.second.size() > 2)
                version_ = attribute.second.substr(1, attribute.second.size() - 2);
              break;
            default: in.skip();
          }
        }
      });
      if (!good) stream_.count(problem_kinds::bad_message, message.byte);
      continue;
    }
    node = {};
    node.byte = message.byte;
    bool named = false;
    const bool good = parsed([&] {
      pbf_message<ck::Node> in(bytes->data(), bytes->size());
      while (in.next()) {
        switch (in.tag_and_type()) {
          case tag_and_type(ck::Node::id, varint):
            node.id = in.get_uint64();
            named = true;
            break;
          case tag_and_type(ck::Node::name, bytes_type):
            node.name = view(in.get_view());
            named = true;
            break;
          case tag_and_type(ck::Node::type, varint): node.type = static_cast<ck::NodeType>(in.get_uint32()); break;
          case tag_and_type(ck::Node::control_deps, varint):
          case tag_and_type(ck::Node::data_deps, varint): node.depends_on.push_back(in.get_uint64()); break;
          case tag_and_type(ck::Node::control_deps, bytes_type):
          case tag_and_type(ck::Node::data_deps, bytes_type):
            for (const std::uint64_t id : in.get_packed_uint64()) node.depends_on.push_back(id);
            break;
          case tag_and_type(ck::Node::start_us, varint): node.start_us = in.get_uint64(); break;
          case tag_and_type(ck::Node::duration_us, varint): node.duration_us = in.get_uint64(); break;
          case tag_and_type(ck::Node::inputs, bytes_type):
            io_attributes(view(in.get_view()), "input values", "input shapes", "input types", node);
            break;
          case tag_and_type(ck::Node::outputs, bytes_type):
            io_attributes(view(in.get_view()), "output values", "output shapes", "output types", node);
            break;
          case tag_and_type(ck::Node::attributes, bytes_type):
            if (auto attribute = attribute_of(view(in.get_view())); !attribute.second.empty())
              node.attributes.push_back(std::move(attribute));
            break;
          default: in.skip();
        }
      }
    });
    if (good && named) return true;
    stream_.count(problem_kinds::bad_message, message.byte);
  }
}

}  // namespace stave
