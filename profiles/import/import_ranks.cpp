#include "profiles/import/import_ranks.h"

#include <fmt/format.h>

#include <algorithm>

namespace stave {
namespace {

constexpr WideTime earliest_date = WideTime{978'307'200} * 1'000'000'000'000;
constexpr WideTime latest_date = WideTime{4'102'444'800} * 1'000'000'000'000;

Picoseconds clamped_shift(WideTime time) {
  return Picoseconds{static_cast<std::int64_t>(std::clamp(time, -most_apart, most_apart))};
}

}  // namespace

StepNumber step_at(const std::vector<ProbedStep>& steps, Time time) {
  auto at =
      std::upper_bound(steps.begin(), steps.end(), time, [](Time t, const ProbedStep& step) { return t < step.start; });
  if (at == steps.begin() || time >= (--at)->end) return {};
  return StepNumber{at->step};
}

void merge_steps(std::vector<ProbedStep>& steps) {
  std::sort(steps.begin(), steps.end(), [](const ProbedStep& a, const ProbedStep& b) {
    return a.step != b.step ? a.step < b.step : a.start < b.start;
  });
  std::vector<ProbedStep> merged;
  for (const ProbedStep& step : steps) {
    if (!merged.empty() && merged.back().step == step.step)
      merged.back().end = std::max(merged.back().end, step.end);
    else
      merged.push_back(step);
  }
  std::sort(merged.begin(), merged.end(), [](const ProbedStep& a, const ProbedStep& b) { return a.start < b.start; });
  steps = std::move(merged);
}

void ImportRanks::settle(ProblemCounts& problems, std::string_view within) {
  std::vector<RankHint> hints;
  std::vector<RankClock> clocks;
  for (ImportRank& rank : all) {
    hints.push_back(rank.hint);
    clocks.push_back(std::move(rank.clock));
  }
  ProblemCounts unsaid;  // the devices of one file have no numbers to say
  const std::vector<RankNumber> numbers = rank_numbers(hints, within.empty() ? problems : unsaid);
  match_collectives(clocks, problems);
  origin_ = clocks[0].start;
  for (const RankClock& clock : clocks) origin_ = std::min(origin_, clock.start + clock.offset);
  for (std::size_t i = 0; i < all.size(); ++i) {
    ImportRank& rank = all[i];
    rank.clock = std::move(clocks[i]);
    rank.shift = clamped_shift(rank.clock.start + rank.clock.offset - origin_);
    rank.info.rank = numbers[i].rank;
    rank.info.rank_from = !within.empty() && numbers[i].from == "position" ? std::string(within) : numbers[i].from;
    rank.info.clock_offset = clamped_shift(rank.clock.offset);
    rank.info.clock_error = rank.clock.error;
    rank.info.clock_from = rank.clock.from;
  }
}

RunInfo ImportRanks::run(const std::string& label) const {
  RunInfo run;
  run.label = label;
  run.kind = RunKind::Imported;
  run.world_size = 0;
  for (const ImportRank& rank : all) run.world_size = std::max(run.world_size, rank.info.rank + 1);
  run.tool = "stave";
  run.tool_version = STAVE_VERSION;
  if (origin_ > earliest_date && origin_ < latest_date)
    run.base_unix_ns = static_cast<std::int64_t>(origin_ / ps_per_ns);
  return run;
}

Result<void> ImportRanks::send(TimelineSink& sink) const {
  std::vector<RankInfo> ranks;
  for (const ImportRank& rank : all) ranks.push_back(rank.info);
  for (std::size_t at = 0; at < ranks.size(); at += max_batch_rows)
    TRY_VOID(sink.on_ranks(std::span(ranks).subspan(at, std::min(max_batch_rows, ranks.size() - at))));
  return {};
}

Result<void> ImportRanks::send_steps(TimelineSink& sink, std::uint32_t& most) const {
  std::vector<StepSpan> spans;
  for (const ImportRank& rank : all) {
    most = std::max(most, static_cast<std::uint32_t>(rank.steps.size()));
    for (const ProbedStep& step : rank.steps)
      spans.push_back({.step = step.step,
                       .rank = rank.info.rank,
                       .phase = step.phase,
                       .label = step.label ? *step.label : fmt::format("{}{}", rank.step_label, step.step),
                       .start = step.start + rank.shift,
                       .end = step.end + rank.shift});
  }
  for (std::size_t at = 0; at < spans.size(); at += max_batch_rows)
    TRY_VOID(sink.on_steps(std::span(spans).subspan(at, std::min(max_batch_rows, spans.size() - at))));
  return {};
}

}  // namespace stave
