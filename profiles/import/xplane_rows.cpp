#include "profiles/import/xplane_rows.h"

#include <fmt/format.h>

#include "profiles/import/args_text.h"
#include "profiles/import/collective_rows.h"
#include "profiles/import/copy_kinds.h"
#include "profiles/import/kineto_kinds.h"

namespace stave {
namespace {

using PlaceKind = XplanePlace::Kind;

// The value behind "key:" among words that spaces separate.
std::string_view word(std::string_view text, std::string_view key) {
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '\n';
    const std::string_view behind = text.substr(at + key.size());
    if (!begins || !behind.starts_with(':')) continue;
    return behind.substr(1, behind.find_first_of(" \n", 1) - 1);
  }
  return {};
}

std::optional<std::uint32_t> small_word(std::string_view text, std::string_view key, std::int64_t most) {
  const auto n = leading_number(word(text, key));
  return n && *n <= most ? std::optional(static_cast<std::uint32_t>(*n)) : std::nullopt;
}

bool calls_api(std::string_view name) {
  return name.starts_with("cu") || name.starts_with("hip") || name.starts_with("nccl");
}

bool is_copy(const XplaneEvent& event) {
  return event.name.starts_with("Memcpy") || !event.stat("memcpy_details").empty();
}
bool is_memset(const XplaneEvent& event) {
  return event.name.starts_with("Memset") || !event.stat("memset_details").empty();
}

}  // namespace

XplaneRows::XplaneRows(XplaneProbe& probe, std::span<const ImportRank> ranks, const ImportOptions& options,
                       RowBatches& rows, ProblemCounts& problems, ImportReport& report)
    : probe_(probe), ranks_(ranks), options_(options), rows_(rows), problems_(problems), report_(report) {}

void XplaneRows::count(const ProblemKind& kind, const XplaneEvent& event) {
  problems_.count(kind, {.file = probe_.display, .byte = event.byte});
}

SliceId XplaneRows::add(const XplaneEvent& event, const Slice& slice) {
  const SliceId id = rows_.add(slice);
  if (!options_.args || event.stats.empty()) return id;
  ArgsText args;
  for (const auto& [name, value] : event.stats) args.add_json(name, value);
  rows_.add(ArgsDetail{id, args.take()});
  return id;
}

// Lines of equal ids are one timeline.
TrackId XplaneRows::track(const XplaneEvent& event, TrackKind kind) {
  const XplaneLine& line = probe_.planes[event.plane].lines[event.line];
  const auto [at, added] = tracks_.try_emplace({event.plane, line.id, line.name, kind});
  if (added) {
    const XplanePlace& place = probe_.place(event);
    const bool device = place.kind != PlaceKind::Thread;
    std::string name = line.name.empty() ? fmt::format("line {}", line.id) : line.name;
    if (device) name = fmt::format("GPU {} {}", place.device, name);
    at->second = rows_.add(Track{.rank = ranks_[place.rank].info.rank,
                                 .kind = kind,
                                 .name = std::move(name),
                                 .device = device ? std::optional(place.device) : std::nullopt,
                                 .thread = device ? std::nullopt : std::optional(line.id)});
  }
  return at->second;
}

void XplaneRows::take(const XplaneEvent& event) {
  const XplanePlace& place = probe_.place(event);
  const ImportRank& rank = ranks_[place.rank];
  const std::optional<Time> time = since(probe_.start, event.start);
  if (!time) return count(problem_kinds::no_time, event);
  Slice slice{.start = *time + rank.shift};
  if (const auto duration = lasting(event.duration_ps)) {
    slice.duration = *duration;
  } else {
    count(problem_kinds::negative_duration, event);
    slice.flags |= slice_flags::clamped;
  }
  slice.name = rows_.name(event.name.empty() ? "unnamed" : event.name);
  slice.step = step_at(rank.steps, *time);
  switch (place.kind) {
    case PlaceKind::Stream: return gpu_work(event, place, slice);
    case PlaceKind::Thread: return thread_work(event, place, slice);
    case PlaceKind::Steps:
    case PlaceKind::Range:
      slice.family = Family::Mark;
      slice.track = track(event, TrackKind::Range);
      add(event, slice);
  }
}

