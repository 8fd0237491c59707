// Perfetto's protobuf. Every lane of a track is a track of its own there; lanes
// of one track share a merge key, so that they are shown as one with rows. Edges
// are flows.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "profiles/export/exporter.h"
#include "profiles/export/lanes.h"
#include "profiles/export/perfetto_output.h"

namespace stave {
namespace {

namespace pb = perfetto;
using protozero::pbf_builder;
using PacketBuilder = pbf_builder<pb::Packet>;
using EventBuilder = pbf_builder<pb::TrackEvent>;

// The names of debug annotations; interned ids count from 1.
enum class Annotation : std::uint8_t {
  Command,
  Step,
  Stream,
  Device,
  Grid,
  Block,
  Bytes,
  Communicator,
  DurationPs,
  Op,
  Sequence,
  Dtype,
  Count,
  Ranks,
  MatchedBy,
  Family,
  Label,
  Phase,
};
constexpr std::string_view annotation_names[] = {
    "command", "step",     "stream", "device", "grid",  "block",      "bytes",  "communicator", "duration_ps",
    "op",      "sequence", "dtype",  "count",  "ranks", "matched_by", "family", "label",        "phase"};
constexpr std::uint64_t step_category_iid = std::uint64_t{family_count} + 1;

// FNV-1a, 64 bits: the same for the same place in a run, and rarely 0.
std::uint64_t stable_uuid(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash == 0 ? 1 : hash;
}

class PerfettoWriter {
  using enum Annotation;

 public:
  PerfettoWriter(RunCursor& run, OutputFile& out, bool gpu_stages, RunFlows flows, std::int64_t shift)
      : run_(run), out_(out), gpu_stages_(gpu_stages), flows_(std::move(flows)), shift_(shift) {}

  Result<void> write(const ExportOptions& options, ExportReport& report, Progress* progress) {
    head(options);
    for (const StepSpan& step : run_.head().steps())
      if (run_.filter().has_rank(step.rank) && meets_window(step)) this->step(step);
    TRY_VOID(run_.slices(RunCursor::Order::Tracks, false, progress, [&](const SliceRow& row) -> Result<void> {
      ++report.slices;
      slice(row);
      return {};
    }));
    const auto edges = static_cast<std::int64_t>(flows_.size());
    report.edges = gpu_stages_ ? waits_ : edges;
    if (report.edges < edges) report.left_out["edges that are no wait of a stream"] = edges - report.edges;
    TRY_VOID(count_arguments(run_, report));
    return run_.counters([&](const CounterSample& sample) -> Result<void> {
      if (!std::isfinite(sample.value)) {
        ++report.left_out["samples that are no number"];
        return {};
      }
      ++report.samples;
      counter(sample);
      return {};
    });
  }

 private:
  template <class Fill>
  void packet_at(std::int64_t ns, Fill fill) {
    out_.packet(ns + shift_, fill);
  }

  std::uint64_t name_iid(StringId name) {
    if (names_.size() <= name.value) names_.resize(name.value + 1);
    if (!names_[name.value]) {
      out_.intern(pb::InternedData::event_names, name.value + 1, run_.head().text(name));
      names_[name.value] = true;
    }
    return name.value + 1;
  }

  std::uint64_t process_uuid(std::uint32_t rank) const { return stable_uuid(fmt::format("rank {}", rank)); }
  static std::int32_t process_id(std::uint32_t rank) { return static_cast<std::int32_t>(rank & 0x3fffffff) + 1; }

