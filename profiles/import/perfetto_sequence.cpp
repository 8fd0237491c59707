#include "profiles/import/perfetto_sequence.h"

#include <fmt/format.h>

#include <utility>

#include "profiles/import/wire_message.h"
#include "profiles/perfetto_messages.h"

namespace stave {
namespace {

namespace pb = perfetto;
using namespace wire_message;

}  // namespace

void PerfettoSequence::clear() {
  const std::optional<std::size_t> own = own_track;
  *this = {};
  own_track = own;
}

void PerfettoSequence::intern(std::string_view bytes, PerfettoTracks& tracks) {
  auto in = message<pb::InternedData>(bytes);
  const auto keep = [&](Texts& texts, Texts* second = nullptr) {
    std::uint64_t iid = 0;
    std::string_view text, more;
    pbf_message<pb::Interned> entry(in.get_message());
    while (entry.next()) {
      switch (entry.tag_and_type()) {
        case tag_and_type(pb::Interned::iid, varint): iid = entry.get_uint64(); break;
        case tag_and_type(pb::Interned::text, bytes_type): text = view(entry.get_view()); break;
        case tag_and_type(pb::Interned::demangled_name, bytes_type): more = view(entry.get_view()); break;
        default: entry.skip();
      }
    }
    texts[iid] = text;
    if (second != nullptr && !more.empty()) (*second)[iid] = more;
  };
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::InternedData::event_categories, bytes_type): keep(categories); break;
      case tag_and_type(pb::InternedData::event_names, bytes_type): keep(names); break;
      case tag_and_type(pb::InternedData::annotation_names, bytes_type): keep(annotations); break;
      case tag_and_type(pb::InternedData::annotation_strings, bytes_type): keep(strings); break;
      case tag_and_type(pb::InternedData::gpu_specifications, bytes_type): keep(specifications); break;
      case tag_and_type(pb::InternedData::compute_kernels, bytes_type): keep(kernels, &demangled); break;
      case tag_and_type(pb::InternedData::compute_arg_names, bytes_type): keep(arg_names); break;
      case tag_and_type(pb::InternedData::graphics_contexts, bytes_type):
        tracks.describe_context(view(in.get_view()));
        break;
      default: in.skip();
    }
  }
}

void PerfettoSequence::set_defaults(std::string_view bytes) {
  auto in = message<pb::PacketDefaults>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::PacketDefaults::timestamp_clock, varint): defaults.clock = in.get_uint32(); break;
      case tag_and_type(pb::PacketDefaults::track_event, bytes_type): {
        pbf_message<pb::TrackEvent> event(in.get_message());
        while (event.next()) {
          switch (event.tag_and_type()) {
            case tag_and_type(pb::TrackEvent::track, varint): defaults.track = event.get_uint64(); break;
            case tag_and_type(pb::TrackEvent::extra_tracks, varint):
              defaults.extra_tracks.push_back(event.get_uint64());
              break;
            case tag_and_type(pb::TrackEvent::extra_tracks, bytes_type):
              append(event.get_packed_uint64(), defaults.extra_tracks);
              break;
            case tag_and_type(pb::TrackEvent::extra_double_tracks, varint):
              defaults.extra_double_tracks.push_back(event.get_uint64());
              break;
            case tag_and_type(pb::TrackEvent::extra_double_tracks, bytes_type):
              append(event.get_packed_uint64(), defaults.extra_double_tracks);
              break;
            default: event.skip();
          }
        }
        break;
      }
      default: in.skip();
    }
  }
}

std::string PerfettoPacket::text(const PerfettoSequence::Texts& texts, std::uint64_t iid) const {
  const auto at = texts.find(iid);
  if (at != texts.end()) return at->second;
  count(problem_kinds::missing_text);
  return fmt::format("#{}", iid);
}

}  // namespace stave
