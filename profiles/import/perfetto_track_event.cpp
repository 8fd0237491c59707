#include "profiles/import/perfetto_track_event.h"

#include "profiles/import/perfetto_annotations.h"
#include "profiles/import/wire_message.h"

namespace stave {
namespace {

namespace pb = perfetto;
using namespace wire_message;

}  // namespace

PerfettoTrackEvent read_track_event(std::string_view bytes, const PerfettoPacket& packet) {
  PerfettoTrackEvent out;
  PerfettoEvent& event = out.event;
  event.byte = packet.byte;
  const PerfettoSequence::Defaults& defaults = packet.sequence.defaults;
  out.uuid = defaults.track;
  ArgsText args;
  auto in = message<pb::TrackEvent>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::TrackEvent::type, varint): out.type = static_cast<pb::EventType>(in.get_uint32()); break;
      case tag_and_type(pb::TrackEvent::track, varint): out.uuid = in.get_uint64(); break;
      case tag_and_type(pb::TrackEvent::name, bytes_type): event.name = view(in.get_view()); break;
      case tag_and_type(pb::TrackEvent::name_iid, varint):
        event.name = packet.text(packet.sequence.names, in.get_uint64());
        break;
      case tag_and_type(pb::TrackEvent::categories, bytes_type): {
        const std::string_view category = view(in.get_view());
        if (event.category.empty()) event.category = category;
        break;
      }
      case tag_and_type(pb::TrackEvent::category_iids, varint): {
        const std::uint64_t iid = in.get_uint64();
        if (event.category.empty()) event.category = packet.text(packet.sequence.categories, iid);
        break;
      }
      case tag_and_type(pb::TrackEvent::category_iids, bytes_type): {
        std::vector<std::uint64_t> iids;
        append(in.get_packed_uint64(), iids);
        if (event.category.empty() && !iids.empty()) event.category = packet.text(packet.sequence.categories, iids[0]);
        break;
      }
      case tag_and_type(pb::TrackEvent::debug_annotations, bytes_type):
        add_annotation(view(in.get_view()), packet, args);
        break;
      case tag_and_type(pb::TrackEvent::flow_ids, fixed64): event.flows.push_back(in.get_fixed64()); break;
      case tag_and_type(pb::TrackEvent::flow_ids, bytes_type): append(in.get_packed_fixed64(), event.flows); break;
      case tag_and_type(pb::TrackEvent::flow_ids_old, varint): event.flows.push_back(in.get_uint64()); break;
      case tag_and_type(pb::TrackEvent::terminating_flow_ids, fixed64):
        event.last_of_flows.push_back(in.get_fixed64());
        break;
      case tag_and_type(pb::TrackEvent::terminating_flow_ids, bytes_type):
        append(in.get_packed_fixed64(), event.last_of_flows);
        break;
      case tag_and_type(pb::TrackEvent::terminating_flow_ids_old, varint):
        event.last_of_flows.push_back(in.get_uint64());
        break;
      case tag_and_type(pb::TrackEvent::correlation_id, varint): args.add("correlation_id", in.get_uint64()); break;
      case tag_and_type(pb::TrackEvent::counter_value, varint): out.value = static_cast<double>(in.get_int64()); break;
      case tag_and_type(pb::TrackEvent::double_counter_value, fixed64): out.value = in.get_double(); break;
      case tag_and_type(pb::TrackEvent::extra_values, varint):
        out.extra_values.push_back(static_cast<double>(in.get_int64()));
        break;
      case tag_and_type(pb::TrackEvent::extra_values, bytes_type):
        append(in.get_packed_int64(), out.extra_values);
        break;
      case tag_and_type(pb::TrackEvent::extra_tracks, varint): out.extra_tracks.push_back(in.get_uint64()); break;
      case tag_and_type(pb::TrackEvent::extra_tracks, bytes_type):
        append(in.get_packed_uint64(), out.extra_tracks);
        break;
      case tag_and_type(pb::TrackEvent::extra_double_values, fixed64):
        out.extra_double_values.push_back(in.get_double());
        break;
      case tag_and_type(pb::TrackEvent::extra_double_values, bytes_type):
        append(in.get_packed_double(), out.extra_double_values);
        break;
      case tag_and_type(pb::TrackEvent::extra_double_tracks, varint):
        out.extra_double_tracks.push_back(in.get_uint64());
        break;
      case tag_and_type(pb::TrackEvent::extra_double_tracks, bytes_type):
        append(in.get_packed_uint64(), out.extra_double_tracks);
        break;
      default: in.skip();
    }
  }
  event.args = args.take();
  if (out.extra_tracks.empty()) out.extra_tracks = defaults.extra_tracks;
  if (out.extra_double_tracks.empty()) out.extra_double_tracks = defaults.extra_double_tracks;
  return out;
}

}  // namespace stave
