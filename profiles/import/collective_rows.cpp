#include "profiles/import/collective_rows.h"

#include <algorithm>

namespace stave {

std::optional<CollectiveDetail> collective_row(const RankClock& clock, WideTime own_start,
                                               const std::optional<CollectiveArguments>& said, RowBatches& rows) {
  const Strings& texts = clock.collectives.texts;
  const std::deque<CollectiveSpan>& spans = clock.collectives.spans;
  const auto at = std::lower_bound(spans.begin(), spans.end(), own_start,
                                   [](const CollectiveSpan& span, WideTime start) { return span.start < start; });
  const CollectiveSpan* found = nullptr;
  for (auto span = at; span != spans.end() && span->start == own_start; ++span)
    if (span->said == said.has_value() && (!said || texts[span->communicator] == said->communicator)) found = &*span;
  if (found == nullptr || (!said && !found->matched)) return std::nullopt;
  CollectiveDetail detail;
  detail.communicator = rows.name(said ? std::string_view(said->communicator) : "unnamed");
  detail.sequence = found->sequence;
  const std::string_view op = texts[found->op];
  detail.op = rows.name(op.empty() ? "collective" : op);
  if (said) {
    if (!said->dtype.empty()) detail.dtype = rows.name(said->dtype);
    detail.count = said->count;
    detail.bytes = said->bytes;
    detail.ranks = said->ranks;
  }
  if (found->matched) {
    detail.arrival_wait = found->arrival_wait;
    detail.transfer = found->transfer;
  }
  detail.matched_by = found->matched_by;
  return detail;
}

}  // namespace stave
