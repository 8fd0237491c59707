#include "profiles/store_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/timeline/rows.h"
#include "profiles/schema.h"

namespace stave {
namespace {

// Offsets in SQLite's file header (sqlite.org/fileformat2.html#the_database_header).
constexpr std::size_t header_bytes = 100;
constexpr std::size_t page_size_at = 16, change_counter_at = 24, page_count_at = 28, valid_for_at = 92;

std::uint32_t big_endian(const unsigned char* at, int bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

class File {
 public:
  explicit File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

// SQLite reports a missing tail only when a query comes to it, or takes what is left for an older file.
Result<void> check_header(const std::string& path) {
  const File file(path, O_RDONLY);
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0)
    return error_at({.file = path}, "STV0702", "cannot open: {}", std::strerror(errno));
  if (S_ISDIR(info.st_mode)) return error_at({.file = path}, "STV0702", "cannot open: it is a folder");
  std::array<unsigned char, header_bytes> header{};
  const ssize_t got = ::read(file.get(), header.data(), header.size());
  if (got < 0) return error_at({.file = path}, "STV0702", "cannot read: {}", std::strerror(errno));
  if (got == 0) return error_at({.file = path}, "STV0703", "not a run file: it is empty");
  constexpr std::string_view magic{"SQLite format 3\0", 16};
  const auto length = static_cast<std::size_t>(got);
  if (length < magic.size() || std::memcmp(header.data(), magic.data(), magic.size()) != 0)
    return error_at({.file = path}, "STV0703", "not a run file: it does not start as an SQLite database does");
  if (length < header_bytes)
    return error_at({.file = path}, "STV0706", "cut short: {} bytes are left, the header alone has {}", length,
                    header_bytes);
  const std::uint32_t stored_size = big_endian(&header[page_size_at], 2);
  const std::uint64_t page_size = stored_size == 1 ? 65536 : stored_size;
  const std::uint64_t pages = big_endian(&header[page_count_at], 4);
  const bool count_is_valid =
      big_endian(&header[change_counter_at], 4) == big_endian(&header[valid_for_at], 4) && pages != 0;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (count_is_valid && size < pages * page_size && !exists(path + "-wal") && !exists(path + "-journal"))
    return error_at({.file = path}, "STV0706", "cut short: {} of {} bytes are left", size, pages * page_size);
  return {};
}

// Every table must be the one that create_run_file() makes: not a view, a
// virtual table or a table whose columns or checks compute something.
Result<void> check_schema(sqlite::Database& database) {
  const std::string& path = database.path();
  TRY(const std::int64_t application, database.integer("PRAGMA application_id"));
  TRY(const std::int64_t version, database.integer("PRAGMA user_version"));
  if (application != store_schema::application_id)
    return error_at({.file = path}, "STV0704",
                    "an SQLite database, but not a run file of Stave: its application_id is {:#x}, not {:#x}",
                    static_cast<std::uint32_t>(application), store_schema::application_id);
  if (version > store_schema::version)
    return error_at({.file = path}, "STV0705", "written by a newer Stave: schema {}, this version reads up to {}",
                    version, store_schema::version);
  if (version < store_schema::version)
    return error_at({.file = path}, "STV0706", "damaged: schema {}; the first is {}", version, store_schema::version);
  TRY(sqlite::Statement find, database.prepare("SELECT type, sql FROM sqlite_schema WHERE name = ?"));
  for (const store_schema::Table& table : store_schema::tables()) {
    find.start(std::string_view(table.name));
    TRY(const bool found, find.step());
    if (!found) return error_at({.file = path}, "STV0706", "damaged: table {} is missing", table.name);
    if (find.text(0) != "table" || find.text(1) != table.sql)
      return error_at({.file = path}, "STV0706", "damaged: {} is not the table of schema {}", table.name, version);
    find.reset();
  }
  return {};
}

Result<void> fill_enums(sqlite::Database& database) {
  TRY(sqlite::Statement insert, database.prepare("INSERT INTO STAVE_ENUM VALUES(?, ?, ?)"));
  using namespace std::string_view_literals;
  for (std::uint8_t i = 0; i < family_count; ++i) TRY_VOID(insert.run("family"sv, i, name_of(static_cast<Family>(i))));
  for (std::uint8_t i = 0; i < flow_kind_count; ++i)
    TRY_VOID(insert.run("flow_kind"sv, i, name_of(static_cast<FlowKind>(i))));
  for (std::uint8_t i = 0; i < certainty_count; ++i)
    TRY_VOID(insert.run("certainty"sv, i, name_of(static_cast<Certainty>(i))));
  TRY_VOID(insert.run("slice_flag"sv, slice_flags::clamped, "clamped"sv));
  TRY_VOID(insert.run("slice_flag"sv, slice_flags::orphan, "orphan"sv));
  TRY_VOID(insert.run("slice_flag"sv, slice_flags::extrapolated, "extrapolated"sv));
  TRY_VOID(insert.run("slice_flag"sv, slice_flags::guessed_command, "guessed_command"sv));
  return insert.run("slice_flag"sv, slice_flags::waits, "waits"sv);
}

}  // namespace

Result<sqlite::Database> open_run_file(const std::string& path, sqlite::Access access) {
  TRY_VOID(check_header(path));
  TRY(sqlite::Database database, sqlite::Database::open(path, access));
  Result<void> checked = check_schema(database);
  if (!checked && access == sqlite::Access::Read && exists(path + "-journal")) {
    // A killed writer left half a transaction; only a connection that may write can undo it.
    TRY(database, sqlite::Database::open(path, sqlite::Access::Write));
    checked = check_schema(database);
  }
  if (!checked) return Failure(std::move(checked).problems());
  return database;
}

Result<sqlite::Database> create_run_file(const std::string& path) {
  TRY(sqlite::Database database, sqlite::Database::open(path, sqlite::Access::Create));
  // Without flushes: until the writer adds rows there is nothing to lose.
  const std::string pragmas = fmt::format(
      "PRAGMA page_size = {}; PRAGMA synchronous = OFF; PRAGMA application_id = {}; PRAGMA user_version = {};",
      store_schema::page_size, store_schema::application_id, store_schema::version);
  TRY_VOID(database.execute(pragmas.c_str()));
  TRY(sqlite::Transaction transaction, sqlite::Transaction::begin(database));
  for (const store_schema::Table& table : store_schema::tables()) TRY_VOID(database.execute(table.sql));
  for (const char* view : store_schema::views()) TRY_VOID(database.execute(view));
  TRY_VOID(fill_enums(database));
  TRY_VOID(transaction.commit());
  return database;
}

Result<void> check_folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos || slash == 0) return {};
  const std::string folder = path.substr(0, slash);
  struct stat info {};
  const int why = ::stat(folder.c_str(), &info) == 0 ? 0 : errno;
  if (why == ENOENT) return error_at({.file = path}, "STV0702", "cannot write: the folder {} does not exist", folder);
  if (why == ENOTDIR || (why == 0 && !S_ISDIR(info.st_mode)))
    return error_at({.file = path}, "STV0702", "cannot write: {} is not a folder", folder);
  return {};
}

