#include "profiles/import/collective_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace stave {
namespace {

constexpr WideTime far_apart = WideTime{600} * 1'000'000'000'000;  // ten minutes

using Key = std::tuple<std::string, std::uint32_t, std::int64_t>;  // communicator, step, sequence

void number(RankClock& rank) {
  std::stable_sort(rank.collectives.begin(), rank.collectives.end(),
                   [](const CollectiveSpan& a, const CollectiveSpan& b) { return a.start < b.start; });
  std::map<std::pair<std::string, std::uint32_t>, std::int64_t> next;
  for (CollectiveSpan& span : rank.collectives) {
    const std::int64_t position = next[{span.communicator, span.step}]++;
    span.sequence = span.said_sequence.value_or(position);
    span.matched_by = span.said_sequence ? MatchedBy::Ids : MatchedBy::Order;
  }
}

Picoseconds clamped(WideTime time) {
  constexpr WideTime most = Picoseconds::max().count();
  return Picoseconds{static_cast<std::int64_t>(std::clamp(time, -most, most))};
}

// Ends of one rank minus the first rank's, for the collectives that both have.
std::vector<WideTime> end_differences(const std::map<Key, const CollectiveSpan*>& first, const RankClock& rank) {
  std::vector<WideTime> out;
  for (const CollectiveSpan& span : rank.collectives) {
    const auto at = first.find({span.communicator, span.step, span.sequence});
    if (at != first.end() && at->second->op == span.op) out.push_back(span.end - at->second->end);
  }
  return out;
}

WideTime median(std::vector<WideTime> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void find_waits(std::vector<RankClock>& ranks) {
  std::map<Key, std::vector<std::pair<CollectiveSpan*, WideTime>>> instances;  // with the clock's offset
  for (RankClock& rank : ranks)
    for (CollectiveSpan& span : rank.collectives)
      instances[{span.communicator, span.step, span.sequence}].emplace_back(&span, rank.offset);
  for (auto& instance : instances) {
    auto& spans = instance.second;
    if (spans.size() < 2) continue;
    const bool same_op =
        std::all_of(spans.begin(), spans.end(), [&](const auto& span) { return span.first->op == spans[0].first->op; });
    if (!same_op) continue;
    WideTime last = spans[0].first->start + spans[0].second;
    for (const auto& [span, offset] : spans) last = std::max(last, span->start + offset);
    for (const auto& [span, offset] : spans) {
      const WideTime start = span->start + offset, end = std::max(span->end + offset, start);
      span->matched = true;
      span->arrival_wait = clamped(std::min(last, end) - start);
      span->transfer = clamped(end - std::min(last, end));
    }
  }
}

}  // namespace

void match_collectives(std::vector<RankClock>& ranks, ProblemCounts& problems) {
  for (RankClock& rank : ranks) number(rank);
  if (ranks.size() < 2) return;
  std::map<Key, const CollectiveSpan*> first;
  for (const CollectiveSpan& span : ranks[0].collectives)
    first.emplace(Key{span.communicator, span.step, span.sequence}, &span);
  ranks[0].from = "first rank";
  std::size_t by_collectives = 0, by_start = 0, common = 0;
  WideTime worst = 0;
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    RankClock& rank = ranks[i];
    const std::vector<WideTime> differences = end_differences(first, rank);
    if (differences.empty()) {
      const WideTime apart = rank.start - ranks[0].start;
      if (apart < far_apart && apart > -far_apart) continue;
      rank.offset = -apart;
      rank.from = "first events";
      ++by_start;
      continue;
    }
    const WideTime middle = median(differences);
    std::vector<WideTime> residuals;
    for (const WideTime difference : differences)
      residuals.push_back(difference < middle ? middle - difference : difference - middle);
    const WideTime error = median(residuals);
    worst = std::max(worst, *std::max_element(residuals.begin(), residuals.end()));
    rank.offset = -middle;
    rank.error = clamped(error);
    rank.from = "collective ends";
    common += differences.size();
    ++by_collectives;
  }
  if (by_collectives > 0)
    problems.say(problem_kinds::clocks, {},
                 fmt::format("{} ranks aligned with the first by {} common collective ends; the largest difference "
                             "that is left is {:.3f} us",
                             by_collectives, common, static_cast<double>(clamped(worst).count()) * 1e-6));
  if (by_start > 0)
    problems.say(problem_kinds::clocks, {},
                 fmt::format("{} ranks have no collective in common with the first and a clock more than ten minutes "
                             "away; aligned at their first events",
                             by_start));
  find_waits(ranks);
}

}  // namespace stave
