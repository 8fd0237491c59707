// Reads run files, whole or left behind by a killed writer.
//
// Codes: STV0702-STV0706 as open_run_file(), STV0709 no such run, STV0712
// (a warning) the run was not finished.
#pragma once

#include <string>
#include <vector>

#include "core/timeline/run_info.h"
#include "core/timeline/timeline.h"
#include "profiles/sqlite.h"

namespace stave {

struct StoredRun {
  std::int64_t id = 0;
  RunInfo info;
  std::string schedule_sha256{};
  std::string machine_sha256{};
  bool complete = false;
  // Of a complete run, to reserve memory; 0 otherwise.
  std::uint64_t slices_count = 0;
};

// What to leave in the file. A viewer of many slices needs no details at first.
struct ReadOptions {
  bool details = true;  // kernels, copies, calls, collectives, costs
  bool args = true;
};

class StoreReader {
 public:
  const std::vector<StoredRun>& runs() const { return runs_; }
  Result<StoredRun> run(std::int64_t id) const;
  Result<StoredRun> run_labelled(std::string_view label) const;
  // Warnings in words: which runs were not finished, and what that means.
  const Problems& problems() const { return problems_; }

  Result<Timeline> load(std::int64_t run_id, const ReadOptions& options = {});
  // The same rows as load(), in batches, for a sink that keeps less in memory.
  Result<void> read(std::int64_t run_id, TimelineSink& sink, const ReadOptions& options = {});
  // The args of one slice; "" if it has none.
  Result<std::string> args_of(std::int64_t run_id, SliceId slice);

 private:
  friend Result<StoreReader> open_store(const std::string& path);
  explicit StoreReader(sqlite::Database database) : database_(std::move(database)) {}
  Result<void> list_runs();

  sqlite::Database database_;
  std::vector<StoredRun> runs_;
  Problems problems_;
};

Result<StoreReader> open_store(const std::string& path);

}  // namespace stave
