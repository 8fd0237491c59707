#include "profiles/store_writer.h"

#include <filesystem>
#include <limits>
#include <system_error>

#include "core/base/sha256.h"
#include "profiles/store_writer_state.h"

namespace stave {
namespace {

using sqlite::Database;
using sqlite::Statement;
using sqlite::Transaction;

Result<std::optional<std::int64_t>> add_text(Database& db, std::string_view kind, const std::string& text) {
  if (text.empty()) return std::optional<std::int64_t>{};
  const std::string hash = sha256(text);
  TRY(Statement insert, db.prepare("INSERT INTO STAVE_TEXT(kind, sha256, text) VALUES(?,?,?) ON CONFLICT DO NOTHING"));
  TRY_VOID(insert.run(kind, hash, text));
  TRY(Statement find, db.prepare("SELECT text_id FROM STAVE_TEXT WHERE sha256 = ?"));
  find.start(hash);
  TRY_VOID(find.step());
  return std::optional<std::int64_t>(find.integer(0));
}

}  // namespace

Result<void> StoreWriter::State::add_run(const RunInfo& info) {
  Database& db = *database;
  TRY(Statement same_label, db.prepare("SELECT run_id FROM STAVE_RUN WHERE label = ?"));
  same_label.start(info.label);
  TRY(const bool taken, same_label.step());
  if (taken) return error_at({.file = path}, "STV0708", "the file has a run named \"{}\" already", info.label);
  if (info.parent_run) {
    TRY(Statement parent, db.prepare("SELECT run_id FROM STAVE_RUN WHERE run_id = ?"));
    parent.start(*info.parent_run);
    TRY(const bool found, parent.step());
    if (!found) return error_at({.file = path}, "STV0709", "the file has no run {} to be the parent", *info.parent_run);
  }
  TRY(const auto schedule, add_text(db, "schedule", info.schedule_text));
  TRY(const auto machine, add_text(db, "machine", info.machine_text));
  TRY(run, db.integer("SELECT coalesce(max(run_id), 0) + 1 FROM STAVE_RUN"));
  TRY(Statement insert_run, db.prepare("INSERT INTO STAVE_RUN VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  TRY_VOID(insert_run.run(run, info.label, name_of(info.kind), text_or_null(info.mode), schedule, machine,
                          info.parent_run, text_or_null(info.edit), info.base_unix_ns, info.world_size, info.tool,
                          info.tool_version, text_or_null(info.options_json), 0));
  TRY(Statement insert_first, db.prepare("INSERT INTO STAVE_FIRST VALUES(?,?,?)"));
  for (std::size_t i = 0; i < first.size(); ++i) {
    TRY(first[i], db.integer(fmt::format("SELECT coalesce(max(rowid), 0) + 1 FROM {}", store_schema::numbered[i])));
    // With ids near the largest possible SQLite would choose free ones at random.
    if (first[i] < 1 || first[i] > std::numeric_limits<std::uint32_t>::max())
      return error_at({.file = path}, "STV0706", "damaged or full: the next id in {} would be {}",
                      store_schema::numbered[i], first[i]);
    TRY_VOID(insert_first.run(run, std::string_view(store_schema::numbered[i]), first[i]));
  }
  TRY(next_name, db.integer("SELECT coalesce(max(name_id), 0) + 1 FROM STAVE_NAME"));
  shared_names = next_name > 1;
  pending_first = first[store_schema::Slice];
  return {};
}

// Once the run says that it is complete, the file must need nothing beside it:
// so leave WAL first. One flush at the end, before the name, is enough.
Result<void> StoreWriter::State::finish() {
  Database& db = *database;
  {
    TRY(Transaction transaction, Transaction::begin(db));
    TRY_VOID(flush_chunk());
    TRY_VOID(transaction.commit());
  }
  insert.reset();
  TRY_VOID(db.execute("PRAGMA synchronous = OFF"));
  {
    TRY(Statement leave_wal, db.prepare("PRAGMA journal_mode = DELETE"));
    TRY(const bool row, leave_wal.step());
    if (!row || leave_wal.text(0) != "delete")
      return error_at({.file = partial}, "STV0715", "in use by another program; close it there to finish the file");
  }
  {
    TRY(Statement complete, db.prepare("UPDATE STAVE_RUN SET complete = 1 WHERE run_id = ?"));
    TRY_VOID(complete.run(run));
  }
  TRY_VOID(db.close());
  database.reset();
  TRY(const FileIdentity now, identity_of(partial));
  if (!(now == identity))
    return error_at({.file = partial}, "STV0711", "another program replaced the file while this one wrote it");
  return publish_file(partial, path);
}

StoreWriter::StoreWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
StoreWriter::StoreWriter(StoreWriter&&) noexcept = default;
StoreWriter& StoreWriter::operator=(StoreWriter&&) noexcept = default;
StoreWriter::~StoreWriter() = default;

Result<StoreWriter> StoreWriter::create(const std::string& path, const RunInfo& run, IfExists if_exists) {
  if (path.empty()) return error_at({}, "STV0702", "a run file needs a name");
  TRY_VOID(check_folder_of(path));
  if (run.label.empty()) return error_at({.file = path}, "STV0708", "a run needs a label");
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular)
    return error_at({.file = path}, "STV0702", "a run is stored in a regular file; this is a folder or a device");
  Result<StoreWriter> writer = start(path, run, if_exists);
  // Nothing was recorded yet that a reader of NAME.partial could want.
  if (writer) return writer;
  const std::string partial = path + ".partial";
  (void)remove_database(partial);
  return Failure(told_of(path, partial, std::move(writer).problems()));
}

