#include "profiles/import/perfetto_packets.h"

#include <zlib.h>

#include <algorithm>

#include "profiles/import/wire_message.h"

namespace stave {
namespace {

namespace pb = perfetto;
using namespace wire_message;

// Of one track; more begins without an end are a mistake.
constexpr std::size_t most_open = 4096;
constexpr std::size_t max_inflated_bytes = std::size_t{64} << 20;

// zlib's format. Whether all of it was good; `text` holds what came before a mistake.
bool inflate_all(std::string_view bytes, std::string& text) {
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  int status = Z_OK;
  while (status == Z_OK && text.size() < max_inflated_bytes) {
    const std::size_t old = text.size();
    text.resize(old + (std::size_t{256} << 10));
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + old);
    stream.avail_out = static_cast<uInt>(text.size() - old);
    status = inflate(&stream, Z_NO_FLUSH);
    text.resize(text.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  return status == Z_STREAM_END;
}

}  // namespace

PerfettoPackets::PerfettoPackets(ByteSource& source, std::string_view file, ProblemCounts* problems)
    : stream_(source, file, problems, static_cast<std::uint32_t>(pb::Trace::packet)) {}

Result<bool> PerfettoPackets::next(PerfettoEvent& event) {
  while (ready_.empty()) {
    WireField field;
    TRY(const bool more, stream_.next(field));
    if (!more) {
      for (const auto& [track, open] : open_)
        for (const PerfettoEvent& begun : open) stream_.count(problem_kinds::unbalanced, begun.byte);
      open_.clear();
      return false;
    }
    TRY(const std::optional<std::string_view> bytes, stream_.take(field));
    if (bytes) packet(*bytes, field.byte, 0);
  }
  event = std::move(ready_.front());
  ready_.pop_front();
  return true;
}

struct PerfettoPackets::Parts {
  std::optional<std::uint64_t> timestamp{};
  std::uint32_t clock = 0, sequence = 0;
  bool cleared = false;
  std::string_view snapshot{}, interned{}, defaults{}, event{}, stage{}, packed{};
  std::string_view track{}, thread{}, process{};
};

// All of a packet is looked at before any of it counts: its fields come in any order.
void PerfettoPackets::packet(std::string_view bytes, std::int64_t byte, int depth) {
  Parts parts;
  const bool good = parsed([&] {
    auto in = message<pb::Packet>(bytes);
    while (in.next()) {
      switch (in.tag_and_type()) {
        case tag_and_type(pb::Packet::timestamp, varint): parts.timestamp = in.get_uint64(); break;
        case tag_and_type(pb::Packet::timestamp_clock, varint): parts.clock = in.get_uint32(); break;
        case tag_and_type(pb::Packet::sequence, varint): parts.sequence = in.get_uint32(); break;
        case tag_and_type(pb::Packet::sequence_flags, varint):
          parts.cleared = (in.get_uint32() & pb::flag_cleared) != 0 || parts.cleared;
          break;
        case tag_and_type(pb::Packet::incremental_state_cleared, varint):
          parts.cleared = in.get_bool() || parts.cleared;
          break;
        case tag_and_type(pb::Packet::clock_snapshot, bytes_type): parts.snapshot = view(in.get_view()); break;
        case tag_and_type(pb::Packet::interned_data, bytes_type): parts.interned = view(in.get_view()); break;
        case tag_and_type(pb::Packet::defaults, bytes_type): parts.defaults = view(in.get_view()); break;
        case tag_and_type(pb::Packet::track_event, bytes_type): parts.event = view(in.get_view()); break;
        case tag_and_type(pb::Packet::gpu_render_stage_event, bytes_type): parts.stage = view(in.get_view()); break;
        case tag_and_type(pb::Packet::compressed_packets, bytes_type): parts.packed = view(in.get_view()); break;
        case tag_and_type(pb::Packet::track_descriptor, bytes_type): parts.track = view(in.get_view()); break;
        case tag_and_type(pb::Packet::thread_descriptor, bytes_type): parts.thread = view(in.get_view()); break;
        case tag_and_type(pb::Packet::process_descriptor, bytes_type): parts.process = view(in.get_view()); break;
        default: in.skip();
      }
    }
  });
  if (!good) return stream_.count(problem_kinds::bad_message, byte);
  PerfettoSequence& sequence = sequences_[parts.sequence];
  if (parts.cleared) sequence.clear();
  PerfettoPacket packet{byte, sequence, stream_};
  if (!parsed([&] { packet_of(parts, packet, depth); })) packet.count(problem_kinds::bad_message);
}

void PerfettoPackets::packet_of(const Parts& parts, PerfettoPacket& packet, int depth) {
  PerfettoSequence& sequence = packet.sequence;
  if (!parts.packed.empty()) compressed(parts.packed, packet.byte, depth);
  if (!parts.snapshot.empty()) clocks_.snapshot(parts.snapshot, sequence.clocks);
  if (!parts.interned.empty()) sequence.intern(parts.interned, tracks_);
  if (!parts.defaults.empty()) sequence.set_defaults(parts.defaults);
  if (!parts.track.empty()) tracks_.describe(parts.track);
  if (!parts.thread.empty()) {
    if (!sequence.own_track) sequence.own_track = tracks_.add();
    tracks_.describe_thread(parts.thread, tracks_.at(*sequence.own_track));
  }
  if (!parts.process.empty()) {
    PerfettoTrack unused;
    tracks_.describe_process(parts.process, unused);
  }
  if (parts.event.empty() && parts.stage.empty()) return;
  const std::uint32_t clock = parts.clock != 0 ? parts.clock : sequence.defaults.clock;
  if (parts.timestamp) packet.time = clocks_.time_of(*parts.timestamp, clock, sequence.clocks);
  if (!parts.event.empty()) track_event(parts.event, packet);
  if (parts.stage.empty()) return;
  if (std::optional<PerfettoEvent> event = stages_.read(parts.stage, packet, tracks_))
    ready_.push_back(std::move(*event));
}

// Packets in packets in packets are a mistake.
void PerfettoPackets::compressed(std::string_view bytes, std::int64_t byte, int depth) {
  if (depth > 0) return stream_.count(problem_kinds::bad_message, byte);
  std::string text;
  const bool whole = inflate_all(bytes, text);
  const bool good = parsed([&] {
    auto in = message<pb::Trace>(text);
    while (in.next(pb::Trace::packet, bytes_type)) packet(view(in.get_view()), byte, depth + 1);
  });
  if (!whole || !good) stream_.count(problem_kinds::bad_message, byte);
}

void PerfettoPackets::counter(const PerfettoPacket& packet, std::size_t track, double value) {
  PerfettoEvent event;
  event.kind = PerfettoEvent::Kind::Counter;
  event.track = track;
  event.byte = packet.byte;
  event.start = event.end = *packet.time;
  const PerfettoTrack& about = tracks_.at(track);
  if (about.incremental) {
    WideTime& counted = packet.sequence.counted[track];
    counted += static_cast<std::int64_t>(std::clamp(value, -9e18, 9e18));
    value = static_cast<double>(counted);
  }
  event.value = value * static_cast<double>(about.unit_multiplier);
  ready_.push_back(std::move(event));
}

void PerfettoPackets::counters(const PerfettoPacket& packet, const std::vector<std::uint64_t>& tracks,
                               const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size() && i < tracks.size(); ++i)
    counter(packet, tracks_.of_uuid(tracks[i]), values[i]);
}

void PerfettoPackets::track_event(std::string_view bytes, const PerfettoPacket& packet) {
  PerfettoTrackEvent found = read_track_event(bytes, packet);
  if (!packet.time) return packet.count(problem_kinds::no_time);
  PerfettoEvent& event = found.event;
  event.start = event.end = *packet.time;
  const std::optional<std::size_t> own = packet.sequence.own_track;
  event.track = !found.uuid && own ? *own : tracks_.of_uuid(found.uuid.value_or(0));
  counters(packet, found.extra_tracks, found.extra_values);
  counters(packet, found.extra_double_tracks, found.extra_double_values);
  switch (found.type) {
    case pb::EventType::begin: {
      std::vector<PerfettoEvent>& open = open_[event.track];
      if (open.size() >= most_open) return packet.count(problem_kinds::unbalanced);
      open.push_back(std::move(event));
      return;
    }
    case pb::EventType::end: return end(event, packet);
    case pb::EventType::instant:
      event.kind = PerfettoEvent::Kind::Instant;
      ready_.push_back(std::move(event));
      return;
    case pb::EventType::counter:
      if (!found.value) return packet.count(problem_kinds::bad_message);
      return counter(packet, event.track, *found.value);
    default: packet.count(problem_kinds::bad_message);
  }
}

void PerfettoPackets::end(const PerfettoEvent& event, const PerfettoPacket& packet) {
  const auto at = open_.find(event.track);
  if (at == open_.end() || at->second.empty()) return packet.count(problem_kinds::unbalanced);
  PerfettoEvent begun = std::move(at->second.back());
  at->second.pop_back();
  begun.end = event.end;
  if (begun.args.empty()) {
    begun.args = event.args;
  } else if (!event.args.empty()) {
    begun.args.back() = ',';
    begun.args += " " + event.args.substr(1);
  }
  begun.flows.insert(begun.flows.end(), event.flows.begin(), event.flows.end());
  begun.last_of_flows.insert(begun.last_of_flows.end(), event.last_of_flows.begin(), event.last_of_flows.end());
  ready_.push_back(std::move(begun));
}

}  // namespace stave
