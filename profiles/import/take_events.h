// The loop of every importer that reads events one after the other.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/progress.h"
#include "profiles/import/kineto_probe.h"
#include "profiles/import/row_batches.h"
#include "profiles/import/trace_texts.h"

namespace stave {

// Takes all events of a reader into rows. A file that is damaged beyond reading on (STV0734) is a
// failure, but what was read of it is finished first.
template <class Event, class Reader, class Rows>
Result<void> take_events(Reader& reader, Rows& out, RowBatches& rows, Progress* progress,
                         const std::atomic<std::int64_t>& read) {
  Event event;
  const auto all = [&]() -> Result<void> {
    for (std::int64_t n = 1;; ++n) {
      TRY(const bool more, reader.next(event));
      if (!more) return {};
      out.take(event);
      TRY_VOID(rows.flush_if_full());
      if (n % 4096 == 0) TRY_VOID(show_progress(progress, &read));
    }
  };
  Result<void> done = all();
  if (!done && done.problems()[0].code != "STV0734") return done;
  out.finish();
  return done;
}

}  // namespace stave