  void head(const ExportOptions& options) {
    for (std::size_t i = 0; i < std::size(annotation_names); ++i)
      out_.intern(pb::InternedData::annotation_names, i + 1, annotation_names[i]);
    for (std::uint8_t f = 0; f < family_count; ++f)
      out_.intern(pb::InternedData::event_categories, f + 1u, name_of(static_cast<stave::Family>(f)));
    out_.intern(pb::InternedData::event_categories, step_category_iid, pb::step_category);
    std::map<std::uint32_t, std::string> ranks;
    for (const Track& track : run_.head().tracks())
      if (run_.filter().has_rank(track.rank)) ranks[track.rank] = fmt::format("rank {}", track.rank);
    for (const RankInfo& rank : run_.head().ranks())
      if (const auto at = ranks.find(rank.rank); at != ranks.end() && !rank.gpu.empty())
        at->second += fmt::format(" ({})", rank.gpu);
    std::int32_t order = 0;
    for (const auto& entry : ranks) {
      const std::uint32_t rank = entry.first;
      const std::string& name = entry.second;
      if (gpu_stages_) {
        using pb::GraphicsContext;
        out_.intern_entry<GraphicsContext>(pb::InternedData::graphics_contexts, [&](auto& context) {
          context.add_uint64(GraphicsContext::iid, rank + std::uint64_t{1});
          context.add_int32(GraphicsContext::pid, process_id(rank));
          context.add_enum(GraphicsContext::api, pb::api_cuda);
        });
      }
      out_.packet(std::nullopt, [&](PacketBuilder& to) {
        pbf_builder<pb::TrackDescriptor> track(to, pb::Packet::track_descriptor);
        track.add_uint64(pb::TrackDescriptor::uuid, process_uuid(rank));
        {
          pbf_builder<pb::ProcessDescriptor> process(track, pb::TrackDescriptor::process);
          process.add_int32(pb::ProcessDescriptor::pid, process_id(rank));
          const std::string title = options.title.empty() ? name : fmt::format("{}, {}", name, options.title);
          process.add_string(pb::ProcessDescriptor::name, utf8_text(title));
        }
        track.add_enum(pb::TrackDescriptor::child_ordering, pb::ordering_explicit);
        track.add_int32(pb::TrackDescriptor::sibling_order_rank, order++);
      });
    }
  }

  // The track of a lane, described before its first event.
  std::uint64_t lane_uuid(TrackId id, std::uint32_t lane) {
    const Track& track = run_.head().track(id);
    const std::string place = fmt::format("rank {} track {} lane {}", track.rank, id.value, lane);
    const std::uint64_t uuid = stable_uuid(place);
    if (lane < lanes_described_ && id == described_) return uuid;
    described_ = id;
    lanes_described_ = lane + 1;
    describe(id, uuid, lane);
    return uuid;
  }

  void describe(TrackId id, std::uint64_t uuid, std::uint32_t lane) {
    const Track& track = run_.head().track(id);
    out_.packet(std::nullopt, [&](PacketBuilder& to) {
      pbf_builder<pb::TrackDescriptor> descriptor(to, pb::Packet::track_descriptor);
      descriptor.add_uint64(pb::TrackDescriptor::uuid, uuid);
      descriptor.add_string(pb::TrackDescriptor::name, utf8_text(track.name));
      descriptor.add_uint64(pb::TrackDescriptor::parent, process_uuid(track.rank));
      if (track.kind == TrackKind::Counter) {
        pbf_builder<pb::CounterDescriptor> counter(descriptor, pb::TrackDescriptor::counter);
        if (track.unit == "bytes")
          counter.add_enum(pb::CounterDescriptor::unit, pb::unit_size_bytes);
        else if (!track.unit.empty())
          counter.add_string(pb::CounterDescriptor::unit_name, utf8_text(track.unit));
      }
      // Streams above hosts above ranges, each in the run's order.
      descriptor.add_int32(pb::TrackDescriptor::sibling_order_rank,
                           (static_cast<std::int32_t>(track.kind) << 24) +
                               static_cast<std::int32_t>(id.value & 0xffff) * 64 +
                               static_cast<std::int32_t>(std::min(lane, 63u)));
      descriptor.add_enum(pb::TrackDescriptor::sibling_merge_behavior, pb::merge_by_sibling_merge_key);
      descriptor.add_string(pb::TrackDescriptor::sibling_merge_key, fmt::format("track {}", id.value));
    });
  }

  void annotate(EventBuilder& event, Annotation what, std::int64_t value) {
    pbf_builder<pb::DebugAnnotation> annotation(event, pb::TrackEvent::debug_annotations);
    annotation.add_uint64(pb::DebugAnnotation::name_iid, static_cast<std::uint64_t>(what) + 1);
    annotation.add_int64(pb::DebugAnnotation::int_value, value);
  }
  void annotate(EventBuilder& event, Annotation what, std::string_view value) {
    pbf_builder<pb::DebugAnnotation> annotation(event, pb::TrackEvent::debug_annotations);
    annotation.add_uint64(pb::DebugAnnotation::name_iid, static_cast<std::uint64_t>(what) + 1);
    annotation.add_string(pb::DebugAnnotation::string_value, utf8_text(value));
  }