Result<StoreWriter> StoreWriter::start(const std::string& path, const RunInfo& run, IfExists if_exists) {
  auto state = std::make_unique<State>();
  state->path = path;
  state->partial = path + ".partial";
  state->check = BatchCheck({.file = path});
  TRY_VOID(remove_database(state->partial));
  std::error_code error;
  if (if_exists == IfExists::Append && std::filesystem::exists(path, error)) {
    {
      TRY(Database existing, open_run_file(path, sqlite::Access::Read));
      TRY(const std::int64_t incomplete, existing.integer("SELECT count(*) FROM STAVE_RUN WHERE complete = 0"));
      if (incomplete > 0)
        return error_at({.file = path}, "STV0712", "cannot add a run: {} of its runs were not finished", incomplete);
    }
    std::filesystem::copy_file(path, state->partial, error);
    if (error) return error_at({.file = state->partial}, "STV0701", "cannot write: {}", error.message());
    TRY(state->database, open_run_file(state->partial, sqlite::Access::Write));
  } else {
    TRY(state->database, create_run_file(state->partial));
  }
  TRY(state->identity, identity_of(state->partial));
  Database& db = *state->database;
  {
    TRY(Transaction transaction, Transaction::begin(db));
    TRY_VOID(state->add_run(run));
    TRY_VOID(transaction.commit());
  }
  // A checkpoint copies the log into the file; a rare one writes a page that is filled step by step once.
  TRY_VOID(
      db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 8192; "
                 "PRAGMA cache_size = -16384;"));
  state->insert.emplace();
  return StoreWriter(std::move(state));
}

std::int64_t StoreWriter::run_id() const { return state_->run; }

Result<void> StoreWriter::State::open() const {
  if (failed) return error_at({.file = path}, "STV0710", "the file takes nothing more after an error");
  if (closed) return error_at({.file = path}, "STV0710", "the file is closed");
  return {};
}

Result<void> StoreWriter::close() {
  TRY_VOID(state_->open());
  Result<void> finished = state_->finish();
  state_->failed = !finished;
  state_->closed = true;
  return finished;
}

void StoreWriter::discard() {
  state_->insert.reset();
  state_->database.reset();
  const Result<FileIdentity> now = identity_of(state_->partial);
  if (now && *now == state_->identity) (void)remove_database(state_->partial);
  state_->closed = true;
}

}  // namespace stave
