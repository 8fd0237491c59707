#include "profiles/import/collective_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/in_number.h"

namespace stave {
namespace {

// Ranks of a run end a collective within microseconds; clocks drift by some tens within a trace.
constexpr WideTime together = WideTime{1'000'000'000};             // one millisecond
constexpr WideTime far_apart = WideTime{600} * 1'000'000'000'000;  // ten minutes

using Key = std::tuple<std::string_view, std::uint32_t, std::int64_t>;  // communicator, step, sequence

Key key_of(const RankClock& rank, const CollectiveSpan& span) {
  return {rank.collectives.texts[span.communicator], span.step, span.sequence};
}

void number(RankClock& rank) {
  const auto by_start = [](const CollectiveSpan& a, const CollectiveSpan& b) { return a.start < b.start; };
  // Mostly they are; a stable sort needs the memory of a copy.
  std::deque<CollectiveSpan>& spans = rank.collectives.spans;
  if (!std::is_sorted(spans.begin(), spans.end(), by_start)) std::stable_sort(spans.begin(), spans.end(), by_start);
  std::map<std::pair<StringId, std::uint32_t>, std::int64_t> next;
  for (CollectiveSpan& span : spans) {
    const std::int64_t position = next[{span.communicator, span.step}]++;
    if (!span.numbered) span.sequence = position;
    span.matched_by = span.numbered && !span.by_order ? MatchedBy::Ids : MatchedBy::Order;
  }
}

Picoseconds clamped(WideTime time) {
  constexpr WideTime most = Picoseconds::max().count();
  return Picoseconds{static_cast<std::int64_t>(std::clamp(time, -most, most))};
}

// Ends of one rank minus the first rank's, for the collectives that both have.
std::vector<WideTime> end_differences(const std::map<Key, const CollectiveSpan*>& in_first, const RankClock& first,
                                      const RankClock& rank) {
  std::vector<WideTime> out;
  for (const CollectiveSpan& span : rank.collectives.spans) {
    const auto at = in_first.find(key_of(rank, span));
    if (at == in_first.end()) continue;
    const bool same_op = first.collectives.texts[at->second->op] == rank.collectives.texts[span.op];
    if (same_op) out.push_back(span.end - at->second->end);
  }
  return out;
}

WideTime median(std::vector<WideTime> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void find_waits(std::vector<RankClock>& ranks) {
  std::map<Key, std::vector<std::pair<CollectiveSpan*, const RankClock*>>> instances;
  for (RankClock& rank : ranks)
    for (CollectiveSpan& span : rank.collectives.spans) instances[key_of(rank, span)].emplace_back(&span, &rank);
  for (auto& instance : instances) {
    auto& spans = instance.second;
    if (spans.size() < 2) continue;
    const auto op = [](const auto& one) { return one.second->collectives.texts[one.first->op]; };
    const bool same_op =
        std::all_of(spans.begin(), spans.end(), [&](const auto& one) { return op(one) == op(spans[0]); });
    if (!same_op) continue;
    WideTime last = spans[0].first->start + spans[0].second->offset;
    for (const auto& [span, rank] : spans) last = std::max(last, span->start + rank->offset);
    for (const auto& [span, rank] : spans) {
      const WideTime start = span->start + rank->offset, end = std::max(span->end + rank->offset, start);
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
  for (const CollectiveSpan& span : ranks[0].collectives.spans) first.emplace(key_of(ranks[0], span), &span);
  ranks[0].from = "first rank";
  std::size_t by_collectives = 0, by_start = 0, common = 0;
  WideTime worst = 0;
  std::vector<std::size_t> leader(ranks.size());         // the first rank of the same clock
  std::vector<std::vector<WideTime>> of(ranks.size());   // by rank
  std::vector<std::vector<WideTime>> all(ranks.size());  // by leader
  std::map<std::size_t, std::size_t> leaders;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    leader[i] = ranks[i].clock ? leaders.try_emplace(*ranks[i].clock, i).first->second : i;
    if (leader[i] == 0) continue;
    of[i] = end_differences(first, ranks[0], ranks[i]);
    all[leader[i]].insert(all[leader[i]].end(), of[i].begin(), of[i].end());
  }
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    RankClock& rank = ranks[i];
    if (leader[i] == 0) {
      rank.from = "clock of the first rank";
      continue;
    }
    const std::vector<WideTime>& differences = of[i];
    if (all[leader[i]].empty()) {
      const WideTime apart = ranks[leader[i]].start - ranks[0].start;
      if (apart < far_apart && apart > -far_apart) continue;
      rank.offset = -apart;
      rank.from = "first events";
      ++by_start;
      continue;
    }
    const WideTime middle = median(all[leader[i]]);
    std::vector<WideTime> residuals;
    for (const WideTime difference : differences)
      residuals.push_back(difference < middle ? middle - difference : difference - middle);
    rank.offset = -middle;
    if (!residuals.empty()) {
      worst = std::max(worst, *std::max_element(residuals.begin(), residuals.end()));
      rank.error = clamped(median(std::move(residuals)));
    }
    rank.from = "collective ends";
    common += differences.size();
    ++by_collectives;
  }
  if (by_collectives > 0)
    problems.say(worst > together ? problem_kinds::far_clocks : problem_kinds::clocks, {},
                 fmt::format("{} aligned with the first by {}; the largest difference that is left is {:.3f} us",
                             in_number(fmt::format("{} [rank|ranks]", by_collectives), by_collectives),
                             in_number(fmt::format("{} common collective [end|ends]", common), common),
                             static_cast<double>(clamped(worst).count()) * 1e-6));
  if (by_start > 0)
    problems.say(
        problem_kinds::far_clocks, {},
        in_number(fmt::format("{} [rank has|ranks have] no collective in common with the first and a clock more "
                              "than ten minutes away; aligned at [its|their] first events",
                              by_start),
                  by_start));
  find_waits(ranks);
}

}  // namespace stave
