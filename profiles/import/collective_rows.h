// What a collective kernel's row says, once the ranks' collectives were matched.
#pragma once

#include <optional>

#include "profiles/import/collective_match.h"
#include "profiles/import/kineto_kinds.h"
#include "profiles/import/row_batches.h"

namespace stave {

// `own_start` is the kernel's in the rank's own clock; `said` what its arguments
// say. None: nothing is known beside its family.
std::optional<CollectiveDetail> collective_row(const RankClock& clock, WideTime own_start,
                                               const std::optional<CollectiveArguments>& said, RowBatches& rows);

}  // namespace stave
