// The life of a run file outside its tables: creation, recognition, the names
// on disk. Used by writer and reader only.
#pragma once

#include <string>

#include "profiles/sqlite.h"

namespace stave {

// Codes: STV0702 cannot open, STV0703 not a database, STV0704 a database but
// not a run file, STV0705 written by a newer Stave, STV0706 damaged or cut short.
Result<sqlite::Database> open_run_file(const std::string& path, sqlite::Access access);

// An empty database with the tables and views of the schema.
Result<sqlite::Database> create_run_file(const std::string& path);

// STV0702 if there is no folder for `path` to lie in.
Result<void> check_folder_of(const std::string& path);

// What went wrong with `partial`, or a file that SQLite keeps beside it, told of the
// file that it would have become: nobody asked for another.
Problems told_of(const std::string& path, const std::string& partial, Problems problems);

// Removes a database and what SQLite keeps beside it; missing files are no error.
Result<void> remove_database(const std::string& path);

// Names a file, to tell whether another took its place.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
Result<FileIdentity> identity_of(const std::string& path);

// Flushes `from` to the disk, names it `to`, flushes the folder.
Result<void> publish_file(const std::string& from, const std::string& to);

}  // namespace stave
