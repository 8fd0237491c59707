#include "profiles/import/perfetto_annotations.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/json.h"
#include "profiles/import/json_parser.h"
#include "profiles/import/wire_message.h"
#include "profiles/perfetto_messages.h"

namespace stave {
namespace {

namespace pb = perfetto;
using namespace wire_message;

// Deeper ones are a mistake.
constexpr int deepest_annotation = 16;

bool is_json(std::string_view text) {
  std::string padded(text);
  padded.resize(text.size() + JsonParser::padding, '\0');
  JsonParser parser(padded.data(), padded.data() + text.size());
  JsonValue value;
  parser.skip_space();
  return parser.value(value) == JsonParser::Outcome::Done && (parser.odd() & json_odd::any) == 0 &&
         parser.at() == padded.data() + text.size() && is_utf8(text);
}

std::string annotation_json(std::string_view bytes, const PerfettoPacket& packet, std::string* name, int depth) {
  std::string value, members;
  bool array = false, dictionary = false;
  auto in = message<pb::DebugAnnotation>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::DebugAnnotation::name, bytes_type):
        if (name != nullptr)
          *name = view(in.get_view());
        else
          in.skip();
        break;
      case tag_and_type(pb::DebugAnnotation::name_iid, varint): {
        const std::uint64_t iid = in.get_uint64();
        if (name != nullptr) *name = packet.text(packet.sequence.annotations, iid);
        break;
      }
      case tag_and_type(pb::DebugAnnotation::bool_value, varint): value = in.get_bool() ? "true" : "false"; break;
      case tag_and_type(pb::DebugAnnotation::uint_value, varint):
      case tag_and_type(pb::DebugAnnotation::pointer_value, varint): value = std::to_string(in.get_uint64()); break;
      case tag_and_type(pb::DebugAnnotation::int_value, varint): value = std::to_string(in.get_int64()); break;
      case tag_and_type(pb::DebugAnnotation::double_value, fixed64): {
        const double number = in.get_double();
        value = std::isfinite(number) ? fmt::format("{}", number) : "null";
        break;
      }
      case tag_and_type(pb::DebugAnnotation::string_value, bytes_type): value = json_quoted(view(in.get_view())); break;
      case tag_and_type(pb::DebugAnnotation::string_value_iid, varint):
        value = json_quoted(packet.text(packet.sequence.strings, in.get_uint64()));
        break;
      case tag_and_type(pb::DebugAnnotation::json_value, bytes_type): {
        const std::string_view json = view(in.get_view());
        value = is_json(json) ? std::string(json) : json_quoted(json);
        break;
      }
      case tag_and_type(pb::DebugAnnotation::dict_entries, bytes_type):
      case tag_and_type(pb::DebugAnnotation::array_values, bytes_type): {
        array = in.tag() == pb::DebugAnnotation::array_values;
        dictionary = !array;
        const std::string_view inner = view(in.get_view());
        if (depth == deepest_annotation) break;
        std::string key;
        const std::string member = annotation_json(inner, packet, &key, depth + 1);
        if (!members.empty()) members += ", ";
        members += array ? member : json_quoted(key) + ": " + member;
        break;
      }
      default: in.skip();
    }
  }
  if (array) return "[" + members + "]";
  if (dictionary) return "{" + members + "}";
  return value.empty() ? "null" : value;
}

}  // namespace

void add_annotation(std::string_view bytes, const PerfettoPacket& packet, ArgsText& args) {
  std::string name;
  const std::string json = annotation_json(bytes, packet, &name, 0);
  args.add_json(name, json);
}

void add_compute_arg(std::string_view bytes, const PerfettoPacket& packet, ArgsText& args) {
  std::string name, value = "null";
  auto in = message<pb::ComputeArg>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::ComputeArg::name, bytes_type): name = view(in.get_view()); break;
      case tag_and_type(pb::ComputeArg::name_iid, varint):
        name = packet.text(packet.sequence.arg_names, in.get_uint64());
        break;
      case tag_and_type(pb::ComputeArg::int_value, varint): value = std::to_string(in.get_int64()); break;
      case tag_and_type(pb::ComputeArg::uint_value, varint): value = std::to_string(in.get_uint64()); break;
      case tag_and_type(pb::ComputeArg::double_value, fixed64): {
        const double number = in.get_double();
        if (std::isfinite(number)) value = fmt::format("{}", number);
        break;
      }
      case tag_and_type(pb::ComputeArg::text, bytes_type): value = json_quoted(view(in.get_view())); break;
      case tag_and_type(pb::ComputeArg::text_iid, varint):
        value = json_quoted(packet.text(packet.sequence.strings, in.get_uint64()));
        break;
      default: in.skip();
    }
  }
  args.add_json(name, value);
}

}  // namespace stave
