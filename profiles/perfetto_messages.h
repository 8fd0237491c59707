// The numbers of Perfetto's messages, as far as they are read or written: the
// files below protos/perfetto/trace/ of github.com/google/perfetto, v59. What is
// not here is passed over, as the format wants it.
#pragma once

#include <protozero/types.hpp>
#include <string_view>

namespace stave::perfetto {

using Tag = protozero::pbf_tag_type;

// NOLINTBEGIN(readability-identifier-naming): named as in the .proto
enum class Trace : Tag { packet = 1 };  // trace.proto

// trace_packet.proto
enum class Packet : Tag {
  clock_snapshot = 6,
  timestamp = 8,
  sequence = 10,  // trusted_packet_sequence_id
  track_event = 11,
  interned_data = 12,
  sequence_flags = 13,
  incremental_state_cleared = 41,  // the flag's predecessor
  process_descriptor = 43,
  thread_descriptor = 44,
  compressed_packets = 50,
  gpu_render_stage_event = 53,
  timestamp_clock = 58,
  defaults = 59,  // trace_packet_defaults
  track_descriptor = 60,
};
inline constexpr std::uint32_t flag_cleared = 1;      // SEQ_INCREMENTAL_STATE_CLEARED
inline constexpr std::uint32_t flag_needs_state = 2;  // SEQ_NEEDS_INCREMENTAL_STATE

enum class PacketDefaults : Tag { track_event = 11, timestamp_clock = 58 };  // trace_packet_defaults.proto

// clock_snapshot.proto
enum class ClockSnapshot : Tag { clocks = 1 };
enum class Clock : Tag { id = 1, timestamp = 2, incremental = 3, unit_ns = 4 };
// builtin_clock.proto; 64 to 127 belong to the sequence that explains them
inline constexpr std::uint32_t clock_realtime = 1;
inline constexpr std::uint32_t clock_boottime = 6;
inline constexpr std::uint32_t first_sequence_clock = 64;
inline constexpr std::uint32_t last_sequence_clock = 127;

// track_event/track_descriptor.proto and those of processes, threads, counters
enum class TrackDescriptor : Tag {
  uuid = 1,
  name = 2,
  process = 3,
  thread = 4,
  parent = 5,
  counter = 8,
  static_name = 10,
  child_ordering = 11,
  sibling_order_rank = 12,
  sibling_merge_behavior = 15,
  sibling_merge_key = 16,
};
inline constexpr int ordering_explicit = 3;           // ChildTracksOrdering
inline constexpr int merge_by_sibling_merge_key = 3;  // SiblingMergeBehavior
enum class ProcessDescriptor : Tag { pid = 1, name = 6 };
enum class ThreadDescriptor : Tag { pid = 1, tid = 2, name = 5 };
enum class CounterDescriptor : Tag { unit = 3, unit_multiplier = 4, incremental = 5, unit_name = 6 };
inline constexpr std::int32_t unit_time_ns = 1;
inline constexpr std::int32_t unit_size_bytes = 3;

// track_event/track_event.proto
enum class TrackEvent : Tag {
  category_iids = 3,
  debug_annotations = 4,
  type = 9,
  name_iid = 10,
  track = 11,
  extra_values = 12,
  categories = 22,
  name = 23,
  counter_value = 30,
  extra_tracks = 31,
  flow_ids_old = 36,
  terminating_flow_ids_old = 42,
  double_counter_value = 44,
  extra_double_tracks = 45,
  extra_double_values = 46,
  flow_ids = 47,
  terminating_flow_ids = 48,
  correlation_id = 52,
};
// Not Perfetto's: the category under which Stave writes a run's steps. They are no slices.
inline constexpr std::string_view step_category = "stave.step";
enum class EventType : std::uint32_t { none = 0, begin = 1, end = 2, instant = 3, counter = 4 };

// track_event/debug_annotation.proto
enum class DebugAnnotation : Tag {
  name_iid = 1,
  bool_value = 2,
  uint_value = 3,
  int_value = 4,
  double_value = 5,
  string_value = 6,
  pointer_value = 7,
  json_value = 9,
  name = 10,
  dict_entries = 11,
  array_values = 12,
  string_value_iid = 17,
};

// interned_data/interned_data.proto. Each entry has its id in field 1 and its text in field 2.
enum class InternedData : Tag {
  event_categories = 1,
  event_names = 2,
  annotation_names = 3,
  graphics_contexts = 23,
  gpu_specifications = 24,
  annotation_strings = 29,
  compute_kernels = 1000,
  compute_arg_names = 1001,
};
enum class Interned : Tag { iid = 1, text = 2, demangled_name = 3 };
enum class Specification : Tag { iid = 1, name = 2, category = 4 };  // InternedGpuRenderStageSpecification
inline constexpr int category_compute = 2;                           // RenderStageCategory
enum class GraphicsContext : Tag { iid = 1, pid = 2, api = 3 };
inline constexpr int api_cuda = 4;

// gpu/gpu_render_stage_event.proto
enum class RenderStage : Tag {
  event_id = 1,
  duration = 2,
  queue_index = 3,  // hw_queue_id, into `specifications`
  stage_index = 4,
  context = 5,
  extra_data = 6,
  specifications = 7,
  gpu = 11,
  queue_iid = 13,
  stage_iid = 14,
  name = 17,
  event_wait_ids = 18,
  kernel_iid = 19,
  name_iid = 20,
  launch = 21,
};
enum class ExtraData : Tag { name = 1, value = 2 };
enum class Launch : Tag { grid = 1, workgroup = 2, args = 3 };
enum class Dim3 : Tag { x = 1, y = 2, z = 3 };
enum class ComputeArg : Tag {
  name_iid = 1,
  name = 2,
  int_value = 3,
  uint_value = 4,
  double_value = 5,
  text = 6,
  text_iid = 7
};
enum class Specifications : Tag { queues = 2, stages = 3 };
enum class Description : Tag { name = 1 };
// NOLINTEND(readability-identifier-naming)

}  // namespace stave::perfetto
