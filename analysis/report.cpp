#include "analysis/report.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stave {
namespace {

bool in_window(const Slice& slice, Interval span) { return slice.end() > span.begin && slice.start < span.end; }

std::vector<StepTime> steps_of(const TimelineIndex& index, const Report& report) {
  struct Span {
    StepPhase phase;
    Interval span;
  };
  std::map<std::uint32_t, Span> spans;
  for (const StepSpan& step : index.timeline().steps()) {
    const auto [at, added] = spans.try_emplace(step.step, Span{step.phase, {step.start, step.end}});
    if (added) continue;
    at->second.span.begin = std::min(at->second.span.begin, step.start);
    at->second.span.end = std::max(at->second.span.end, step.end);
  }
  std::vector<StepTime> out;
  for (const auto& [step, at] : spans) {
    Picoseconds exposed{0};
    // A run of one step is its own window, as often as not.
    const std::vector<RankUse> ranks = at.span == report.window.span ? report.ranks : utilisation(index, at.span);
    for (const RankUse& use : ranks) exposed = std::max(exposed, use.exposed_communication);
    out.push_back({step, at.phase, at.span.length(), exposed});
  }
  return out;
}

std::vector<KernelReport> kernels_of(const Timeline& timeline, Interval span) {
  std::map<std::pair<StringId, Family>, std::vector<Picoseconds>> durations;
  Picoseconds all{0};
  for (const Slice& slice : timeline.slices()) {
    if (!is_device_track(timeline.track(slice.track)) || !in_window(slice, span)) continue;
    durations[{slice.name, slice.family}].push_back(slice.duration);
    all += slice.duration;
  }
  std::vector<KernelReport> out;
  for (auto& [key, values] : durations) {
    KernelReport kernel;
    kernel.name = timeline.text(key.first);
    kernel.family = key.second;
    kernel.calls = static_cast<std::int64_t>(values.size());
    for (const Picoseconds value : values) kernel.total += value;
    kernel.share_pct = percent(kernel.total, all).value_or(0);
    kernel.median = quantile(values, 0.5);
    kernel.p90 = quantile(std::move(values), 0.9);
    out.push_back(std::move(kernel));
  }
  std::sort(out.begin(), out.end(), [](const KernelReport& a, const KernelReport& b) {
    return a.total != b.total ? a.total > b.total : a.name < b.name;
  });
  return out;
}

std::vector<RangeReport> ranges_of(const TimelineIndex& index, Interval span) {
  const Timeline& timeline = index.timeline();
  std::map<std::string, RangeReport, std::less<>> by_name;
  for (const Slice& slice : timeline.slices()) {
    const Track& track = timeline.track(slice.track);
    if (track.kind != TrackKind::Range || !in_window(slice, span)) continue;
    RangeReport& range = by_name[std::string(timeline.text(slice.name))];
    range.name = timeline.text(slice.name);
    ++range.calls;
    for (const RankUse& use : utilisation(index, {slice.start, slice.end()})) {
      if (use.rank != track.rank) continue;
      range.gpu += use.busy;
      range.exposed_communication += use.exposed_communication;
    }
  }
  std::vector<RangeReport> out;
  for (auto& [name, range] : by_name) out.push_back(std::move(range));
  std::stable_sort(out.begin(), out.end(), [](const RangeReport& a, const RangeReport& b) { return a.gpu > b.gpu; });
  return out;
}

std::set<std::uint32_t> waits_unknown(const TimelineIndex& index, Interval span, RunKind kind) {
  std::set<std::uint32_t> ranks;
  const Timeline& timeline = index.timeline();
  // Collectives of a trace that were not joined with those of other ranks have no row.
  if (kind == RunKind::Imported) {
    for (std::uint32_t row = 0; row < timeline.slices().size(); ++row)
      if (const Slice& slice = timeline.slices()[row];
          slice.family == Family::Collective && is_device_track(timeline.track(slice.track)) &&
          in_window(slice, span) && timeline.collective(SliceId{row + 1}) == nullptr)
        ranks.insert(timeline.track(slice.track).rank);
  }
  for (const CollectiveDetail& row : timeline.collectives())
    if (const Slice& slice = timeline.slice(row.slice); in_window(slice, span) && !index.wait_is_known(row.slice))
      ranks.insert(timeline.track(slice.track).rank);
  return ranks;
}

std::vector<CollectiveReport> collectives_of(const TimelineIndex& index, Interval span) {
  const Timeline& timeline = index.timeline();
  struct Instance {
    CollectiveReport report;
    Time last_arrival{};
    std::uint32_t last_rank = 0;
    Time end{};
    Picoseconds wait{};
    bool wait_is_known = false;
    std::set<std::uint32_t> ranks{};
  };
  // A communicator counts anew in each step, so that the step is part of the key.
  std::map<std::tuple<std::string_view, std::uint32_t, std::int64_t>, Instance> instances;
  for (const CollectiveDetail& row : timeline.collectives()) {
    const Slice& slice = timeline.slice(row.slice);
    if (!in_window(slice, span)) continue;
    const auto key = std::tuple{timeline.text(row.communicator), slice.step.value, row.sequence};
    const auto [at, added] = instances.try_emplace(key);
    Instance& instance = at->second;
    CollectiveReport& report = instance.report;
    if (added) {
      report.communicator = timeline.text(row.communicator);
      report.sequence = row.sequence;
      report.op = timeline.text(row.op);
      report.bytes = row.bytes;
      if (row.ranks > 0) report.ranks = row.ranks;
      report.first_arrival = slice.start;
      report.matched_by = row.matched_by;
    }
    const std::uint32_t rank = timeline.track(slice.track).rank;
    report.first_arrival = std::min(report.first_arrival, slice.start);
    if (added || slice.start > instance.last_arrival) {
      instance.last_arrival = slice.start;
      instance.last_rank = rank;
    }
    instance.ranks.insert(rank);
    instance.end = std::max(instance.end, slice.end());
    instance.wait = std::max(instance.wait, index.waits(row.slice.row()).arrival);
    instance.wait_is_known = instance.wait_is_known || index.wait_is_known(row.slice);
  }
  std::vector<CollectiveReport> out;
  for (auto& [key, instance] : instances) {
    CollectiveReport& report = instance.report;
    const auto seen = static_cast<std::uint32_t>(instance.ranks.size());
    if (!report.ranks && seen > 1) report.ranks = seen;
    report.duration = instance.end - report.first_arrival;
    if (instance.wait_is_known || (report.ranks && seen >= *report.ranks)) {
      report.last_rank = instance.last_rank;
      report.arrival_wait = instance.wait_is_known ? instance.wait : instance.last_arrival - report.first_arrival;
      report.transfer = instance.end - instance.last_arrival;
    }
    if (report.bytes && report.transfer && report.transfer->count() > 0) {
      const double seconds = static_cast<double>(report.transfer->count()) * 1e-12;
      report.algorithm_bytes_per_s = static_cast<double>(*report.bytes) / seconds;
      if (report.ranks) report.bus_bytes_per_s = *report.algorithm_bytes_per_s * bus_factor(report.op, *report.ranks);
    }
    out.push_back(std::move(report));
  }
  return out;
}

std::vector<GraphReport> graphs_of(const Timeline& timeline, Interval span) {
  struct Launch {
    Interval span;
    std::int64_t nodes = 0;
  };
  // One launch has one correlation id.
  std::map<std::pair<std::int64_t, std::int64_t>, Launch> launches;
  for (const KernelDetail& kernel : timeline.kernels()) {
    const Slice& slice = timeline.slice(kernel.slice);
    if (!kernel.graph || !kernel.correlation || !in_window(slice, span)) continue;
    const auto [at, added] =
        launches.try_emplace({*kernel.graph, *kernel.correlation}, Launch{{slice.start, slice.end()}, 0});
    at->second.span.begin = std::min(at->second.span.begin, slice.start);
    at->second.span.end = std::max(at->second.span.end, slice.end());
    ++at->second.nodes;
  }
  if (launches.empty()) {
    // Edges lead from a launch to its first nodes, and from node to node.
    std::map<SliceId, SliceId> launch_of;
    std::map<std::pair<StringId, TimelineCommandId>, std::int64_t> numbers;
    for (const SliceFlow& flow : timeline.flows()) {
      if (flow.kind != FlowKind::Graph || !is_device_track(timeline.track(timeline.slice(flow.to).track))) continue;
      const auto before = launch_of.find(flow.from);
      const SliceId launch = before != launch_of.end() ? before->second : flow.from;
      const Slice &node = timeline.slice(flow.to), &call = timeline.slice(launch);
      if (!in_window(node, span) || !launch_of.emplace(flow.to, launch).second) continue;
      const auto number =
          numbers.emplace(std::pair{call.name, call.command}, static_cast<std::int64_t>(numbers.size()));
      const auto [at, added] =
          launches.try_emplace({number.first->second, launch.value}, Launch{{node.start, node.end()}, 0});
      at->second.span.begin = std::min(at->second.span.begin, node.start);
      at->second.span.end = std::max(at->second.span.end, node.end());
      ++at->second.nodes;
    }
  }
  std::map<std::int64_t, std::pair<GraphReport, std::vector<Picoseconds>>> graphs;
  for (const auto& [key, launch] : launches) {
    auto& [report, durations] = graphs[key.first];
    report.graph = key.first;
    ++report.launches;
    report.nodes = std::max(report.nodes, launch.nodes);
    durations.push_back(launch.span.length());
  }
  std::vector<GraphReport> out;
  for (auto& [graph, at] : graphs) {
    at.first.median = quantile(std::move(at.second), 0.5);
    out.push_back(at.first);
  }
  return out;
}

}  // namespace