void XplaneRows::gpu_work(const XplaneEvent& event, const XplanePlace& place, Slice slice) {
  const bool memset = is_memset(event);
  const bool kernel = !memset && !is_copy(event);
  slice.family = kernel ? kernel_family(event.name) : Family::Memory;
  if (event.duration_ps == 0) count(problem_kinds::zero_duration, event);
  const ImportRank& rank = ranks_[place.rank];
  streams_.place({.rank = rank.info.rank, .device = place.device, .stream = place.stream}, {}, slice, kernel, rows_);
  const std::optional<std::int64_t> correlation = event.number("correlation_id");
  const std::optional<LaunchTable::Launch> launch = probe_.launches.find(correlation);
  if (!launch) {
    slice.flags |= slice_flags::orphan;
    ++report_.orphans;
    count(problem_kinds::orphan, event);
  } else {
    if (launch->start + rank.shift > slice.start) count(problem_kinds::before_launch, event);
    if (!probe_.device_steps[place.rank]) slice.step = step_at(rank.steps, launch->start);
  }
  const SliceId id = add(event, slice);
  if (launch) {
    if (const SliceId call = probe_.launches.slice(*launch))
      rows_.add(SliceFlow{call, id, FlowKind::Launch, Certainty::Recorded});
    else
      pending_.push_back({*correlation, id});
  }
  if (!kernel) {
    ++report_.copies;
    CopyDetail copy{.slice = id, .memset = memset, .correlation = correlation};
    const std::string_view details = event.text(memset ? "memset_details" : "memcpy_details");
    copy.bytes = leading_number(word(details, memset ? "num_bytes" : "size"));
    // XLA writes MemcpyH2D for HtoD.
    for (std::uint32_t kind = 1; kind < std::size(copy_kinds); ++kind)
      if (event.name == fmt::format("Memcpy{}2{}", copy_kinds[kind].front(), copy_kinds[kind].back()))
        copy.copy_kind = kind;
    rows_.add(copy);
    return;
  }
  ++report_.kernels;
  KernelDetail detail{.slice = id, .correlation = correlation};
  const std::string_view details = event.text("kernel_details");
  detail.grid = launch_dims({JsonValue::Kind::String, false, word(details, "grid")});
  detail.block = launch_dims({JsonValue::Kind::String, false, word(details, "block")});
  // Larger ones were seen that are not initialised.
  detail.registers_per_thread = small_word(details, "regs", 1024);
  detail.static_shared_bytes = small_word(details, "static_shared", 1 << 20);
  detail.dynamic_shared_bytes = small_word(details, "dynamic_shared", 1 << 20);
  detail.graph = event.number("cuda_graph_id");
  rows_.add(detail);
  if (slice.family != Family::Collective) return;
  std::optional<CollectiveDetail> row = collective_row(rank.clock, event.start, std::nullopt, rows_);
  if (!row) return;
  row->slice = id;
  rows_.add(*row);
}

void XplaneRows::thread_work(const XplaneEvent& event, const XplanePlace& place, Slice slice) {
  const std::optional<std::int64_t> correlation = event.number("correlation_id");
  const bool call = correlation.has_value() && calls_api(event.name);
  slice.family = call ? Family::HostApi : event.stat("step_num").empty() ? Family::Host : Family::Mark;
  slice.track = track(event, slice.family == Family::Mark ? TrackKind::Range : TrackKind::Host);
  const SliceId id = add(event, slice);
  if (call) {
    ++report_.calls;
    rows_.add(ApiDetail{.slice = id, .correlation = correlation});
  }
  if (!correlation) return;
  const std::optional<LaunchTable::Launch> launch = probe_.launches.find(*correlation);
  if (launch && launch->start + ranks_[place.rank].shift == slice.start) probe_.launches.set_slice(*launch, id);
}

void XplaneRows::finish() {
  for (const Pending& pending : pending_) {
    const std::optional<LaunchTable::Launch> launch = probe_.launches.find(pending.correlation);
    const SliceId call = launch ? probe_.launches.slice(*launch) : SliceId{};
    if (call) rows_.add(SliceFlow{call, pending.slice, FlowKind::Launch, Certainty::Recorded});
  }
  const ProblemCounts::At file{.file = probe_.display};
  if (probe_.shared_correlations > 0)
    problems_.count(problem_kinds::shared_correlation, file, probe_.shared_correlations);
  streams_.finish(probe_.display, problems_, report_);
  if (report_.kernels == 0) problems_.count(problem_kinds::no_kernels, file);
}

}  // namespace stave
