#include "analysis/timeline_index.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace stave {
namespace {

bool is_library_name(std::string_view name) {
  return name.find("nccl") != std::string_view::npos || name.find("rccl") != std::string_view::npos;
}

// Positions of `items` by key below `keys`, stable, and where each key begins.
template <class Items, class Key>
void count_sort(const Items& items, std::size_t keys, Key key_of, std::vector<std::uint32_t>& sorted,
                std::vector<std::uint32_t>& first) {
  first.assign(keys + 1, 0);
  for (const auto& item : items) ++first[key_of(item) + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  sorted.resize(items.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t i = 0; i < items.size(); ++i) sorted[next[key_of(items[i])]++] = i;
}

}  // namespace

bool is_device_track(const Track& track) {
  return track.kind == TrackKind::Stream || track.kind == TrackKind::CopyEngine;
}

TimelineIndex::TimelineIndex(const Timeline& timeline) : timeline_(&timeline) {
  order_tracks();
  order_flows();
  find_work();
  find_waits();
}

std::span<const std::uint32_t> TimelineIndex::rows(TrackId track) const {
  return std::span(rows_).subspan(first_row_[track.value], first_row_[track.value + 1] - first_row_[track.value]);
}

std::span<const std::uint32_t> TimelineIndex::rows(TrackId track, Interval window) const {
  const auto on_track = rows(track);
  const auto reach = std::span(reach_).subspan(first_row_[track.value], on_track.size());
  const auto first =
      static_cast<std::size_t>(std::upper_bound(reach.begin(), reach.end(), window.begin) - reach.begin());
  const auto last = std::lower_bound(on_track.begin(), on_track.end(), window.end,
                                     [&](std::uint32_t row, Time end) { return timeline_->slices()[row].start < end; });
  const auto end = static_cast<std::size_t>(last - on_track.begin());
  return first < end ? on_track.subspan(first, end - first) : std::span<const std::uint32_t>{};
}

std::span<const std::uint32_t> TimelineIndex::inflows(SliceId slice) const {
  return std::span(flows_).subspan(first_flow_[slice.row()], first_flow_[slice.row() + 1] - first_flow_[slice.row()]);
}

void TimelineIndex::order_tracks() {
  const auto slices = timeline_->slices();
  count_sort(
      slices, timeline_->tracks().size(), [](const Slice& s) { return s.track.value; }, rows_, first_row_);
  reach_.resize(rows_.size());
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    const Slice &x = slices[a], &y = slices[b];
    return std::tuple{x.start, x.end(), a} < std::tuple{y.start, y.end(), b};
  };
  for (std::size_t track = 0; track + 1 < first_row_.size(); ++track) {
    const auto begin = rows_.begin() + first_row_[track], end = rows_.begin() + first_row_[track + 1];
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
    Time reach = Time::min();
    for (std::size_t i = first_row_[track]; i < first_row_[track + 1]; ++i)
      reach_[i] = reach = std::max(reach, slices[rows_[i]].end());
  }
}

void TimelineIndex::order_flows() {
  count_sort(
      timeline_->flows(), timeline_->slices().size(), [](const SliceFlow& f) { return f.to.row(); }, flows_,
      first_flow_);
}

void TimelineIndex::find_work() {
  const auto slices = timeline_->slices();
  std::vector<std::uint8_t> library(timeline_->names().size());
  for (std::size_t i = 0; i < library.size(); ++i) library[i] = is_library_name(timeline_->names()[StringId{i}]);
  std::vector<std::uint8_t> device;
  for (const Track& track : timeline_->tracks()) device.push_back(is_device_track(track));
  work_.resize(slices.size());
  for (std::size_t row = 0; row < slices.size(); ++row) {
    const Slice& slice = slices[row];
    if (!device[slice.track.value]) continue;
    switch (slice.family) {
      case Family::Collective: work_[row] = WorkKind::Communication; break;
      case Family::Gemm: work_[row] = WorkKind::Compute; break;
      case Family::Compute:
        work_[row] = slice.name && library[slice.name.value] ? WorkKind::Communication : WorkKind::Compute;
        break;
      case Family::Mark:
      case Family::Idle:
      case Family::Stream: break;
      default: work_[row] = WorkKind::Copy;
    }
  }
}

void TimelineIndex::find_waits() {
  const StringId residence = timeline_->names().find("residence_wait"),
                 arrival = timeline_->names().find("arrival_wait");
  const auto of = [&](SliceId slice) -> Waits& {
    if (waits_.empty()) waits_.resize(timeline_->slices().size());
    return waits_[slice.row()];
  };
  if (residence || arrival)
    for (const CostPart& part : timeline_->costs()) {
      if (part.part && part.part == residence) of(part.slice).residence += part.duration;
      if (part.part && part.part == arrival) of(part.slice).arrival += part.duration;
    }
  for (const CollectiveDetail& collective : timeline_->collectives())
    if (collective.arrival_wait && collective.arrival_wait->count() != 0)
      if (Waits& waits = of(collective.slice); waits.sum().count() == 0) waits.arrival = *collective.arrival_wait;
}

}  // namespace stave
