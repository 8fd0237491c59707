// Device work of a Kineto trace, and the waits for it.
#include <fmt/format.h>

#include <algorithm>

#include "profiles/import/collective_rows.h"
#include "profiles/import/kineto_rows.h"

namespace stave {
namespace {

constexpr std::int64_t no_stream = -1;

}  // namespace

StreamKey KinetoRows::stream_of(const TraceEvent& event) const {
  auto device = integer(event.argument("device"));
  if (!device) device = trailing_number(event.pid);
  auto number = integer(event.argument("stream"));
  if (!number) number = trailing_number(event.tid);
  return {.rank = rank_, .device = device.value_or(0), .stream = number.value_or(no_stream)};
}

void KinetoRows::gpu_work(const TraceEvent& event, KinetoKind kind, Slice slice) {
  const std::string_view name = plain_text(event.name, event.odd, storage_);
  const bool kernel = kind == KinetoKind::Kernel;
  slice.family = kernel ? kernel_family(name) : Family::Memory;
  if (slice.duration.count() == 0 && (slice.flags & slice_flags::clamped) == 0)
    count(problem_kinds::zero_duration, event);
  streams_.place(stream_of(event), integer(event.argument("context")), slice, kernel, rows_);

  const std::optional<std::int64_t> correlation = integer(event.argument("correlation"));
  const std::optional<LaunchTable::Launch> launch = probe_.launches.find(correlation);
  if (!launch) {
    slice.flags |= slice_flags::orphan;
    ++report_.orphans;
    count(problem_kinds::orphan, event);
  } else if (launch->start + shift_ > slice.start) {
    count(problem_kinds::before_launch, event);
  }
  slice.step = probe_.step_at(launch ? launch->start : slice.start - shift_);
  const SliceId id = add(event, slice);
  if (launch) {
    if (const SliceId call = probe_.launches.slice(*launch))
      rows_.add(SliceFlow{call, id, FlowKind::Launch, Certainty::Recorded});
    else
      pending_.push_back({*correlation, id});
    if (pending_.size() >= most_pending_) join_pending();
    probe_.host_waits.offer(id, launch->start, slice.start - shift_, slice.end() - shift_);
    if (kind == KinetoKind::Copy) {
      std::vector<SliceFlow> found;
      const bool pageable = name.find("-> Pageable") != std::string_view::npos;
      copy_waits_.copy(*correlation, id, slice.start, slice.end(), pageable, found);
      inferred(found);
    }
    if (probe_.sync_events > 0) issued_.push_back({slice.track, id, slice.start, slice.end(), launch->start});
  }
  if (!kernel) {
    ++report_.copies;
    CopyDetail copy{.slice = id, .memset = kind == KinetoKind::Memset, .correlation = correlation};
    copy.graph_node = integer(event.argument("graph node id"));
    copy.bytes = integer(event.argument("bytes"));
    if (!copy.memset) fill_copy_kinds(name, copy);
    rows_.add(copy);
    return;
  }
  ++report_.kernels;
  KernelDetail detail{.slice = id, .correlation = correlation};
  detail.graph = integer(event.argument("graph id"));
  detail.graph_node = integer(event.argument("graph node id"));
  detail.grid = launch_dims(event.argument("grid"));
  detail.block = launch_dims(event.argument("block"));
  detail.registers_per_thread = small_integer(event.argument("registers per thread"));
  rows_.add(detail);
  if (slice.family == Family::Collective) collective(event, name, id, slice.start);
}

void KinetoRows::collective(const TraceEvent& event, std::string_view name, SliceId slice, Time start) {
  const std::optional<CollectiveArguments> said = collective_arguments(event, name);
  const WideTime own_start = WideTime{(start - shift_).count()} + probe_.start;
  std::optional<CollectiveDetail> detail = collective_row(clock_, own_start, said, rows_);
  if (!detail) return;
  detail->slice = slice;
  rows_.add(*detail);
}

// A wait is a record of its own beside the call; it must not count as work of
// the stream, so it gets a host's track.
void KinetoRows::sync(const TraceEvent& event, Slice slice) {
  slice.track = stream_side_track(event, TrackKind::Host, "waits");
  slice.family = Family::Stream;
  add(event, slice);
  if (probe_.sync_events == 0 || event.category.text != kineto_category(KinetoKind::Sync)) return;
  const auto number = [&](std::string_view key) { return integer(event.argument(key)).value_or(-1); };
  const std::int64_t device = integer(event.argument("device")).value_or(0);
  const std::string_view what = event.name.text;
  RawWait wait{
      .record = number("wait_on_cuda_event_record_corr_id"), .call = number("correlation"), .end = slice.end()};
  wait.recorded_on = {.rank = rank_, .device = device, .stream = number("wait_on_stream")};
  wait.waiting = {.rank = rank_, .device = device, .stream = number("stream")};
  wait.stream_waits = what == "Stream Wait Event";
  if (what == "Stream Sync") {
    wait.recorded_on = wait.waiting;
    wait.record = wait.call;
  } else if (what != "Stream Wait Event" && what != "Event Sync") {
    return;
  }
  if (wait.record > 0 && wait.recorded_on.stream >= 0) waits_.push_back(wait);
}

TrackId KinetoRows::stream_side_track(const TraceEvent& event, TrackKind kind, std::string_view suffix) {
  const std::string pid(event.pid.text), tid(event.tid.text);
  const auto [at, added] = tracks_.try_emplace({pid, tid, kind, std::string(suffix)});
  if (added) {
    auto device = integer(event.argument("device"));
    if (!device) device = trailing_number(event.pid);
    // Newer recorders put waits beside the stream, at 1,000,000 more.
    auto number = trailing_number(event.tid);
    if (const auto said = integer(event.argument("stream"))) number = said;
    const bool all = !number || *number < 0;
    at->second = rows_.add(Track{.rank = rank_,
                                 .kind = kind,
                                 .name = all ? fmt::format("GPU {} {}", device.value_or(0), suffix)
                                             : fmt::format("GPU {} stream {} {}", device.value_or(0), *number, suffix),
                                 .device = device,
                                 .stream = all ? std::nullopt : number});
  }
  return at->second;
}

// Most calls stand near their work in the text: what waits stays little.
void KinetoRows::join_pending() {
  std::erase_if(pending_, [&](const Pending& pending) {
    const std::optional<LaunchTable::Launch> launch = probe_.launches.find(pending.correlation);
    const SliceId call = launch ? probe_.launches.slice(*launch) : SliceId{};
    if (call) rows_.add(SliceFlow{call, pending.slice, FlowKind::Launch, Certainty::Recorded});
    return static_cast<bool>(call);
  });
  most_pending_ = std::max(first_most_pending, 2 * pending_.size());
}

void KinetoRows::edges() {
  std::vector<IssuedWait> waits;
  for (const RawWait& raw : waits_) {
    const TrackId on = streams_.find(raw.recorded_on);
    const std::optional<LaunchTable::Launch> record = probe_.launches.find(raw.record);
    const std::optional<LaunchTable::Launch> call = probe_.launches.find(raw.call);
    if (!on || !record || !call) continue;
    IssuedWait wait{.recorded_on = on,
                    .recorded = record->start,
                    .waited = call->start,
                    .call = probe_.launches.slice(*call),
                    .call_end = raw.end};
    if (raw.stream_waits) {
      wait.waiting = streams_.find(raw.waiting);
      if (!wait.waiting) continue;
    }
    waits.push_back(wait);
  }
  const EventFlows found = event_flows(issued_, waits);
  inferred(found.flows);
  std::vector<SliceFlow> waited;
  probe_.host_waits.flows(waited);
  inferred(waited);
  count_contradicted(found, probe_.display, problems_);
}

}  // namespace stave
