// Small timelines of two ranks, with waits and flows as a damaged file could have them, too.
#pragma once

#include <rapidcheck.h>

#include <string>
#include <utility>
#include <vector>

#include "analysis/report.h"
#include "tests/analysis/hand_made.h"

namespace stave {

inline constexpr std::int64_t end_of_time = 60;

inline Timeline random_timeline() {
  HandMade made;
  std::vector<TrackId> tracks;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    tracks.push_back(made.stream(rank, "main"));
    tracks.push_back(made.stream(rank, "side"));
    tracks.push_back(made.host(rank));
  }
  std::vector<TimelineCommandId> commands;
  if (*rc::gen::arbitrary<bool>())
    for (const std::string_view key : {"f/gemm#1", "f/gemm#2", "f/copy#1"})
      commands.push_back(made.timeline.add(TimelineCommand{.key = std::string(key)}));
  std::vector<SliceId> slices;
  const auto count = *rc::gen::inRange<std::size_t>(0, 16);
  while (slices.size() < count) {
    const auto begin = *rc::gen::inRange<std::int64_t>(-5, end_of_time);
    const auto length = *rc::gen::inRange<std::int64_t>(0, 20);
    const auto family =
        *rc::gen::element(Family::Gemm, Family::Compute, Family::Memory, Family::Collective, Family::Idle);
    const auto name = *rc::gen::element<std::string>("work", "more", "other");
    slices.push_back(
        made.timeline.add(Slice{.start = Time{begin},
                                .duration = Picoseconds{length},
                                .track = *rc::gen::elementOf(tracks),
                                .name = made.timeline.intern(name),
                                .command = commands.empty() ? TimelineCommandId{} : *rc::gen::elementOf(commands),
                                .step = *rc::gen::element(StepNumber{}, StepNumber{0}, StepNumber{1}, StepNumber{2}),
                                .occurrence = *rc::gen::inRange<std::uint32_t>(0, 2),
                                .family = family,
                                .flags = *rc::gen::element<std::uint8_t>(0, slice_flags::guessed_command)}));
    if (family != Family::Collective) continue;
    // Also more wait than the slice is long, as a damaged file could say.
    made.part(slices.back(), "residence_wait", *rc::gen::inRange<std::int64_t>(0, 12));
    made.part(slices.back(), "arrival_wait", *rc::gen::inRange<std::int64_t>(0, 12));
  }
  if (slices.empty()) return std::move(made.timeline);
  const auto flows = *rc::gen::inRange(0, 20);
  for (int i = 0; i < flows; ++i)
    made.flow(*rc::gen::elementOf(slices), *rc::gen::elementOf(slices),
              *rc::gen::element(FlowKind::Launch, FlowKind::Stream, FlowKind::Event, FlowKind::Host,
                                FlowKind::Collective, FlowKind::Graph, FlowKind::Buffer, FlowKind::Room));
  return std::move(made.timeline);
}

// The same program another time: some slices take longer or shorter, or are others.
inline Timeline changed(const Timeline& from) {
  Timeline out;
  for (std::size_t i = 0; i < from.names().size(); ++i) out.intern(from.names()[StringId{i}]);
  for (const Track& track : from.tracks()) out.add(track);
  for (const TimelineCommand& command : from.commands()) out.add(command);
  for (Slice slice : from.slices()) {
    const auto what = *rc::gen::inRange(0, 6);
    if (what == 1) slice.duration += Picoseconds{*rc::gen::inRange<std::int64_t>(0, 9)};
    if (what == 2) slice.start += Picoseconds{*rc::gen::inRange<std::int64_t>(0, 9)};
    if (what == 3) slice.name = out.intern("new");
    out.add(slice);
  }
  for (const SliceFlow& flow : from.flows()) out.add(flow);
  for (const CostPart& part : from.costs()) out.add(part);
  return out;
}

inline Interval random_window() {
  const auto begin = *rc::gen::inRange<std::int64_t>(0, end_of_time);
  return {Time{begin}, Time{begin + *rc::gen::inRange<std::int64_t>(1, end_of_time)}};
}

// Two stretches of time, or of the steps 1 and 1 or 2.
inline std::pair<Window, Window> random_windows() {
  const bool steps = *rc::gen::arbitrary<bool>();
  const auto window = [&](std::string step) {
    return steps ? Window{"step", std::move(step), random_window()} : Window{"time", "", random_window()};
  };
  return {window("1"), window(*rc::gen::element<std::string>("1", "2"))};
}

}  // namespace stave
