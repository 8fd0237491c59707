// What every analysis of a timeline looks up, built once: slices in order along
// their tracks, what flows into a slice, what kind of work it is, its waits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/intervals.h"
#include "core/timeline/timeline.h"

namespace stave {

enum class WorkKind : std::uint8_t { None, Communication, Compute, Copy };

// Parts of a collective slice, from its cost parts or its collective row.
struct Waits {
  Picoseconds residence{};
  Picoseconds arrival{};

  Picoseconds sum() const { return residence + arrival; }
};

// Names a timeline that must live as long and must not change.
class TimelineIndex {
 public:
  // Implicit: who looks at one window only need not keep an index.
  TimelineIndex(const Timeline& timeline);  // NOLINT(google-explicit-constructor)

  const Timeline& timeline() const { return *timeline_; }

  // Rows of a track's slices by start, then end, then write order.
  std::span<const std::uint32_t> rows(TrackId track) const;
  // Those of them that a window can meet: all before it ended before it, too.
  std::span<const std::uint32_t> rows(TrackId track, Interval window) const;
  // Positions of the flows that lead to a slice, in write order.
  std::span<const std::uint32_t> inflows(SliceId slice) const;

  // None for slices that are not on a device.
  WorkKind work(std::uint32_t row) const { return work_[row]; }
  Waits waits(std::uint32_t row) const { return waits_.empty() ? Waits{} : waits_[row]; }
  // Of a collective: false where a trace does not say how much of it was waiting.
  bool wait_is_known(SliceId slice) const {
    const CollectiveDetail* const detail = timeline_->collective(slice);
    return (detail != nullptr && detail->arrival_wait) || waits(slice.row()).sum().count() > 0;
  }

 private:
  void order_tracks();
  void order_flows();
  void find_work();
  void find_waits();

  const Timeline* timeline_;
  std::vector<std::uint32_t> rows_;        // of all tracks, one after the other
  std::vector<std::uint32_t> first_row_;   // by track, and the end
  std::vector<Time> reach_;                // beside rows_: the last end so far on the track
  std::vector<std::uint32_t> flows_;       // by the slice they lead to
  std::vector<std::uint32_t> first_flow_;  // by slice row, and the end
  std::vector<WorkKind> work_;
  std::vector<Waits> waits_;  // empty when no slice waits
};

bool is_device_track(const Track& track);

}  // namespace stave