  bool meets_window(const StepSpan& step) const {
    const TimeSpan window = run_.filter().window;
    return step.start < window.end && step.end > window.start;
  }

  // Steps lie on tracks of their own, above the rank's others.
  void step(const StepSpan& step) {
    const std::int64_t start = floor_ns(step.start), end = floor_ns(std::max(step.start, step.end));
    const std::uint32_t lane = step_places_.try_emplace(step.rank, false).first->second.place(start, end).lane;
    const std::uint64_t uuid = stable_uuid(fmt::format("rank {} steps lane {}", step.rank, lane));
    if (step_tracks_.insert(uuid).second)
      out_.packet(std::nullopt, [&](PacketBuilder& to) {
        pbf_builder<pb::TrackDescriptor> descriptor(to, pb::Packet::track_descriptor);
        descriptor.add_uint64(pb::TrackDescriptor::uuid, uuid);
        descriptor.add_string(pb::TrackDescriptor::name, "steps");
        descriptor.add_uint64(pb::TrackDescriptor::parent, process_uuid(step.rank));
        descriptor.add_int32(pb::TrackDescriptor::sibling_order_rank, -1);
        descriptor.add_enum(pb::TrackDescriptor::sibling_merge_behavior, pb::merge_by_sibling_merge_key);
        descriptor.add_string(pb::TrackDescriptor::sibling_merge_key, "steps");
      });
    packet_at(start, [&](PacketBuilder& to) {
      EventBuilder event(to, pb::Packet::track_event);
      event.add_enum(pb::TrackEvent::type, static_cast<int>(pb::EventType::begin));
      event.add_uint64(pb::TrackEvent::track, uuid);
      event.add_string(pb::TrackEvent::name,
                       step.label.empty() ? fmt::format("step {}", step.step) : utf8_text(step.label));
      event.add_uint64(pb::TrackEvent::category_iids, step_category_iid);
      annotate(event, Step, step.step);
      annotate(event, Label, step.label);
      annotate(event, Phase, name_of(step.phase));
    });
    packet_at(end, [&](PacketBuilder& to) {
      EventBuilder event(to, pb::Packet::track_event);
      event.add_enum(pb::TrackEvent::type, static_cast<int>(pb::EventType::end));
      event.add_uint64(pb::TrackEvent::track, uuid);
    });
  }

  // What is known of a collective; `put` writes a number or a text.
  template <class Put>
  void collective_details(const CollectiveDetail& detail, Put put) const {
    const Timeline& head = run_.head();
    put(Annotation::Communicator, head.text(detail.communicator));
    put(Annotation::Sequence, detail.sequence);
    put(Annotation::Op, head.text(detail.op));
    if (detail.dtype) put(Annotation::Dtype, head.text(detail.dtype));
    if (detail.count) put(Annotation::Count, *detail.count);
    if (detail.bytes) put(Annotation::Bytes, *detail.bytes);
    if (detail.ranks != 0) put(Annotation::Ranks, std::int64_t{detail.ranks});
    put(Annotation::MatchedBy, name_of(detail.matched_by));
  }

  void details(EventBuilder& event, const SliceRow& row, const Track& track) {
    if (row.slice.command) annotate(event, Command, run_.head().command(row.slice.command).key);
    if (row.slice.step) annotate(event, Step, row.slice.step.value);
    if (track.stream) annotate(event, Stream, *track.stream);
    if (track.device) annotate(event, Device, *track.device);
    if (row.kernel && row.kernel->grid) annotate(event, Grid, fmt::format("{}", fmt::join(*row.kernel->grid, " x ")));
    if (row.kernel && row.kernel->block)
      annotate(event, Block, fmt::format("{}", fmt::join(*row.kernel->block, " x ")));
    if (row.copy && row.copy->bytes) annotate(event, Bytes, *row.copy->bytes);
    if (row.collective)
      collective_details(*row.collective, [&](Annotation what, const auto& value) { annotate(event, what, value); });
    // What nanoseconds do not show.
    if (row.slice.duration.count() % 1000 != 0) annotate(event, DurationPs, row.slice.duration.count());
  }

