#include "profiles/import/perfetto_stages.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/import/perfetto_annotations.h"
#include "profiles/import/wire_message.h"
#include "profiles/perfetto_messages.h"

namespace stave {
namespace {

namespace pb = perfetto;
using namespace wire_message;

LaunchDims dim3(std::string_view bytes) {
  LaunchDims out{1, 1, 1};
  auto in = message<pb::Dim3>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::Dim3::x, varint): out[0] = in.get_uint32(); break;
      case tag_and_type(pb::Dim3::y, varint): out[1] = in.get_uint32(); break;
      case tag_and_type(pb::Dim3::z, varint): out[2] = in.get_uint32(); break;
      default: in.skip();
    }
  }
  return out;
}

}  // namespace

struct PerfettoStages::Fields {
  PerfettoEvent event{};
  std::uint64_t duration = 0;  // ns
  std::optional<std::uint64_t> queue{}, stage{}, context{}, kernel{};
  std::optional<std::size_t> queue_index{}, stage_index{};
  std::int64_t gpu = 0;
  bool specifies = false;
  ArgsText args{};
};

void PerfettoStages::specify(std::string_view bytes) {
  queue_names_.clear();
  stage_names_.clear();
  auto specifications = message<pb::Specifications>(bytes);
  while (specifications.next()) {
    std::vector<std::string>* names = nullptr;
    if (specifications.tag_and_type() == tag_and_type(pb::Specifications::queues, bytes_type)) names = &queue_names_;
    if (specifications.tag_and_type() == tag_and_type(pb::Specifications::stages, bytes_type)) names = &stage_names_;
    if (names == nullptr) {
      specifications.skip();
      continue;
    }
    std::string& name = names->emplace_back();
    pbf_message<pb::Description> description(specifications.get_message());
    while (description.next(pb::Description::name, bytes_type)) name = view(description.get_view());
  }
}

void PerfettoStages::read_fields(std::string_view bytes, const PerfettoPacket& packet, Fields& fields) {
  const auto index = [](std::int64_t n) { return static_cast<std::size_t>(std::max<std::int64_t>(n, 0)); };
  auto in = message<pb::RenderStage>(bytes);
  while (in.next()) {
    switch (in.tag_and_type()) {
      case tag_and_type(pb::RenderStage::event_id, varint): fields.event.id = in.get_uint64(); break;
      case tag_and_type(pb::RenderStage::duration, varint): fields.duration = in.get_uint64(); break;
      case tag_and_type(pb::RenderStage::queue_index, varint): fields.queue_index = index(in.get_int32()); break;
      case tag_and_type(pb::RenderStage::stage_index, varint): fields.stage_index = index(in.get_int32()); break;
      case tag_and_type(pb::RenderStage::context, varint): fields.context = in.get_uint64(); break;
      case tag_and_type(pb::RenderStage::gpu, varint): fields.gpu = in.get_int32(); break;
      case tag_and_type(pb::RenderStage::queue_iid, varint): fields.queue = in.get_uint64(); break;
      case tag_and_type(pb::RenderStage::stage_iid, varint): fields.stage = in.get_uint64(); break;
      case tag_and_type(pb::RenderStage::name, bytes_type): fields.event.name = view(in.get_view()); break;
      case tag_and_type(pb::RenderStage::name_iid, varint):
        fields.event.name = packet.text(packet.sequence.names, in.get_uint64());
        break;
      case tag_and_type(pb::RenderStage::kernel_iid, varint): fields.kernel = in.get_uint64(); break;
      case tag_and_type(pb::RenderStage::event_wait_ids, varint):
        fields.event.waits_for.push_back(in.get_uint64());
        break;
      case tag_and_type(pb::RenderStage::event_wait_ids, bytes_type):
        append(in.get_packed_uint64(), fields.event.waits_for);
        break;
      case tag_and_type(pb::RenderStage::extra_data, bytes_type): {
        std::string_view name, value;
        pbf_message<pb::ExtraData> extra(in.get_message());
        while (extra.next()) {
          switch (extra.tag_and_type()) {
            case tag_and_type(pb::ExtraData::name, bytes_type): name = view(extra.get_view()); break;
            case tag_and_type(pb::ExtraData::value, bytes_type): value = view(extra.get_view()); break;
            default: extra.skip();
          }
        }
        if (name == "family" && family_named(value)) {
          fields.event.category = value;
          break;
        }
        fields.args.add(name, value);
        break;
      }
      case tag_and_type(pb::RenderStage::launch, bytes_type): {
        pbf_message<pb::Launch> launch(in.get_message());
        while (launch.next()) {
          switch (launch.tag_and_type()) {
            case tag_and_type(pb::Launch::grid, bytes_type): fields.event.grid = dim3(view(launch.get_view())); break;
            case tag_and_type(pb::Launch::workgroup, bytes_type):
              fields.event.workgroup = dim3(view(launch.get_view()));
              break;
            case tag_and_type(pb::Launch::args, bytes_type):
              add_compute_arg(view(launch.get_view()), packet, fields.args);
              break;
            default: launch.skip();
          }
        }
        break;
      }
      case tag_and_type(pb::RenderStage::specifications, bytes_type):
        fields.specifies = true;
        specify(view(in.get_view()));
        break;
      default: in.skip();
    }
  }
}

std::optional<PerfettoEvent> PerfettoStages::read(std::string_view bytes, const PerfettoPacket& packet,
                                                  PerfettoTracks& tracks) {
  Fields fields;
  read_fields(bytes, packet, fields);
  PerfettoEvent& event = fields.event;
  event.byte = packet.byte;
  if (fields.specifies && !event.id) return std::nullopt;
  if (!packet.time) {
    packet.count(problem_kinds::no_time);
    return std::nullopt;
  }
  event.start = *packet.time;
  event.end = event.start + WideTime{fields.duration} * ps_per_ns;
  if (fields.kernel) {
    const std::string name = packet.text(packet.sequence.kernels, *fields.kernel);
    if (event.name.empty()) event.name = name;
    const auto demangled = packet.sequence.demangled.find(*fields.kernel);
    if (demangled != packet.sequence.demangled.end()) event.demangled_name = demangled->second;
  }
  std::string stage_name;
  if (fields.stage)
    stage_name = packet.text(packet.sequence.specifications, *fields.stage);
  else if (fields.stage_index && *fields.stage_index < stage_names_.size())
    stage_name = stage_names_[*fields.stage_index];
  if (event.name.empty()) event.name = stage_name;
  if (!stage_name.empty() && stage_name != event.name) fields.args.add("stage", stage_name);
  std::string queue_name;
  if (fields.queue)
    queue_name = packet.text(packet.sequence.specifications, *fields.queue);
  else if (fields.queue_index && *fields.queue_index < queue_names_.size())
    queue_name = queue_names_[*fields.queue_index];
  else if (fields.queue_index)
    queue_name = fmt::format("queue {}", *fields.queue_index);
  event.args = fields.args.take();
  event.track = tracks.of_queue(fields.gpu, fields.context, queue_name);
  return std::move(event);
}

}  // namespace stave
