#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "analysis/compare.h"

namespace stave {
namespace {

std::optional<double> change_pct(Picoseconds a, Picoseconds b) {
  if (a.count() == 0) return std::nullopt;
  return 100.0 * static_cast<double>((b - a).count()) / static_cast<double>(a.count());
}

// The smallest value that at least `fraction` of the sorted values do not exceed.
double at_fraction(const std::vector<double>& sorted, double fraction) {
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

struct Sample {
  FamilyError out;
  std::vector<double> errors;

  void add(Picoseconds a, Picoseconds b) {
    ++out.n;
    out.a += a;
    out.b += b;
    if (const std::optional<double> error = change_pct(a, b)) errors.push_back(std::abs(*error));
  }
  FamilyError finish(std::string_view family) {
    out.family = family;
    out.bias_pct = change_pct(out.a, out.b);
    if (!errors.empty()) {
      std::sort(errors.begin(), errors.end());
      out.median_pct = at_fraction(errors, 0.5);
      out.p90_pct = at_fraction(errors, 0.9);
      out.worst_pct = errors.back();
    }
    return std::move(out);
  }
};

// CUPTI's numbers, CUpti_ActivityMemcpyKind.
std::string_view copy_kind_text(std::optional<std::uint32_t> kind) {
  static constexpr std::array<std::string_view, 11> texts = {
      "copy",           "host to device",  "device to host",  "host to array",    "array to host",
      "array to array", "array to device", "device to array", "device to device", "host to host",
      "peer to peer"};
  return kind && *kind < texts.size() ? texts[*kind] : texts[0];
}

std::string copy_link(const Timeline& timeline, const CopyDetail& copy, bool devices) {
  if (!devices) return copy.memset ? "memset" : std::string(copy_kind_text(copy.copy_kind));
  const Track& track = timeline.track(timeline.slice(copy.slice).track);
  const std::string here = track.device ? fmt::format("device {}", *track.device) : fmt::format("rank {}", track.rank);
  if (copy.memset) return "memset, " + here;
  if (copy.source_device && copy.destination_device && copy.source_device != copy.destination_device)
    return fmt::format("{}, {} to {}", copy_kind_text(copy.copy_kind), *copy.source_device, *copy.destination_device);
  return fmt::format("{}, {}", copy_kind_text(copy.copy_kind), here);
}

struct Traffic {
  std::optional<std::int64_t> bytes;
  std::vector<Interval> busy;

  void add(std::optional<std::int64_t> more) {
    if (more) bytes = bytes.value_or(0) + *more;
  }
};

// Without `devices`, the numbers of devices are not part of a link's name.
std::map<std::string, Traffic> traffic_of(const RunPart& part, bool devices) {
  const Timeline& timeline = part.index->timeline();
  const Interval window = part.window.span;
  std::map<std::string, Traffic> links;
  const auto within = [&](SliceId slice, Picoseconds wait) -> std::optional<Interval> {
    const Slice& s = timeline.slice(slice);
    if (s.start >= window.end || s.end() <= window.begin) return std::nullopt;
    return Interval{std::max(std::min(s.start + wait, s.end()), window.begin), std::min(s.end(), window.end)};
  };
  for (const CopyDetail& copy : timeline.copies()) {
    const std::optional<Interval> busy = within(copy.slice, Picoseconds{0});
    if (!busy || !is_device_track(timeline.track(timeline.slice(copy.slice).track))) continue;
    Traffic& link = links[copy_link(timeline, copy, devices)];
    link.busy.push_back(*busy);
    link.add(copy.bytes);
  }
  // All ranks of a collective say its bytes.
  std::map<std::tuple<StringId, std::uint32_t, std::int64_t>, std::int64_t> collectives;
  for (const CollectiveDetail& at : timeline.collectives()) {
    const std::optional<Interval> busy = within(at.slice, part.index->waits(at.slice.row()).sum());
    if (!busy) continue;
    Traffic& link = links["communicator " + std::string(timeline.text(at.communicator))];
    link.busy.push_back(*busy);
    if (!at.bytes) continue;
    std::int64_t& counted = collectives[{at.communicator, timeline.slice(at.slice).step.value, at.sequence}];
    if (*at.bytes > counted) link.add(*at.bytes - counted);
    counted = std::max(counted, *at.bytes);
  }
  return links;
}

}  // namespace

std::vector<FamilyError> family_errors(const RunPart& a, const RunPart& b, const Alignment& alignment) {
  std::array<Sample, family_count> families;
  Sample waits;
  for (const SlicePair& pair : alignment.matched) {
    const Slice &x = a.index->timeline().slice(pair.a), &y = b.index->timeline().slice(pair.b);
    const Picoseconds wait_a = std::min(a.index->waits(pair.a.row()).sum(), x.duration),
                      wait_b = std::min(b.index->waits(pair.b.row()).sum(), y.duration);
    families[static_cast<std::size_t>(x.family)].add(x.duration - wait_a, y.duration - wait_b);
    if (x.family == Family::Collective && a.index->wait_is_known(pair.a) && b.index->wait_is_known(pair.b))
      waits.add(wait_a, wait_b);
  }
  std::vector<FamilyError> out;
  for (std::size_t i = 0; i < families.size(); ++i)
    if (families[i].out.n > 0) out.push_back(families[i].finish(name_of(static_cast<Family>(i))));
  if (waits.out.n > 0) out.push_back(waits.finish("collective_wait"));
  return out;
}

std::vector<LinkUse> link_uses(const RunPart& a, const RunPart& b, const Alignment& alignment) {
  // Rank 3 of one run against rank 1 of the other: their devices have other numbers, too.
  const bool devices = !alignment.ranks_by_order;
  std::map<std::string, LinkUse> links;
  for (auto& [name, traffic] : traffic_of(a, devices)) {
    LinkUse& link = links[name];
    link.a_bytes = traffic.bytes;
    link.a_busy = length_of(union_of(std::move(traffic.busy)));
  }
  for (auto& [name, traffic] : traffic_of(b, devices)) {
    LinkUse& link = links[name];
    link.b_bytes = traffic.bytes;
    link.b_busy = length_of(union_of(std::move(traffic.busy)));
  }
  std::vector<LinkUse> out;
  for (auto& [name, link] : links) {
    link.link = name;
    out.push_back(std::move(link));
  }
  return out;
}

std::vector<SliceChange> changes_of(const Comparison& comparison) {
  // The last end before each slice on its track.
  const auto gaps_of = [](const RunPart& part) {
    const Timeline& timeline = part.index->timeline();
    std::vector<Picoseconds> gaps(timeline.slices().size());
    for (std::uint32_t track = 0; track < timeline.tracks().size(); ++track) {
      Time reach = part.window.span.begin;
      for (const std::uint32_t row : part.index->rows(TrackId{track})) {
        const Slice& slice = timeline.slices()[row];
        gaps[row] = std::max(Picoseconds{0}, slice.start - reach);
        reach = std::max(reach, slice.end());
      }
    }
    return gaps;
  };
  const std::vector<Picoseconds> gaps_a = gaps_of(comparison.a), gaps_b = gaps_of(comparison.b);
  const Time begin_a = comparison.a.window.span.begin, begin_b = comparison.b.window.span.begin;
  std::vector<SliceChange> out;
  out.reserve(comparison.alignment.matched.size());
  for (const SlicePair& pair : comparison.alignment.matched) {
    const Slice &x = comparison.timeline_a().slice(pair.a), &y = comparison.timeline_b().slice(pair.b);
    out.push_back({.slices = pair,
                   .a_start = x.start - begin_a,
                   .b_start = y.start - begin_b,
                   .a_duration = x.duration,
                   .b_duration = y.duration,
                   .a_gap = gaps_a[pair.a.row()],
                   .b_gap = gaps_b[pair.b.row()]});
  }
  return out;
}

}  // namespace stave