  void slice(const SliceRow& row) {
    const Track& track = run_.track(row.slice);
    const bool stream = track.kind != TrackKind::Host && track.kind != TrackKind::Range;
    if (row.slice.track != current_) {
      current_ = row.slice.track;
      places_ = Lanes(!stream);
    }
    const std::int64_t start = floor_ns(row.slice.start), end = floor_ns(row.slice.end());
    if (stream && gpu_stages_) return stage(row, track, start, end);
    const std::uint64_t uuid = lane_uuid(row.slice.track, places_.place(start, end).lane);
    const std::uint64_t name = name_iid(row.slice.name);
    packet_at(start, [&](PacketBuilder& to) {
      EventBuilder event(to, pb::Packet::track_event);
      event.add_enum(pb::TrackEvent::type, static_cast<int>(pb::EventType::begin));
      event.add_uint64(pb::TrackEvent::track, uuid);
      event.add_uint64(pb::TrackEvent::name_iid, name);
      event.add_uint64(pb::TrackEvent::category_iids, static_cast<std::uint64_t>(row.slice.family) + 1);
      details(event, row, track);
      if (!gpu_stages_) {
        for (const SliceFlow& flow : flows_.from(row.id))
          event.add_fixed64(pb::TrackEvent::flow_ids, flows_.number(flow) + std::uint64_t{1});
        for (const std::uint32_t flow : flows_.to(row.id))
          event.add_fixed64(pb::TrackEvent::terminating_flow_ids, flow + std::uint64_t{1});
      }
      if (const auto correlation = row.correlation(); correlation && *correlation > 0)
        event.add_uint64(pb::TrackEvent::correlation_id, static_cast<std::uint64_t>(*correlation));
    });
    packet_at(end, [&](PacketBuilder& to) {
      EventBuilder event(to, pb::Packet::track_event);
      event.add_enum(pb::TrackEvent::type, static_cast<int>(pb::EventType::end));
      event.add_uint64(pb::TrackEvent::track, uuid);
    });
  }

  static void dims3(pbf_builder<pb::Launch>& launch, pb::Launch field, const LaunchDims& dims) {
    pbf_builder<pb::Dim3> out(launch, field);
    out.add_uint32(pb::Dim3::x, dims[0]);
    out.add_uint32(pb::Dim3::y, dims[1]);
    out.add_uint32(pb::Dim3::z, dims[2]);
  }

  static void extra(pbf_builder<pb::RenderStage>& event, Annotation what, std::string_view value) {
    pbf_builder<pb::ExtraData> extra(event, pb::RenderStage::extra_data);
    extra.add_string(pb::ExtraData::name, std::string(annotation_names[static_cast<std::size_t>(what)]));
    extra.add_string(pb::ExtraData::value, utf8_text(value));
  }

  static void extra(pbf_builder<pb::RenderStage>& event, Annotation what, std::int64_t value) {
    extra(event, what, std::to_string(value));
  }