double bus_factor(std::string_view op, std::uint32_t ranks) {
  if (ranks == 0) return 1;
  const double n = ranks;
  if (op == "all_reduce") return 2 * (n - 1) / n;
  if (op == "all_gather" || op == "reduce_scatter" || op == "all_to_all") return (n - 1) / n;
  return 1;
}

Picoseconds quantile(std::vector<Picoseconds> values, double fraction) {
  const auto n = static_cast<double>(values.size());
  const double position = std::max(std::ceil(fraction * n), 1.0) - 1;
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), nth, values.end());
  return *nth;
}

const RankUse* Report::worst() const {
  for (const RankUse& use : ranks)
    if (use.rank == worst_rank) return &use;
  return nullptr;
}

std::optional<Picoseconds> Report::arrival_wait(const RankUse& use) const {
  return waits_unknown.contains(use.rank) ? std::nullopt : std::optional(use.arrival_wait);
}

Report make_report(const TimelineIndex& index, Window window, RunKind kind) {
  const Timeline& timeline = index.timeline();
  Report report;
  const Interval span = window.span;
  report.window = std::move(window);
  report.makespan = span.length();
  report.ranks = utilisation(index, span);
  if (const RankUse* worst = worst_rank(report.ranks)) report.worst_rank = worst->rank;
  report.steps = steps_of(index, report);
  std::vector<Picoseconds> timed;
  for (const StepTime& step : report.steps)
    if (step.phase == StepPhase::Timed) timed.push_back(step.duration);
  if (!timed.empty()) {
    report.step_median = quantile(timed, 0.5);
    report.step_p90 = quantile(std::move(timed), 0.9);
  }
  report.kernels = kernels_of(timeline, span);
  report.ranges = ranges_of(index, span);
  report.collectives = collectives_of(index, span);
  report.waits_unknown = waits_unknown(index, span, kind);
  report.graphs = graphs_of(timeline, span);
  report.critical_path = critical_path(index, span, kind);
  for (const SliceFlow& flow : timeline.flows()) ++report.edges[static_cast<std::size_t>(flow.certainty)];
  return report;
}

}  // namespace stave
