// Everything `stave report` says about one run, as values.
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/critical_path.h"
#include "analysis/utilisation.h"
#include "core/base/result.h"
#include "core/timeline/timeline.h"

namespace stave {

// Which stretch a report is about: all, "step:3", "range:NAME", "1.2s..1.3s"
// (units ps ns us ms s). Code STV1900: not a window, or nothing there.
struct Window {
  std::string kind = "all";  // all, step, range, time
  std::string label;
  Interval span{};
};
Result<Window> window_of(const Timeline& timeline, std::string_view text);
// "1.5ms", with one of ps, ns, us, ms and s; none if it is no such time.
std::optional<Picoseconds> time_with_unit(std::string_view text);

// A step's window is the time that the run says, which for a trace is the host's. STV1913,
// a note: how much of the work on devices there is of other steps, if any is.
Problems other_steps(const TimelineIndex& index, const Window& window, const std::string& file);

struct StepTime {
  std::uint32_t step = 0;
  StepPhase phase = StepPhase::Timed;
  Picoseconds duration{};
  Picoseconds exposed_communication{};  // of the worst rank
};

struct KernelReport {
  std::string name;
  Family family = Family::Other;
  std::int64_t calls = 0;
  Picoseconds total{};
  Picoseconds median{};
  Picoseconds p90{};
  double share_pct = 0;  // of the summed time of all device slices
};

struct RangeReport {
  std::string name;
  std::int64_t calls = 0;
  Picoseconds gpu{};  // busy time of the rank's GPU inside the range
  Picoseconds exposed_communication{};
};

struct CollectiveReport {
  std::string communicator;
  std::int64_t sequence = 0;
  std::string op;
  std::optional<std::int64_t> bytes;
  // As the trace says; else those that were seen, if more than one.
  std::optional<std::uint32_t> ranks;
  Time first_arrival{};
  Picoseconds duration{};  // from the first arrival to the last end that were seen
  // None where some of its ranks are not in the run, so that waiting and transfer cannot be told apart.
  std::optional<std::uint32_t> last_rank;   // that arrived last
  std::optional<Picoseconds> arrival_wait;  // the longest
  std::optional<Picoseconds> transfer;      // from the last arrival to the last end
  std::optional<double> algorithm_bytes_per_s;
  std::optional<double> bus_bytes_per_s;  // times the op's factor, as nccl-tests defines it
  MatchedBy matched_by = MatchedBy::Command;
};

// A CUDA graph. Where a run does not number its graphs, as a prediction does not,
// they are numbered by their first launch.
struct GraphReport {
  std::int64_t graph = 0;
  std::int64_t launches = 0;
  std::int64_t nodes = 0;
  Picoseconds median{};
};

struct Report {
  Window window;
  Picoseconds makespan{};                  // the window's length
  std::vector<StepTime> steps;             // by step
  std::optional<Picoseconds> step_median;  // of the timed steps
  std::optional<Picoseconds> step_p90;
  std::vector<RankUse> ranks;  // by rank
  std::optional<std::uint32_t> worst_rank;
  std::vector<KernelReport> kernels;                  // by total, longest first, then name
  std::vector<RangeReport> ranges;                    // by GPU time, longest first, then name
  std::vector<CollectiveReport> collectives;          // by communicator, sequence
  std::vector<GraphReport> graphs;                    // by graph
  std::vector<PathPart> critical_path;                // by time
  std::array<std::int64_t, certainty_count> edges{};  // by Certainty

  // Ranks with a collective of which nobody knows how long it waited: it counts as transfer.
  std::set<std::uint32_t> waits_unknown;

  const RankUse* worst() const;
  std::optional<Picoseconds> arrival_wait(const RankUse& use) const;
};

// `kind` as for critical_path().
Report make_report(const TimelineIndex& index, Window window, RunKind kind = RunKind::Predicted);

// What bus bandwidth is of algorithm bandwidth, for n ranks: all_reduce 2(n-1)/n;
// all_gather, reduce_scatter, all_to_all (n-1)/n; others 1 (nccl-tests, PERFORMANCE.md).
double bus_factor(std::string_view op, std::uint32_t ranks);

// The smallest value that at least `fraction` of the values do not exceed. Not empty.
Picoseconds quantile(std::vector<Picoseconds> values, double fraction);

}  // namespace stave