  void stage(const SliceRow& row, const Track& track, std::int64_t start, std::int64_t end) {
    // Queues and stages share one table; queues come first there.
    const std::uint64_t queue = row.slice.track.value + std::uint64_t{1};
    const std::uint64_t stage_iid = run_.head().tracks().size() + row.slice.name.value + std::uint64_t{1};
    using pb::Specification;
    for (const auto& [iid, name, compute] :
         {std::tuple{queue, std::string_view(track.name), false}, std::tuple{stage_iid, row.name, true}}) {
      if (specified_.size() <= iid) specified_.resize(iid + 1);
      if (specified_[iid]) continue;
      specified_[iid] = true;
      out_.intern_entry<Specification>(pb::InternedData::gpu_specifications,
                                       [&, iid = iid, name = name, compute = compute](auto& entry) {
                                         entry.add_uint64(Specification::iid, iid);
                                         entry.add_string(Specification::name, utf8_text(name));
                                         if (compute) entry.add_enum(Specification::category, pb::category_compute);
                                       });
    }
    const std::uint64_t name = name_iid(row.slice.name);
    packet_at(start, [&](PacketBuilder& to) {
      pbf_builder<pb::RenderStage> event(to, pb::Packet::gpu_render_stage_event);
      event.add_uint64(pb::RenderStage::event_id, row.id.value);
      event.add_uint64(pb::RenderStage::duration, static_cast<std::uint64_t>(end - start));
      event.add_uint64(pb::RenderStage::context, track.rank + std::uint64_t{1});
      event.add_int32(pb::RenderStage::gpu, static_cast<std::int32_t>(track.device.value_or(track.rank)));
      event.add_uint64(pb::RenderStage::queue_iid, queue);
      event.add_uint64(pb::RenderStage::stage_iid, stage_iid);
      event.add_uint64(pb::RenderStage::name_iid, name);
      for (const std::uint32_t at : flows_.to(row.id)) {
        if (flows_.flow(at).kind == FlowKind::Launch || flows_.flow(at).kind == FlowKind::Host) continue;
        event.add_uint64(pb::RenderStage::event_wait_ids, flows_.flow(at).from.value);
        ++waits_;
      }
      if (row.slice.command) extra(event, Command, run_.head().command(row.slice.command).key);
      extra(event, Annotation::Family, name_of(row.slice.family));
      if (row.slice.step) extra(event, Step, std::int64_t{row.slice.step.value});
      if (track.stream) extra(event, Stream, *track.stream);
      if (row.copy && row.copy->bytes) extra(event, Bytes, *row.copy->bytes);
      if (row.collective)
        collective_details(*row.collective, [&](Annotation what, const auto& value) { extra(event, what, value); });
      if (row.kernel && row.kernel->grid && row.kernel->block) {
        pbf_builder<pb::Launch> launch(event, pb::RenderStage::launch);
        dims3(launch, pb::Launch::grid, *row.kernel->grid);
        dims3(launch, pb::Launch::workgroup, *row.kernel->block);
      }
    });
  }

  void counter(const CounterSample& sample) {
    const std::uint64_t uuid = stable_uuid(fmt::format("counter {}", sample.track.value));
    if (counters_.size() <= sample.track.value) counters_.resize(sample.track.value + 1);
    if (!counters_[sample.track.value]) describe(sample.track, uuid, 0);
    counters_[sample.track.value] = true;
    packet_at(floor_ns(sample.time), [&](PacketBuilder& to) {
      EventBuilder event(to, pb::Packet::track_event);
      event.add_enum(pb::TrackEvent::type, static_cast<int>(pb::EventType::counter));
      event.add_uint64(pb::TrackEvent::track, uuid);
      event.add_double(pb::TrackEvent::double_counter_value, sample.value);
    });
  }

  RunCursor& run_;
  PerfettoOutput out_;
  bool gpu_stages_;
  RunFlows flows_;
  std::int64_t shift_;
  std::vector<bool> names_, specified_, counters_;  // what was sent, by id
  TrackId current_{}, described_{};
  std::uint32_t lanes_described_ = 0;
  Lanes places_{false};
  std::map<std::uint32_t, Lanes> step_places_;  // by rank
  std::set<std::uint64_t> step_tracks_;         // that were described
  std::int64_t waits_ = 0;
};

Result<ExportReport> write_perfetto(RunCursor& run, const ExportOptions& options, const std::string& path,
                                    bool gpu_stages, Progress* progress) {
  ExportReport report;
  TRY(const RunCursor::Extent extent, run.extent());
  // Timestamps have no sign.
  if (extent.slices > 0) report.shift_ns = std::max<std::int64_t>(0, -floor_ns(extent.span.start));
  for (const StepSpan& step : run.head().steps()) report.shift_ns = std::max(report.shift_ns, -floor_ns(step.start));
  TRY_VOID(run.counters([&](const CounterSample& sample) -> Result<void> {
    report.shift_ns = std::max(report.shift_ns, -floor_ns(sample.time));
    return {};
  }));
  TRY(RunFlows flows, run.flows());
  TRY(OutputFile out, OutputFile::create(path));
  PerfettoWriter writer(run, out, gpu_stages, std::move(flows), report.shift_ns);
  TRY_VOID(writer.write(options, report, progress));
  TRY_VOID(out.close());
  return report;
}

}  // namespace

Result<ExportReport> export_perfetto(RunCursor& run, const ExportOptions& options, const std::string& path,
                                     Progress* progress) {
  return write_perfetto(run, options, path, false, progress);
}

Result<ExportReport> export_perfetto_gpu(RunCursor& run, const ExportOptions& options, const std::string& path,
                                         Progress* progress) {
  return write_perfetto(run, options, path, true, progress);
}

}  // namespace stave
