// Perfetto's format, decoded here by its wire rules alone.
#include <protozero/pbf_message.hpp>

#include <algorithm>
#include <map>

#include "profiles/perfetto_messages.h"
#include "tests/profiles/export/stored.h"

namespace stave {
namespace {

namespace pb = perfetto;
using protozero::pbf_message;

struct PerfettoSlice {
  std::string name;
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::string track;
  std::string merge_key;
  std::uint64_t uuid = 0;
  std::int64_t stream = -1;
  std::vector<std::uint64_t> flows, ends;
};

struct PerfettoTrace {
  std::vector<PerfettoSlice> slices;
  std::vector<std::pair<std::int64_t, double>> samples;
  int stages = 0;
};

// Replays the events by time, as Perfetto does: an end closes the innermost slice of its track.
class PerfettoReader {
 public:
  explicit PerfettoReader(const std::string& bytes) {
    pbf_message<pb::Trace> trace(bytes);
    while (trace.next(pb::Trace::packet)) packet(trace.get_message());
  }
  PerfettoTrace replayed() {
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
    std::map<std::uint64_t, std::vector<std::size_t>> open;
    for (const Event& event : events_) {
      if (event.type == pb::EventType::begin) {
        open[event.track].push_back(out_.slices.size());
        const auto& [name, key] = tracks_.at(event.track);
        out_.slices.push_back(
            {names_.at(event.name), event.time, -1, name, key, event.track, event.stream, event.flows, event.ends});
      } else if (event.type == pb::EventType::end) {
        EXPECT_FALSE(open[event.track].empty());
        out_.slices[open[event.track].back()].end = event.time;
        open[event.track].pop_back();
      } else {
        out_.samples.emplace_back(event.time, event.value);
      }
    }
    for (const auto& [track, left] : open) EXPECT_TRUE(left.empty());
    return out_;
  }

 private:
  struct Event {
    std::int64_t time = 0;
    pb::EventType type = pb::EventType::none;
    std::uint64_t track = 0, name = 0;
    std::int64_t stream = -1;
    double value = 0;
    std::vector<std::uint64_t> flows, ends;
  };

  void packet(pbf_message<pb::Packet> packet) {
    Event event;
    bool is_event = false;
    while (packet.next()) {
      switch (packet.tag()) {
        case pb::Packet::timestamp: event.time = static_cast<std::int64_t>(packet.get_uint64()); break;
        case pb::Packet::track_event:
          is_event = true;
          track_event(packet.get_message(), event);
          break;
        case pb::Packet::interned_data: interned(packet.get_message()); break;
        case pb::Packet::track_descriptor: descriptor(packet.get_message()); break;
        case pb::Packet::gpu_render_stage_event:
          ++out_.stages;
          packet.skip();
          break;
        default: packet.skip();
      }
    }
    if (is_event) events_.push_back(event);
  }
  static void track_event(pbf_message<pb::TrackEvent> in, Event& event) {
    while (in.next()) {
      switch (in.tag()) {
        case pb::TrackEvent::type: event.type = static_cast<pb::EventType>(in.get_enum()); break;
        case pb::TrackEvent::track: event.track = in.get_uint64(); break;
        case pb::TrackEvent::name_iid: event.name = in.get_uint64(); break;
        case pb::TrackEvent::double_counter_value: event.value = in.get_double(); break;
        case pb::TrackEvent::flow_ids: event.flows.push_back(in.get_fixed64()); break;
        case pb::TrackEvent::terminating_flow_ids: event.ends.push_back(in.get_fixed64()); break;
        case pb::TrackEvent::debug_annotations: {
          pbf_message<pb::DebugAnnotation> annotation(in.get_message());
          std::uint64_t name = 0;
          while (annotation.next()) {
            if (annotation.tag() == pb::DebugAnnotation::name_iid)
              name = annotation.get_uint64();
            else if (annotation.tag() == pb::DebugAnnotation::int_value && name == 3)  // "stream"
              event.stream = annotation.get_int64();
            else
              annotation.skip();
          }
          break;
        }
        default: in.skip();
      }
    }
  }
  void interned(pbf_message<pb::InternedData> in) {
    while (in.next()) {
      if (in.tag() != pb::InternedData::event_names) {
        in.skip();
        continue;
      }
      pbf_message<pb::Interned> entry(in.get_message());
      std::uint64_t iid = 0;
      while (entry.next()) {
        if (entry.tag() == pb::Interned::iid)
          iid = entry.get_uint64();
        else
          names_[iid] = entry.get_string();
      }
    }
  }
  void descriptor(pbf_message<pb::TrackDescriptor> in) {
    std::uint64_t uuid = 0;
    std::string name, key;
    while (in.next()) {
      switch (in.tag()) {
        case pb::TrackDescriptor::uuid: uuid = in.get_uint64(); break;
        case pb::TrackDescriptor::name: name = in.get_string(); break;
        case pb::TrackDescriptor::sibling_merge_key: key = in.get_string(); break;
        default: in.skip();
      }
    }
    EXPECT_TRUE(tracks_.emplace(uuid, std::pair{name, key}).second) << "described twice: " << name;
  }

