#include "profiles/import/xplane_events.h"

#include <fmt/format.h>

#include <cmath>

#include "core/base/json.h"
#include "profiles/import/wire_message.h"
#include "profiles/import/xplane_messages.h"

namespace stave {
namespace {

namespace xp = xplane;
using namespace wire_message;

// Whole programs stand among the metadata of a plane; they are not kept.
constexpr std::size_t longest_shared_stat = 4096;
constexpr std::size_t longest_plane_text = 65536;

// A stat's name and its value as JSON; "" for bytes.
std::pair<std::string_view, std::string> stat_of(std::string_view bytes,
                                                 const std::unordered_map<std::int64_t, std::string>& names) {
  const auto name_of_id = [&](std::int64_t id) -> std::string_view {
    const auto at = names.find(id);
    return at == names.end() ? std::string_view{} : std::string_view(at->second);
  };
  std::pair<std::string_view, std::string> out;
  pbf_message<xp::Stat> in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(xp::Stat::metadata_id, varint): out.first = name_of_id(in.get_int64()); break;
      case tag_and_type(xp::Stat::double_value, fixed64): {
        const double value = in.get_double();
        out.second = std::isfinite(value) ? fmt::format("{}", value) : "null";
        break;
      }
      case tag_and_type(xp::Stat::uint64_value, varint): out.second = std::to_string(in.get_uint64()); break;
      case tag_and_type(xp::Stat::int64_value, varint): out.second = std::to_string(in.get_int64()); break;
      case tag_and_type(xp::Stat::str_value, bytes_type):
        out.second = json_quoted(view(in.get_view()).substr(0, longest_plane_text));
        break;
      case tag_and_type(xp::Stat::ref_value, varint):
        out.second = json_quoted(name_of_id(static_cast<std::int64_t>(in.get_uint64())));
        break;
      default: in.skip();
    }
  }
  return out;
}

struct MetadataEntry {
  std::int64_t id = 0;
  std::string name{};
  std::string stats{};
};

// A map's entry: the message in its value has the id and the name in equal places for events and stats.
MetadataEntry entry_of(std::string_view bytes, bool event) {
  MetadataEntry out;
  pbf_message<xp::MapEntry> in(bytes.data(), bytes.size());
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(xp::MapEntry::key, varint): out.id = in.get_int64(); break;
      case tag_and_type(xp::MapEntry::value, bytes_type): {
        std::string_view display;
        pbf_message<xp::EventMetadata> metadata(in.get_message());
        while (metadata.next()) {
          switch (metadata.tag_and_type()) {
            case tag_and_type(xp::EventMetadata::id, varint): out.id = metadata.get_int64(); break;
            case tag_and_type(xp::EventMetadata::name, bytes_type):
              out.name = view(metadata.get_view()).substr(0, longest_plane_text);
              break;
            case tag_and_type(xp::EventMetadata::display_name, bytes_type): display = view(metadata.get_view()); break;
            case tag_and_type(xp::EventMetadata::stats, bytes_type): {
              const std::string_view stat = view(metadata.get_view());
              if (!event || stat.size() > longest_shared_stat) break;
              // One behind the other, as repeated fields of an event.
              out.stats += static_cast<char>(static_cast<int>(xp::Event::stats) << 3 | 2);
              for (std::size_t n = stat.size();; n >>= 7) {
                out.stats += static_cast<char>((n & 0x7f) | (n > 0x7f ? 0x80 : 0));
                if (n <= 0x7f) break;
              }
              out.stats += stat;
              break;
            }
            default: metadata.skip();
          }
        }
        if (event && out.name.empty()) out.name = display;
        break;
      }
      default: in.skip();
    }
  }
  return out;
}

Result<void> read_line(WireStream& stream, XplaneLine& line) {
  WireField field;
  std::string display;
  while (true) {
    TRY(const bool more, stream.next(field));
    if (!more) break;
    const bool bytes = field.type == WireType::Bytes;
    if (field.number == xp::line::id && !bytes) line.id = static_cast<std::int64_t>(field.value);
    if (field.number == xp::line::timestamp_ns && !bytes) line.timestamp_ns = static_cast<std::int64_t>(field.value);
    if (!bytes || (field.number != xp::line::name && field.number != xp::line::display_name)) continue;
    TRY(const std::optional<std::string_view> text, stream.take(field));
    if (text) (field.number == xp::line::name ? line.name : display) = text->substr(0, longest_plane_text);
  }
  if (line.name.empty()) line.name = display;
  return {};
}

