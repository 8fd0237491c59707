#include "profiles/store_reader.h"

#include "profiles/run_rows.h"
#include "profiles/store_file.h"

namespace stave {
namespace {

using sqlite::Statement;

constexpr std::string_view runs_sql =
    "SELECT r.run_id, r.label, r.kind, r.mode, r.world_size, r.tool, r.tool_version, r.options_json, r.parent_run_id, "
    "r.edit, r.base_unix_ns, r.complete, s.text, s.sha256, m.text, m.sha256, "
    "(SELECT first_id FROM STAVE_FIRST f WHERE f.run_id = r.run_id AND f.table_name = 'STAVE_SLICE'), "
    "(SELECT min(first_id) FROM STAVE_FIRST f WHERE f.run_id > r.run_id AND f.table_name = 'STAVE_SLICE'), "
    "(SELECT max(slice_id) + 1 FROM STAVE_SLICE) "
    "FROM STAVE_RUN r LEFT JOIN STAVE_TEXT s ON s.text_id = r.schedule_id "
    "LEFT JOIN STAVE_TEXT m ON m.text_id = r.machine_id ORDER BY r.run_id";

}  // namespace

Result<StoreReader> open_store(const std::string& path) {
  TRY(sqlite::Database database, open_run_file(path, sqlite::Access::Read));
  StoreReader reader(std::move(database));
  TRY_VOID(reader.list_runs());
  return reader;
}

Result<void> StoreReader::list_runs() {
  const std::string& path = database_.path();
  TRY(Statement row, database_.prepare(runs_sql));
  while (true) {
    TRY(const bool found, row.step());
    if (!found) break;
    StoredRun run;
    RunInfo& info = run.info;
    run.id = row.integer(0);
    info.label = row.text(1);
    const auto kind = run_kind_named(row.text(2));
    const std::int64_t world_size = row.integer(4);
    if (!kind || world_size < 0 || world_size > UINT32_MAX)
      return error_at({.file = path}, "STV0706", "damaged: run {} is of kind \"{}\" with {} ranks", run.id, row.text(2),
                      world_size);
    info.kind = *kind;
    info.mode = row.text(3);
    info.world_size = static_cast<std::uint32_t>(world_size);
    info.tool = row.text(5);
    info.tool_version = row.text(6);
    info.options_json = row.text(7);
    info.parent_run = row.maybe_integer(8);
    info.edit = row.text(9);
    info.base_unix_ns = row.maybe_integer(10);
    run.complete = row.integer(11) == 1;
    info.schedule_text = row.text(12);
    run.schedule_sha256 = row.text(13);
    info.machine_text = row.text(14);
    run.machine_sha256 = row.text(15);
    const std::int64_t first = row.integer(16);
    const std::int64_t end = row.is_null(17) ? row.integer(18) : row.integer(17);
    const std::int64_t slices = end > first && first > 0 ? end - first : 0;
    if (run.complete) run.slices_count = static_cast<std::uint64_t>(slices);
    if (!run.complete)
      problems_.push_back({Severity::Warning,
                           "STV0712",
                           fmt::format("run \"{}\" was not finished: it holds the {} slices that were written before "
                                       "its writer stopped, and what came after is missing",
                                       info.label, slices),
                           {.file = path},
                           {}});
    runs_.push_back(std::move(run));
  }
  if (runs_.empty())
    problems_.push_back({Severity::Warning,
                         "STV0712",
                         "the file holds no run: its writer stopped at once, or the file was copied without the "
                         "\"-wal\" file beside it",
                         {.file = path},
                         {}});
  return {};
}

Result<StoredRun> StoreReader::run(std::int64_t id) const {
  for (const StoredRun& run : runs_)
    if (run.id == id) return run;
  return error_at({.file = database_.path()}, "STV0709", "the file has no run {}; it has {} runs", id, runs_.size());
}

Result<StoredRun> StoreReader::run_labelled(std::string_view label) const {
  for (const StoredRun& run : runs_)
    if (run.info.label == label) return run;
  return error_at({.file = database_.path()}, "STV0709", "the file has no run named \"{}\"; it has {} runs", label,
                  runs_.size());
}

Result<Timeline> StoreReader::load(std::int64_t run_id, const ReadOptions& options) {
  TRY(const StoredRun stored, run(run_id));
  Timeline timeline;
  // A damaged file may promise any number; 16 M slices take 640 MB.
  timeline.reserve_slices(std::min<std::uint64_t>(stored.slices_count, std::uint64_t{1} << 24));
  TRY_VOID(read(run_id, timeline, options));
  return timeline;
}

Result<void> StoreReader::read(std::int64_t run_id, TimelineSink& sink, const ReadOptions& options) {
  TRY(const StoredRun stored, run(run_id));
  // One transaction: a writer that is still at work does not show half of what it adds.
  TRY_VOID(database_.execute("BEGIN"));
  Result<void> result = [&]() -> Result<void> {
    TRY(const RunRows rows, find_rows(database_, run_id));
    TRY_VOID(read_head(rows, sink));
    TRY_VOID(stored.complete ? read_slice_chunks(rows, sink) : read_slices(rows, sink));
    if (options.details) TRY_VOID(read_details(rows, sink));
    if (options.args) TRY_VOID(read_args(rows, sink));
    return read_tail(rows, sink);
  }();
  (void)database_.execute("COMMIT");
  return result;
}

Result<std::string> StoreReader::args_of(std::int64_t run_id, SliceId slice) {
  TRY(const RunRows rows, find_rows(database_, run_id));
  TRY(Statement find, database_.prepare("SELECT json FROM STAVE_ARGS WHERE slice_id = ?"));
  if (!slice) return std::string();
  find.start(rows.range[store_schema::Slice].first + slice.row());
  TRY(const bool found, find.step());
  return found ? std::string(find.text(0)) : std::string();
}

}  // namespace stave