  std::vector<Event> events_;
  std::map<std::uint64_t, std::string> names_;
  std::map<std::uint64_t, std::pair<std::string, std::string>> tracks_;
  PerfettoTrace out_;
};

PerfettoTrace read_perfetto(const std::string& bytes) { return PerfettoReader(bytes).replayed(); }

const PerfettoSlice& named_slice(const PerfettoTrace& trace, std::string_view name) {
  for (const PerfettoSlice& slice : trace.slices)
    if (slice.name == name) return slice;
  ADD_FAILURE() << "no slice " << name;
  static const PerfettoSlice none;
  return none;
}

TEST(Perfetto, NamesTimesAndStreamsComeBack) {
  const Timeline timeline = small_timeline();
  Stored stored(timeline);
  const PerfettoTrace trace = read_perfetto(stored.exported("out.pftrace"));
  std::vector<DeviceWork> work;
  for (const PerfettoSlice& slice : trace.slices)
    if (slice.stream >= 0) work.push_back({slice.name, slice.stream, slice.start, slice.end});
  std::sort(work.begin(), work.end());
  EXPECT_EQ(work, device_work(timeline));
  EXPECT_EQ(trace.samples, (std::vector<std::pair<std::int64_t, double>>{{7, 1024.0}}));
}

TEST(Perfetto, OverlapsAreOnTracksThatAreMerged) {
  Stored stored(small_timeline());
  const PerfettoTrace trace = read_perfetto(stored.exported("out.pftrace"));
  const PerfettoSlice& first = named_slice(trace, "gemm<float>, \"quoted\"");
  const PerfettoSlice& second = named_slice(trace, "second");
  EXPECT_NE(first.uuid, second.uuid);
  EXPECT_EQ(first.merge_key, second.merge_key);
  EXPECT_EQ(first.track, "stream 7");
  EXPECT_EQ(named_slice(trace, "inner").uuid, named_slice(trace, "outer").uuid);
}

TEST(Perfetto, EdgesAreFlows) {
  Stored stored(small_timeline());
  const PerfettoTrace trace = read_perfetto(stored.exported("out.pftrace"));
  const PerfettoSlice& call = named_slice(trace, "cudaLaunchKernel");
  const PerfettoSlice& first = named_slice(trace, "gemm<float>, \"quoted\"");
  EXPECT_EQ(call.flows, first.ends);
  EXPECT_EQ(call.flows.size(), 1u);
  EXPECT_EQ(first.flows, named_slice(trace, "Memcpy HtoD").ends);
}

TEST(Perfetto, RenderStagesStandForStreams) {
  Stored stored(small_timeline());
  const PerfettoTrace trace = read_perfetto(stored.exported("out.gpu.pftrace"));
  EXPECT_EQ(trace.stages, 3);
  EXPECT_EQ(trace.slices.size(), 3u);
}

TEST(Perfetto, TimesBeforeZeroMoveAll) {
  Timeline timeline;
  const TrackId track = timeline.add(Track{.name = "t"});
  timeline.add(Slice{.start = Time{-2'500}, .duration = 1'000_ps, .track = track, .name = timeline.intern("early")});
  timeline.add(Slice{.start = Time{1'000}, .duration = 1'000_ps, .track = track, .name = timeline.intern("late")});
  Stored stored(timeline);
  const PerfettoTrace trace = read_perfetto(stored.exported("out.pftrace"));
  EXPECT_EQ(stored.report.shift_ns, 3);
  EXPECT_EQ(named_slice(trace, "early").start, 0);
  EXPECT_EQ(named_slice(trace, "late").start, 4);
}

}  // namespace
}  // namespace stave