Problems told_of(const std::string& path, const std::string& partial, Problems problems) {
  for (Problem& problem : problems)
    if (problem.place.file.starts_with(partial)) problem.place.file = path;
  return problems;
}

Result<void> remove_database(const std::string& path) {
  for (const char* suffix : {"-wal", "-shm", "-journal", ""})
    if (::unlink((path + suffix).c_str()) != 0 && errno != ENOENT)
      return error_at({.file = path + suffix}, "STV0701", "cannot remove: {}", std::strerror(errno));
  return {};
}

Result<FileIdentity> identity_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    return error_at({.file = path}, "STV0702", "cannot open: {}", std::strerror(errno));
  return FileIdentity{static_cast<std::uint64_t>(info.st_dev), static_cast<std::uint64_t>(info.st_ino)};
}

Result<void> publish_file(const std::string& from, const std::string& to) {
  const auto fail = [&] { return error_at({.file = to}, "STV0701", "cannot write: {}", std::strerror(errno)); };
  struct stat there {};
  if (::stat(to.c_str(), &there) == 0 && !S_ISREG(there.st_mode))
    return error_at({.file = to}, "STV0701", "it is no file, and would be replaced by one; name a file");
  {
    const File file(from, O_RDONLY);
    if (file.get() < 0 || ::fsync(file.get()) != 0) return fail();
  }
  if (std::rename(from.c_str(), to.c_str()) != 0) return fail();
  const std::size_t slash = to.rfind('/');
  const File folder(slash == std::string::npos ? "." : to.substr(0, slash + 1), O_RDONLY | O_DIRECTORY);
  // Some file systems cannot flush a folder; the rename stands.
  if (folder.get() >= 0) (void)::fsync(folder.get());
  return {};
}

}  // namespace stave
