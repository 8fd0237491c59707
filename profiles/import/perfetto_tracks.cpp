#include "profiles/import/perfetto_tracks.h"

#include "profiles/import/wire_message.h"
#include "profiles/perfetto_messages.h"

namespace stave {
namespace {

namespace pb = perfetto;
using namespace wire_message;

void describe_counter(std::string_view bytes, PerfettoTrack& track) {
  track.counter = true;
  auto in = message<pb::CounterDescriptor>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::CounterDescriptor::unit, varint): {
        const std::int32_t unit = in.get_int32();
        if (!track.unit.empty()) break;
        if (unit == pb::unit_time_ns) track.unit = "ns";
        if (unit == pb::unit_size_bytes) track.unit = "bytes";
        break;
      }
      case tag_and_type(pb::CounterDescriptor::unit_multiplier, varint): track.unit_multiplier = in.get_int64(); break;
      case tag_and_type(pb::CounterDescriptor::incremental, varint): track.incremental = in.get_bool(); break;
      case tag_and_type(pb::CounterDescriptor::unit_name, bytes_type): track.unit = view(in.get_view()); break;
      default: in.skip();
    }
  }
}

}  // namespace

std::size_t PerfettoTracks::of_uuid(std::uint64_t uuid) {
  const auto [at, added] = by_uuid_.try_emplace(uuid, tracks_.size());
  if (added) tracks_.emplace_back();
  return at->second;
}

std::size_t PerfettoTracks::of_queue(std::int64_t gpu, std::optional<std::uint64_t> context, const std::string& name) {
  const auto [at, added] = queues_.try_emplace({gpu, context.value_or(0), name}, tracks_.size());
  if (added) tracks_.push_back(PerfettoTrack{.name = name, .gpu_queue = true, .gpu = gpu, .context = context});
  return at->second;
}

std::size_t PerfettoTracks::add() {
  tracks_.emplace_back();
  return tracks_.size() - 1;
}

const PerfettoTrack* PerfettoTracks::find(std::uint64_t uuid) const {
  const auto at = by_uuid_.find(uuid);
  return at == by_uuid_.end() ? nullptr : &tracks_[at->second];
}

std::optional<std::int64_t> PerfettoTracks::pid_of_context(std::uint64_t context) const {
  const auto at = contexts_.find(context);
  return at == contexts_.end() ? std::nullopt : std::optional(at->second);
}

void PerfettoTracks::describe(std::string_view bytes) {
  std::uint64_t uuid = 0;
  auto find = message<pb::TrackDescriptor>(bytes);
  while (find.next(pb::TrackDescriptor::uuid, varint)) uuid = find.get_uint64();
  PerfettoTrack& track = tracks_[of_uuid(uuid)];
  auto in = message<pb::TrackDescriptor>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::TrackDescriptor::name, bytes_type):
      case tag_and_type(pb::TrackDescriptor::static_name, bytes_type): track.name = view(in.get_view()); break;
      case tag_and_type(pb::TrackDescriptor::parent, varint): track.parent = in.get_uint64(); break;
      case tag_and_type(pb::TrackDescriptor::process, bytes_type): describe_process(view(in.get_view()), track); break;
      case tag_and_type(pb::TrackDescriptor::thread, bytes_type): describe_thread(view(in.get_view()), track); break;
      case tag_and_type(pb::TrackDescriptor::counter, bytes_type): describe_counter(view(in.get_view()), track); break;
      default: in.skip();
    }
  }
}

void PerfettoTracks::describe_thread(std::string_view bytes, PerfettoTrack& track) {
  auto in = message<pb::ThreadDescriptor>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::ThreadDescriptor::pid, varint): track.pid = in.get_int32(); break;
      case tag_and_type(pb::ThreadDescriptor::tid, varint): track.tid = in.get_int64(); break;
      case tag_and_type(pb::ThreadDescriptor::name, bytes_type):
        if (track.name.empty()) track.name = view(in.get_view());
        break;
      default: in.skip();
    }
  }
  if (!track.tid) track.tid = 0;
}

void PerfettoTracks::describe_process(std::string_view bytes, PerfettoTrack& track) {
  std::int64_t pid = 0;
  std::string_view name;
  auto in = message<pb::ProcessDescriptor>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::ProcessDescriptor::pid, varint): pid = in.get_int32(); break;
      case tag_and_type(pb::ProcessDescriptor::name, bytes_type): name = view(in.get_view()); break;
      default: in.skip();
    }
  }
  track.process = true;
  track.pid = pid;
  if (track.name.empty()) track.name = name;
  std::string& known = processes_[pid];
  if (!name.empty()) known = name;
}

void PerfettoTracks::describe_context(std::string_view bytes) {
  std::uint64_t iid = 0;
  auto in = message<pb::GraphicsContext>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::GraphicsContext::iid, varint): iid = in.get_uint64(); break;
      case tag_and_type(pb::GraphicsContext::pid, varint): contexts_[iid] = in.get_int32(); break;
      default: in.skip();
    }
  }
}

}  // namespace stave
