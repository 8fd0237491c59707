// Rows of one run, from a database to a sink. Used by the reader
// and by exports only.
#pragma once

#include <array>
#include <cstdint>

#include "core/timeline/sink.h"
#include "profiles/schema.h"
#include "profiles/sqlite.h"

namespace stave {

// The ids of one run in a numbered table: [first, end).
struct RowRange {
  std::int64_t first = 1;
  std::int64_t end = INT64_MAX;
};

struct RunRows {
  sqlite::Database* database;
  std::int64_t run;
  std::array<RowRange, store_schema::numbered_count> range;
};

Result<RunRows> find_rows(sqlite::Database& database, std::int64_t run);

// Sources, ranks, names, tracks, commands.
Result<void> read_head(const RunRows& rows, TimelineSink& sink);
Result<void> read_slices(const RunRows& rows, TimelineSink& sink);        // from STAVE_SLICE
Result<void> read_slice_chunks(const RunRows& rows, TimelineSink& sink);  // a complete run's fast path
Result<void> read_details(const RunRows& rows, TimelineSink& sink);
Result<void> read_args(const RunRows& rows, TimelineSink& sink);
Result<void> read_steps(const RunRows& rows, TimelineSink& sink);
// Flows, counters, steps, problems.
Result<void> read_tail(const RunRows& rows, TimelineSink& sink);

}  // namespace stave
