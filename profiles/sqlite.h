// SQLite's C API with owners and Results. Files may be hostile: opening one
// runs nothing in it. On every connection triggers, views, extensions and
// functions called by a schema are off, and defensive mode is on; all SQL of
// ours is text that a program holds, values are bound.
//
// Codes: STV0700 an error of SQLite, STV0701 cannot write (disk full),
// STV0702 cannot open, STV0703 not a database, STV0706 damaged,
// STV0713 a row breaks a constraint, STV0715 in use by another program.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/result.h"

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_value;

namespace stave::sqlite {

using Blob = std::span<const std::byte>;

enum class Kind : std::uint8_t { Null, Integer, Other };

class Statement {
 public:
  // Binds all parameters in order, runs to the end, and is ready to run again.
  template <class... Args>
  Result<void> run(const Args&... args) {
    int index = 0;
    (bind(++index, args), ...);
    return execute();
  }

  // One parameter, from 1; text and blobs must live until execute().
  template <class T>
  void put(int index, const T& value) {
    bind(index, value);
  }
  // Runs to the end with what is bound, and is ready to run again.
  Result<void> execute();

  // Binds all parameters in order, for step().
  template <class... Args>
  void start(const Args&... args) {
    reset();
    int index = 0;
    (bind(++index, args), ...);
  }
  // True: there is a row, whose columns count from 0 and live until the next step.
  Result<bool> step();
  void reset();

  bool is_null(int column) const;
  bool is_integer(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // "" for NULL
  Blob blob(int column) const;
  std::optional<std::int64_t> maybe_integer(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, const std::string* path) : statement_(statement), path_(path) {}

  void bind(int index, std::nullptr_t);
  void bind(int index, double value);
  void bind(int index, std::string_view value);
  void bind(int index, Blob value);
  void bind(int index, const std::string& value) { bind(index, std::string_view(value)); }
  void bind(int index, std::integral auto value) { bind_integer(index, static_cast<std::int64_t>(value)); }
  template <class T>
  void bind(int index, const std::optional<T>& value) {
    if (value)
      bind(index, *value);
    else
      bind(index, nullptr);
  }
  void bind_integer(int index, std::int64_t value);

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  const std::string* path_;  // the Database's; a statement does not outlive it
};

// A row of Database::scan(), while it is taken.
class ScannedRow {
 public:
  explicit ScannedRow(sqlite3_value** values) : values_(values) {}

  // What a column holds, and if an integer, which.
  Kind look(std::size_t column, std::int64_t& integer) const;
  // Converted where it holds something else, as SQLite does.
  std::int64_t integer(std::size_t column) const;
  double real(std::size_t column) const;
  std::string_view text(std::size_t column) const;

 private:
  sqlite3_value** values_;
};

// Salvage: as Read, also of a file that was cut; what its missing pages held is an error when it is read.
enum class Access { Read, Salvage, Write, Create };

class Database {
 public:
  static Result<Database> open(const std::string& path, Access access);

  Result<Statement> prepare(std::string_view sql);
  // All rows of a SELECT with `columns` columns, in 0.6 of the time that step() takes (9 integer columns), until
  // `take` says false. Nothing else uses the connection meanwhile.
  Result<void> scan(std::string_view select, std::size_t columns, const std::function<bool(const ScannedRow&)>& take);
  // One or more statements without parameters and rows that matter.
  Result<void> execute(const char* sql);
  // The first column of the first row; 0 without a row.
  Result<std::int64_t> integer(std::string_view sql);
  const std::string& path() const { return *path_; }
  // False when SQLite found an error that may leave it unable to close the file in order.
  Result<void> close();

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::unique_ptr<std::string> path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// BEGIN now, COMMIT with commit(), else ROLLBACK.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();
  Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace stave::sqlite
