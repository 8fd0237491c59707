#include "profiles/sqlite.h"

#include <sqlite3.h>

#include <cstring>

namespace stave::sqlite {
namespace {

std::string_view code_of(int rc) {
  switch (rc & 0xff) {
    case SQLITE_FULL:
    case SQLITE_IOERR: return "STV0701";
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY: return "STV0702";
    case SQLITE_NOTADB: return "STV0703";
    case SQLITE_CORRUPT: return "STV0706";
    case SQLITE_CONSTRAINT: return "STV0713";
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "STV0715";
    default: return "STV0700";
  }
}

Failure failure(sqlite3* handle, int rc, const std::string& path) {
  std::string why = handle ? sqlite3_errmsg(handle) : sqlite3_errstr(rc);
  const int primary = rc & 0xff;
  const int system = handle && (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN || primary == SQLITE_FULL)
                         ? sqlite3_system_errno(handle)
                         : 0;
  if (system != 0) why += std::string(": ") + std::strerror(system);
  return error_at({.file = path}, code_of(rc), "{}", why);
}

// sqlite3_filename rules: ":memory:" and an empty name are not files.
std::string file_name(const std::string& path) { return path.empty() || path[0] == ':' ? "./" + path : path; }

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

// Values stay where they are until execute() or the last step(), so nothing is copied.
void Statement::bind(int index, std::nullptr_t) { sqlite3_bind_null(statement_.get(), index); }
void Statement::bind(int index, double value) { sqlite3_bind_double(statement_.get(), index, value); }
void Statement::bind_integer(int index, std::int64_t value) { sqlite3_bind_int64(statement_.get(), index, value); }
void Statement::bind(int index, std::string_view value) {
  sqlite3_bind_text64(statement_.get(), index, value.data() ? value.data() : "", value.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
}
void Statement::bind(int index, Blob value) {
  sqlite3_bind_blob64(statement_.get(), index, value.data() ? value.data() : reinterpret_cast<const std::byte*>(""),
                      value.size(), SQLITE_STATIC);
}

Result<void> Statement::execute() {
  int rc = sqlite3_step(statement_.get());
  while (rc == SQLITE_ROW) rc = sqlite3_step(statement_.get());
  if (rc == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return {};
  }
  Failure why = failure(sqlite3_db_handle(statement_.get()), rc, *path_);
  sqlite3_reset(statement_.get());
  return why;
}

Result<bool> Statement::step() {
  const int rc = sqlite3_step(statement_.get());
  if (rc == SQLITE_ROW) return true;
  if (rc == SQLITE_DONE) {
    sqlite3_reset(statement_.get());
    return false;
  }
  Failure why = failure(sqlite3_db_handle(statement_.get()), rc, *path_);
  sqlite3_reset(statement_.get());
  return why;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
bool Statement::is_integer(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string_view Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!text) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
Blob Statement::blob(int column) const {
  const auto* bytes = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  if (!bytes) return {};
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
std::optional<std::int64_t> Statement::maybe_integer(int column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

Kind ScannedRow::look(std::size_t column, std::int64_t& integer) const {
  const int type = sqlite3_value_type(values_[column]);
  if (type == SQLITE_NULL) return Kind::Null;
  if (type != SQLITE_INTEGER) return Kind::Other;
  integer = sqlite3_value_int64(values_[column]);
  return Kind::Integer;
}
std::int64_t ScannedRow::integer(std::size_t column) const { return sqlite3_value_int64(values_[column]); }
double ScannedRow::real(std::size_t column) const { return sqlite3_value_double(values_[column]); }
std::string_view ScannedRow::text(std::size_t column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(values_[column]));
  if (!text) return {};
  return {text, static_cast<std::size_t>(sqlite3_value_bytes(values_[column]))};
}

Result<Database> Database::open(const std::string& path, Access access) {
  if (path.find('\0') != std::string::npos) return error_at({}, "STV0702", "a path holds a zero byte");
  int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const bool salvage = access == Access::Salvage;
  if (access == Access::Read || salvage) flags |= SQLITE_OPEN_READONLY;
  if (access == Access::Write) flags |= SQLITE_OPEN_READWRITE;
  if (access == Access::Create) flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  Database database;
  database.path_ = std::make_unique<std::string>(path);
  sqlite3* handle = nullptr;
  const int rc = sqlite3_open_v2(file_name(path).c_str(), &handle, flags, nullptr);
  database.handle_.reset(handle);
  if (rc != SQLITE_OK) return failure(handle, rc, path);
  const auto configure = [&](int option, int on) { return sqlite3_db_config(handle, option, on, nullptr); };
  const bool configured = configure(SQLITE_DBCONFIG_DEFENSIVE, salvage ? 0 : 1) == SQLITE_OK &&
                          configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0) == SQLITE_OK &&
                          configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0) == SQLITE_OK &&
                          configure(SQLITE_DBCONFIG_ENABLE_VIEW, 0) == SQLITE_OK &&
                          configure(SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0) == SQLITE_OK &&
                          configure(SQLITE_DBCONFIG_DQS_DML, 0) == SQLITE_OK;
  if (!configured) return error_at({.file = path}, "STV0700", "this SQLite cannot be set up to open foreign files");
  sqlite3_busy_timeout(handle, 2000);
  TRY_VOID(database.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;"));
  // The only way around SQLite's look at the file's length; nothing can be written.
  if (salvage) TRY_VOID(database.execute("PRAGMA writable_schema = ON"));
  return database;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int rc = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                    &statement, nullptr);
  if (rc != SQLITE_OK) return failure(handle_.get(), rc, *path_);
  return Statement(statement, path_.get());
}

// The rows go as arguments to an aggregate function of ours: no step and no result row for each.
Result<void> Database::scan(std::string_view select, std::size_t columns,
                            const std::function<bool(const ScannedRow&)>& take) {
  struct Taker {
    const std::function<bool(const ScannedRow&)>& take;
    bool stopped = false;
  } taker{take};
  const auto row = [](sqlite3_context* context, int, sqlite3_value** values) {
    auto& to = *static_cast<Taker*>(sqlite3_user_data(context));
    if (!to.stopped && to.take(ScannedRow(values))) return;
    to.stopped = true;
    sqlite3_result_error(context, "enough", -1);
  };
  const int rc = sqlite3_create_function_v2(
      handle_.get(), "stave_take", -1, SQLITE_UTF8 | SQLITE_DIRECTONLY, &taker, nullptr, row, [](sqlite3_context*) {},
      nullptr);
  if (rc != SQLITE_OK) return failure(handle_.get(), rc, *path_);
  std::string names;
  for (std::size_t i = 0; i < columns; ++i) names += (i == 0 ? "c" : ", c") + std::to_string(i);
  TRY(Statement statement, prepare("WITH scanned(" + names + ") AS (" + std::string(select) + ") SELECT stave_take(" +
                                   names + ") FROM scanned"));
  Result<void> done = statement.execute();
  if (taker.stopped) return {};
  return done;
}

Result<void> Database::execute(const char* sql) {
  const int rc = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr);
  if (rc != SQLITE_OK) return failure(handle_.get(), rc, *path_);
  return {};
}

Result<std::int64_t> Database::integer(std::string_view sql) {
  TRY(Statement statement, prepare(sql));
  TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

Result<void> Database::close() {
  sqlite3* handle = handle_.release();
  const int rc = sqlite3_close(handle);
  if (rc == SQLITE_OK) return {};
  handle_.reset(handle);
  return failure(handle, rc, *path_);
}

Result<Transaction> Transaction::begin(Database& database) {
  TRY_VOID(database.execute("BEGIN IMMEDIATE"));
  return Transaction(database);
}

Result<void> Transaction::commit() {
  TRY_VOID(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  // An error may have rolled back already; then this does nothing.
  if (database_) (void)database_->execute("ROLLBACK");
}

}  // namespace stave::sqlite
