// The ranks of an import: their numbers, what brings their clocks together, and their steps.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/timeline/run_info.h"
#include "core/timeline/sink.h"
#include "profiles/import/collective_match.h"
#include "profiles/import/rank_numbers.h"
#include "profiles/import/time_age.h"

namespace stave {

struct ProbedStep {
  std::uint32_t step = 0;
  Time start{};
  Time end{};
  std::optional<std::string> label{};  // none: the rank's step_label and the number
  StepPhase phase = StepPhase::Timed;
};

// The step of a time among steps sorted by start; none outside of them.
StepNumber step_at(const std::vector<ProbedStep>& steps, Time time);
// One span a number, by start: a step that several threads name lasts from the first to the last.
void merge_steps(std::vector<ProbedStep>& steps);

// As long as nobody asked: in the rank's own clock.
struct ImportRank {
  RankHint hint{};
  RankInfo info{};                  // without the number and the clock
  RankClock clock{};                // its start is time 0 of the steps
  std::vector<ProbedStep> steps{};  // by start
  std::string step_label{};         // goes before the number
  Picoseconds shift{};              // found by settle(): from a time since clock.start to the run's
};

class ImportRanks {
 public:
  std::vector<ImportRank> all{};

  // Numbers them and finds their shifts. `within`: how a rank is known that neither says its number nor has a file
  // of its own.
  void settle(ProblemCounts& problems, std::string_view within);
  // Of an import in `label`; a time between 2001 and 2100 counts from 1970.
  RunInfo run(const std::string& label) const;
  Result<void> send(TimelineSink& sink) const;
  Result<void> send_steps(TimelineSink& sink, std::uint32_t& most) const;

 private:
  WideTime origin_ = 0;
};

}  // namespace stave
