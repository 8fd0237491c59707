// The difference of two runs: measured, predicted, imported, any mix.
// All differences are B - A, all percentages are of A.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/align.h"
#include "core/timeline/run_info.h"

namespace stave {

// Why B takes longer or shorter, as parts of the difference of the windows. Both
// windows are filled by their critical path (analysis/critical_path.h), and each
// contribution is the difference of one item on those two paths.
struct Contribution {
  enum class Kind : std::uint8_t {
    Duration,     // a slice on both paths: its work there
    Arrival,      // a collective on both paths: its waiting there
    Gap,          // time of the path before a slice in which no device worked: hosts, launches, gaps
    Inserted,     // a slice that only B has
    Removed,      // a slice that only A has
    Path,         // a matched slice that is on one of the paths only; of another step, also one that is not matched
    Unexplained,  // what is left
  };
  Kind kind = Kind::Duration;
  Picoseconds delta{};
  SliceId a{};  // Gap without slices: the end of the windows, after their last slice
  SliceId b{};
};
std::string_view name_of(Contribution::Kind kind);

enum class Verdict : std::uint8_t {
  Same,       // no difference, or within the noise
  Faster,     // B takes less time, by more than the noise
  Slower,     // B takes more time, by more than the noise
  Undecided,  // they differ, and nobody knows the noise
};
std::string_view name_of(Verdict verdict);

// How far apart the same work is in the two runs, over the matched slices of a
// family. A collective's waits are not in it; they are a row of their own.
struct FamilyError {
  std::string family;  // name_of(Family), or "collective_wait"
  std::int64_t n = 0;  // matched slices
  Picoseconds a{};     // their summed time
  Picoseconds b{};
  // |b - a| / a of single slices, in per cent; none if no slice took time in A.
  std::optional<double> median_pct{};
  std::optional<double> p90_pct{};
  std::optional<double> worst_pct{};
  std::optional<double> bias_pct{};  // (sum of b - sum of a) / sum of a
};

// Bytes moved and time busy between two places, or within a communicator.
struct LinkUse {
  std::string link;
  std::optional<std::int64_t> a_bytes{};  // none: not known, or no such link there
  std::optional<std::int64_t> b_bytes{};
  Picoseconds a_busy{};  // length of the union; a collective's waits do not count
  Picoseconds b_busy{};
};

// Slices of one name that the other run does not have.
struct OneSided {
  std::string name;
  std::int64_t count = 0;
  Picoseconds total{};
};

// A matched slice in both runs, relative to the begin of the windows.
struct SliceChange {
  SlicePair slices{};
  Picoseconds a_start{}, b_start{};
  Picoseconds a_duration{}, b_duration{};
  Picoseconds a_gap{}, b_gap{};  // since the last end before it on its track, or the window's begin
};

struct Comparison {
  RunPart a{}, b{};
  std::size_t a_timed_steps = 0, b_timed_steps = 0;
  Alignment alignment{};
  Picoseconds a_length{}, b_length{};
  Picoseconds delta{};
  std::optional<double> delta_pct{};
  // Twice the standard error of the difference (docs/models.md), in per cent of A.
  // A prediction has none; null where a run has under three timed steps.
  std::optional<double> noise_pct{};
  Verdict verdict = Verdict::Same;
  std::vector<Contribution> contributions{};  // adds up to `delta`; largest first, then rank, then name
  std::vector<FamilyError> families{};        // by family, the waits last
  std::vector<LinkUse> links{};               // by link
  std::vector<OneSided> only_a{};             // by total, then name
  std::vector<OneSided> only_b{};
  Problems problems{};  // STV1912, a warning: no rank number is in both runs. STV1913: see other_steps()

  const Timeline& timeline_a() const { return a.index->timeline(); }
  const Timeline& timeline_b() const { return b.index->timeline(); }
};

struct ComparedRun {
  const TimelineIndex* index = nullptr;
  RunKind kind = RunKind::Predicted;
  std::string file{};  // for messages
};

// `window` as for window_of(); empty: if both have timed steps and one of them has
// several steps, the step of lower-median duration in each, else the whole runs.
// STV1900: no such window. STV1910: nothing is in both. STV1911: no work in a window.
Result<Comparison> compare(const ComparedRun& a, const ComparedRun& b, std::string_view window = {});

// Of all matched slices, by start in A.
std::vector<SliceChange> changes_of(const Comparison& comparison);

// What a person calls a slice: the key of its command, else its name.
std::string_view title_of(const Timeline& timeline, SliceId slice);

// The parts of compare().
std::vector<Contribution> waterfall(const RunPart& a, const RunPart& b, const Alignment& alignment);
std::vector<FamilyError> family_errors(const RunPart& a, const RunPart& b, const Alignment& alignment);
std::vector<LinkUse> link_uses(const RunPart& a, const RunPart& b, const Alignment& alignment);

}  // namespace stave