Result<void> read_plane(WireStream& stream, XplanePlane& plane) {
  std::vector<std::string> facts;
  WireField field;
  while (true) {
    TRY(const bool more, stream.next(field));
    if (!more) break;
    if (field.type != WireType::Bytes) continue;
    if (field.number == xp::plane::lines) {
      stream.enter();
      TRY_VOID(read_line(stream, plane.lines.emplace_back()));
      continue;
    }
    if (field.number != xp::plane::name && field.number != xp::plane::event_metadata &&
        field.number != xp::plane::stat_metadata && field.number != xp::plane::stats)
      continue;
    TRY(const std::optional<std::string_view> bytes, stream.take(field));
    if (!bytes) continue;
    const bool good = parsed([&] {
      switch (field.number) {
        case xp::plane::name: plane.name = bytes->substr(0, longest_plane_text); break;
        case xp::plane::event_metadata: {
          MetadataEntry entry = entry_of(*bytes, true);
          if (!entry.stats.empty()) plane.event_stats[entry.id] = std::move(entry.stats);
          plane.events[entry.id] = std::move(entry.name);
          break;
        }
        case xp::plane::stat_metadata: {
          MetadataEntry entry = entry_of(*bytes, false);
          plane.stats[entry.id] = std::move(entry.name);
          break;
        }
        default: facts.emplace_back(*bytes); break;
      }
    });
    if (!good) stream.count(problem_kinds::bad_message, field.byte);
  }
  for (const std::string& fact : facts)
    static_cast<void>(parsed([&] {
      const auto stat = stat_of(fact, plane.stats);
      plane.facts.emplace_back(stat.first, stat.second);
    }));
  return {};
}

}  // namespace

std::string_view XplaneEvent::stat(std::string_view wanted) const {
  for (const auto& [name, value] : stats)
    if (name == wanted) return value;
  return {};
}

std::optional<std::int64_t> XplaneEvent::number(std::string_view wanted) const {
  return integer({JsonValue::Kind::Number, false, stat(wanted)});
}

std::string_view XplaneEvent::text(std::string_view wanted) const {
  std::string_view value = stat(wanted);
  if (value.size() < 2 || value[0] != '"') return {};
  return value.substr(1, value.size() - 2);
}

Result<void> read_planes(ByteSource& source, std::string_view file, ProblemCounts* problems,
                         std::vector<XplanePlane>& planes) {
  WireStream stream(source, file, problems);
  WireField field;
  while (true) {
    TRY(const bool more, stream.next(field));
    if (!more) return {};
    if (field.number != xp::space::planes || field.type != WireType::Bytes) continue;
    stream.enter();
    TRY_VOID(read_plane(stream, planes.emplace_back()));
  }
}

XplaneEvents::XplaneEvents(ByteSource& source, std::string_view file, ProblemCounts* problems,
                           const std::vector<XplanePlane>& planes)
    : stream_(source, file, problems), planes_(planes) {}

Result<bool> XplaneEvents::next(XplaneEvent& event) {
  WireField field;
  while (true) {
    TRY(const bool more, stream_.next(field));
    if (!more) {
      if (depth_ == 0) return false;
      --depth_;
      continue;
    }
    if (field.type != WireType::Bytes) continue;
    if (depth_ == 0 && field.number == xp::space::planes) {
      if (plane_ == planes_.size()) return false;
      ++plane_;
      line_ = 0;
      depth_ = 1;
      stream_.enter();
    } else if (depth_ == 1 && field.number == xp::plane::lines) {
      if (line_ == planes_[plane_ - 1].lines.size()) continue;
      ++line_;
      depth_ = 2;
      stream_.enter();
    } else if (depth_ == 2 && field.number == xp::line::events) {
      TRY(const std::optional<std::string_view> bytes, stream_.take(field));
      if (bytes && parse(*bytes, field.byte, event)) return true;
    }
  }
}

bool XplaneEvents::parse(std::string_view bytes, std::int64_t byte, XplaneEvent& event) {
  const XplanePlane& plane = planes_[plane_ - 1];
  event = {.plane = plane_ - 1, .line = line_ - 1, .byte = byte};
  std::int64_t id = 0;
  std::int64_t offset = 0;
  bool aggregate = false, known = true;
  const auto stats = [&](std::string_view message) {
    pbf_message<xp::Event> in(message.data(), message.size());
    while (in.next()) {
      switch (in.tag_and_type()) {
        case tag_and_type(xp::Event::metadata_id, varint): id = in.get_int64(); break;
        case tag_and_type(xp::Event::offset_ps, varint): offset = in.get_int64(); break;
        case tag_and_type(xp::Event::num_occurrences, varint): aggregate = in.get_int64() > 0; break;
        case tag_and_type(xp::Event::duration_ps, varint): event.duration_ps = in.get_int64(); break;
        case tag_and_type(xp::Event::stats, bytes_type): {
          auto stat = stat_of(view(in.get_view()), plane.stats);
          if (stat.second.empty()) break;
          known = known && !stat.first.empty();
          if (!stat.first.empty() && event.stat(stat.first).empty()) event.stats.push_back(std::move(stat));
          break;
        }
        default: in.skip();
      }
    }
  };
  const bool good = parsed([&] {
    stats(bytes);
    const auto shared = plane.event_stats.find(id);
    if (shared != plane.event_stats.end()) stats(shared->second);
  });
  if (!good) {
    stream_.count(problem_kinds::bad_message, byte);
    return false;
  }
  if (aggregate) {  // of many events, without a time
    stream_.count(problem_kinds::no_time, byte);
    return false;
  }
  event.start = WideTime{plane.lines[event.line].timestamp_ns} * ps_per_ns + offset;
  const auto name = plane.events.find(id);
  if (name != plane.events.end()) event.name = name->second;
  if (!known || name == plane.events.end()) stream_.count(problem_kinds::missing_text, byte);
  return true;
}

}  // namespace stave
