// What the selected slices, or the slices in a selected stretch, add up to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gui/run.h"
#include "gui/view/scene.h"

namespace stave::gui {

struct DurationSummary {
  std::int64_t count = 0;
  Picoseconds sum{}, min{}, median{}, p90{}, max{};
};

struct SelectionStatistics {
  struct Name {
    std::string name;
    Family family = Family::Other;
    DurationSummary durations;
  };
  DurationSummary durations;    // of the slices, trimmed to the stretch
  Picoseconds stretch{};        // the selected one, else from the first begin to the last end
  Picoseconds busy{};           // length of the union of device slices, summed over ranks
  Picoseconds communication{};  // as in `stave report`, of the selected slices, summed over ranks
  Picoseconds overlap{};        // with whatever the rank computes meanwhile, selected or not
  Picoseconds exposed{};
  std::int64_t bytes = 0;  // that copies and collectives moved, as far as it is known
  Picoseconds bytes_time{};
  std::vector<Name> names;  // by sum, longest first, then name
  std::optional<double> bytes_per_s() const;
};

// What is selected in one run. Times are the run's own.
struct SelectedSlices {
  RunPtr run;
  std::vector<std::uint32_t> rows{};  // slices by row ...
  std::vector<TrackId> tracks{};      // ... or all slices of these tracks in `span`
  std::optional<Interval> span{};
};

// Nothing once `progress` is cancelled.
SelectionStatistics statistics_of(const std::vector<SelectedSlices>& selected, const Progress* progress = nullptr);

}  // namespace stave::gui
