// What a timeline view draws: a value. Nothing in it knows a pixel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/compare.h"
#include "analysis/critical_path.h"
#include "analysis/timeline_index.h"
#include "gui/view/lod.h"

namespace stave::gui {

// Per slice row of a run: its difference to its partner, `no_partner` without one.
using SliceDeltas = std::vector<Picoseconds>;
inline constexpr Picoseconds no_partner = Picoseconds::min();

struct RunInView {
  std::shared_ptr<const Timeline> timeline;
  std::shared_ptr<const TimelineIndex> index;  // of `timeline`
  std::shared_ptr<const Lod> lod;              // of `index`
  std::string title{};
  Picoseconds shift{};  // added to all its times, for alignment
  bool ghost = false;   // drawn pale: an outdated prediction
  std::shared_ptr<const SliceDeltas> deltas{};
};
// Builds the index and the levels of detail: work for a background thread.
RunInView run_in_view(std::shared_ptr<const Timeline> timeline, std::string title);

// A slice on screen.
struct SliceRef {
  std::size_t run = 0;
  SliceId slice{};

  friend auto operator<=>(const SliceRef&, const SliceRef&) = default;
};

enum class ColourBy : std::uint8_t { Family, Command, Rank, Stream, Delta, Problem };

// A line of the view. Rows stand in display order; what belongs to a header are
// the rows below it of a greater depth.
struct Row {
  enum class Kind : std::uint8_t { Run, Rank, Group, Track, Difference };
  Kind kind = Kind::Track;
  std::uint8_t depth = 0;
  std::size_t run = 0;  // of the Rank or Group of interleaved runs: the first one
  std::uint32_t rank = 0;
  TrackId track{};      // Track and Difference
  std::string name{};   // as the names column shows it
  std::string tag{};    // behind it, fainter: the run, where runs are interleaved
  std::string key{};    // the same in every run of a schedule: "rank 0/stream/compute"
  bool folded = false;  // a header: its rows are not shown; a track: all lanes in one
  bool hidden = false;
  bool pinned = false;       // stays at the top
  std::uint16_t height = 0;  // of a lane, in logical pixels; 0: the view's

  bool header() const { return kind <= Kind::Group; }
  friend bool operator==(const Row&, const Row&) = default;
};

enum class Arrangement : std::uint8_t {
  Stacked,      // run, rank, tracks
  Interleaved,  // rank, then each track of all runs below each other
};

struct Bookmark {
  Time time{};
  std::string text{};

  friend bool operator==(const Bookmark&, const Bookmark&) = default;
};

struct PathInView {
  std::size_t run = 0;
  std::vector<PathPart> parts{};
};

struct Arrow {
  SliceRef from{};
  SliceRef to{};
  FlowKind kind = FlowKind::Launch;
  Certainty certainty = Certainty::Recorded;

  friend bool operator==(const Arrow&, const Arrow&) = default;
};

// A stretch of the view's time, and the rows it was drawn over; no rows: all.
struct RangeSelection {
  TimeSpan span{};
  std::vector<std::size_t> rows{};

  friend bool operator==(const RangeSelection&, const RangeSelection&) = default;
};

struct Scene {
  std::vector<RunInView> runs{};
  std::vector<Row> rows{};
  std::size_t chosen = 0;  // the run whose steps are shown, if it has some
  ColourBy colour_by = ColourBy::Family;
  bool dark = false;
  Picoseconds delta_scale{};          // the difference that has the full colour; 0: chosen from the deltas
  std::vector<SliceRef> selection{};  // the first one is the current one
  std::optional<SliceRef> hovered{};
  std::vector<SliceRef> partners{};   // of the hovered or selected slice, in other runs
  std::vector<SliceRef> marks{};      // search hits
  std::optional<std::size_t> mark{};  // the current one of them
  std::vector<Bookmark> bookmarks{};
  std::vector<PathInView> paths{};  // critical paths; all other slices are drawn paler
  std::vector<Arrow> arrows{};
  std::optional<RangeSelection> range{};
  std::optional<TimeSpan> measured{};  // the ruler; ends in the order they were set
};

// The chosen run or else the first one that has steps; null: none has.
const RunInView* run_with_steps(const Scene& scene);

// All rows of all runs with tracks that hold something: streams and copy engines of a rank first,
// then its links, counters, ranges and host threads, each group under a header. At first folded are host
// threads where there are devices, ranges in more than two lanes, links and counters of which a rank has more than
// eight, counters beside devices of which all ranks have more than four, and all ranks but the first four of more
// than eight.
std::vector<Row> rows_of(const std::vector<RunInView>& runs, Arrangement arrangement = Arrangement::Stacked);
// The same with a Difference row below each device track of `run`.
std::vector<Row> with_difference_rows(const std::vector<Row>& rows, const std::vector<RunInView>& runs,
                                      std::size_t run);

// Gives `rows` the folding, hiding, pins, heights and order that the rows of the same run and key,
// else of the same key, have in `from`: carried over to the next run of the same schedule.
void carry_rows(const std::vector<Row>& from, std::vector<Row>& rows);
// Moves a row and what belongs to it before row `to`, or behind its last sibling with `to` one behind that.
// False, and nothing moved, if `to` is not a place among the rows of the same header.
bool move_row(std::vector<Row>& rows, std::size_t from, std::size_t to);
// One behind the last row that belongs to `row`.
std::size_t row_end(const std::vector<Row>& rows, std::size_t row);
// Position of the row of a slice's track; none if the scene has no such row.
std::optional<std::size_t> row_of(const Scene& scene, SliceRef ref);

const Slice& slice_of(const Scene& scene, SliceRef ref);
// In the view's time, that is with the run's shift.
TimeSpan span_of(const Scene& scene, SliceRef ref);
// Of all runs, with their shifts, counters too; 0 to 1 us if there is nothing.
TimeSpan extent_of(const Scene& scene);

// Flows into and out of slices.
std::vector<Arrow> arrows_of(const Scene& scene, const std::vector<SliceRef>& slices);

enum class DeltaOf : std::uint8_t { Start, Duration, Gap };
// B - A, for the slices of A, or of B.
SliceDeltas deltas_of(const Comparison& comparison, DeltaOf what, bool of_b);
// Scene::delta_scale, or the 95th percentile of the magnitudes of all deltas; at least 1 ps.
Picoseconds delta_scale_of(const Scene& scene);

// The slice before or after on the same track, by start; none at the ends.
std::optional<SliceRef> next_slice(const Scene& scene, SliceRef ref, bool forward);

}  // namespace stave::gui
