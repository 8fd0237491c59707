#include "profiles/import/xplane_probe.h"

#include <algorithm>
#include <map>
#include <utility>

#include "profiles/import/kineto_kinds.h"
#include "profiles/import/kineto_probe.h"

namespace stave {
namespace {

using PlaceKind = XplanePlace::Kind;

constexpr std::size_t most_first_work = 4096;

// "/device:GPU:3" and "Stream #16(Kernel)".
std::optional<std::int64_t> device_of(std::string_view plane) {
  constexpr std::string_view prefix = "/device:";
  const std::size_t colon = plane.rfind(':');
  if (!plane.starts_with(prefix) || colon < prefix.size()) return std::nullopt;
  return leading_number(plane.substr(colon + 1));
}

std::optional<std::int64_t> stream_of(std::string_view line) {
  constexpr std::string_view prefix = "Stream #";
  return line.starts_with(prefix) ? leading_number(line.substr(prefix.size())) : std::nullopt;
}

// A step's number: of a device's line it is the name, of a host's event a stat.
std::optional<std::uint32_t> step_in(const XplaneEvent& event, PlaceKind kind) {
  const auto n = kind == PlaceKind::Steps ? leading_number(event.name) : event.number("step_num");
  return n && *n >= 0 && *n < StepNumber::none ? std::optional(static_cast<std::uint32_t>(*n)) : std::nullopt;
}

void find_places(XplaneProbe& probe) {
  for (const XplanePlane& plane : probe.planes) {
    std::vector<XplanePlace>& places = probe.places.emplace_back();
    const std::optional<std::int64_t> device = device_of(plane.name);
    const bool streams = std::any_of(plane.lines.begin(), plane.lines.end(),
                                     [](const XplaneLine& line) { return stream_of(line.name).has_value(); });
    bool any = false;
    for (const XplaneLine& line : plane.lines) {
      XplanePlace place{.rank = probe.ranks.size(), .device = device.value_or(0)};
      const std::optional<std::int64_t> stream = stream_of(line.name);
      if (device && (stream || (!streams && line.name == "XLA Ops"))) {
        place.kind = PlaceKind::Stream;
        place.stream = stream.value_or(0);
        any = true;
      } else if (device) {
        place.kind = line.name == "Steps" ? PlaceKind::Steps : PlaceKind::Range;
      }
      places.push_back(place);
    }
    if (!any) {
      for (XplanePlace& place : places) place.rank = 0;
      continue;
    }
    ImportRank& rank = probe.ranks.emplace_back();
    rank.info.device = device;
    for (const auto& [name, value] : plane.facts)
      if (name == "device_type_string" || name == "device_name" || (name == "device_vendor" && rank.info.gpu.empty()))
        rank.info.gpu = unescaped(std::string_view(value).substr(1, value.size() < 2 ? 0 : value.size() - 2));
  }
  if (probe.ranks.empty()) probe.ranks.emplace_back();
  for (ImportRank& rank : probe.ranks) {
    rank.hint.file = probe.ranks.size() == 1 ? probe.name : "";
    rank.info.source = probe.source;
  }
  probe.device_steps.resize(probe.ranks.size());
}

struct XplaneStep {
  std::size_t rank = 0;
  bool device = false;
  std::uint32_t step = 0;
  WideTime start = 0;
  WideTime end = 0;
};

}  // namespace

Result<void> probe_xplane(ByteSource& text, XplaneProbe& probe, Progress* progress,
                          const std::atomic<std::int64_t>* bytes_read) {
  find_places(probe);
  XplaneEvents events(text, probe.display, nullptr, probe.planes);
  TimeAge age;
  std::vector<XplaneStep> steps;
  LaunchGatherer launches;
  WideTime first_call = 0;
  bool any_call = false;
  // Whose a thread is: which devices' first work it launches. Devices stand before the host in a file.
  std::map<std::int64_t, std::size_t> first_work;  // rank, by correlation
  std::vector<std::size_t> works(probe.ranks.size());
  std::map<std::pair<std::size_t, std::size_t>, std::map<std::size_t, std::int64_t>> launched;  // line: rank: times
  Collectives collectives;
  std::vector<std::size_t> collective_ranks;  // beside their spans
  XplaneEvent event;
  const auto look = [&]() -> Result<void> {
    while (true) {
      TRY(const bool more, events.next(event));
      if (!more) return {};
      if (++probe.events % 4096 == 0) TRY_VOID(show_progress(progress, bytes_read));
      age.add(event.start);
      const XplanePlace& place = probe.place(event);
      const WideTime end = event.start + std::max<std::int64_t>(event.duration_ps, 0);
      if (place.kind == PlaceKind::Steps || place.kind == PlaceKind::Thread)
        if (const auto step = step_in(event, place.kind))
          steps.push_back({place.rank, place.kind == PlaceKind::Steps, *step, event.start, end});
      const std::optional<std::int64_t> correlation = event.number("correlation_id");
      if (place.kind == PlaceKind::Thread && correlation.value_or(0) != 0) {
        if (!std::exchange(any_call, true)) first_call = event.start;
        launches.call(*correlation, static_cast<std::int64_t>(
                                        std::clamp<WideTime>(event.start - first_call, -most_apart, most_apart)));
        const auto work = first_work.find(*correlation);
        if (work != first_work.end()) ++launched[{event.plane, event.line}][work->second];
      }
      if (place.kind != PlaceKind::Stream) continue;
      if (correlation.value_or(0) != 0) {
        launches.need(*correlation);
        if (works[place.rank]++ < most_first_work) first_work.emplace(*correlation, place.rank);
      }
      if (!names_collective(event.name)) continue;
      CollectiveSpan span;
      span.start = event.start;
      span.end = end;
      collectives.add("", collective_op(event.name), span);
      collective_ranks.push_back(place.rank);
    }
  };
  // Also of a damaged archive: what was read before it.
  Result<void> looked = look();
  probe.start = age.least();
  const WideTime apart = std::clamp<WideTime>(first_call - probe.start, -most_apart, most_apart);
  probe.launches = launches.finish(Time{static_cast<std::int64_t>(apart)}, probe.shared_correlations);
  for (const auto& [at, ranks] : launched) {
    const auto most =
        std::max_element(ranks.begin(), ranks.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    probe.places[at.first][at.second].rank = most->first;
  }
  for (const XplaneStep& step : steps)
    if (step.device) probe.device_steps[step.rank] = true;
  for (std::size_t i = 0; i < probe.ranks.size(); ++i) {
    ImportRank& rank = probe.ranks[i];
    rank.clock.start = probe.start;
    for (const XplaneStep& step : steps) {
      if (step.device != probe.device_steps[i] || (step.device && step.rank != i)) continue;
      const auto from = since(probe.start, step.start), to = since(probe.start, step.end);
      if (from && to) rank.steps.push_back({step.step, *from, *to});
    }
    merge_steps(rank.steps);
  }
  for (std::size_t i = 0; i < collective_ranks.size(); ++i) {
    CollectiveSpan& span = collectives.spans[i];
    ImportRank& rank = probe.ranks[collective_ranks[i]];
    const auto from = since(probe.start, span.start);
    if (!from) continue;
    span.step = step_at(rank.steps, *from).value;
    rank.clock.collectives.add("", collectives.texts[span.op], span);
  }
  return looked;
}

}  // namespace stave
