// The real program, run as a user runs it, and its JSON read with SQLite.
#pragma once

#include <sqlite3.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/temp_folder.h"

namespace stave {

struct Ran {
  int exit = -1;  // 124: it took longer than a minute
  std::string out;
  std::string err;
};

inline std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string quoted_for_shell(const std::string& word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// A folder to run in, in which `examples` are those of the source tree.
class Program {
 public:
  Program() {
    std::error_code ignored;
    std::filesystem::create_directory_symlink(STAVE_SOURCE_DIR "/examples", folder_ / "examples", ignored);
  }

  const TempFolder& folder() const { return folder_; }
  std::string operator/(const std::string& name) const { return folder_ / name; }

  // `before` is shell text in front of the command, as a limit; `stdout_to` a file instead of the result.
  Ran operator()(const std::vector<std::string>& arguments, const std::string& before = "",
                 const std::string& stdout_to = "") const {
    const std::string out = logs_ / "out", err = logs_ / "err";
    std::string command = "cd " + quoted_for_shell(folder_.path()) + " && " + before + " exec timeout 60 " STAVE_BINARY;
    for (const std::string& argument : arguments) command += " " + quoted_for_shell(argument);
    command +=
        " >" + quoted_for_shell(stdout_to.empty() ? out : stdout_to) + " 2>" + quoted_for_shell(err) + " </dev/null";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), stdout_to.empty() ? file_text(out) : "",
            file_text(err)};
  }

 private:
  TempFolder folder_;
  TempFolder logs_;
};

// Runs SQL over one JSON document, which is ?1; other parameters follow.
class Json {
 public:
  explicit Json(std::string text) : text_(std::move(text)) { sqlite3_open(":memory:", &database_); }
  Json(const Json&) = delete;
  Json& operator=(const Json&) = delete;
  ~Json() { sqlite3_close(database_); }

  using Row = std::vector<std::string>;  // SQL's NULL is "NULL"
  std::vector<Row> rows(const std::string& sql, const std::vector<std::string>& more = {}) const {
    std::vector<Row> all;
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
      return {{std::string("SQL: ") + sqlite3_errmsg(database_)}};
    sqlite3_bind_text(statement, 1, text_.c_str(), static_cast<int>(text_.size()), SQLITE_STATIC);
    for (std::size_t i = 0; i < more.size(); ++i)
      sqlite3_bind_text(statement, static_cast<int>(i) + 2, more[i].c_str(), -1, SQLITE_STATIC);
    int state = SQLITE_ROW;
    while ((state = sqlite3_step(statement)) == SQLITE_ROW) {
      Row row;
      for (int c = 0; c < sqlite3_column_count(statement); ++c) {
        const unsigned char* value = sqlite3_column_text(statement, c);
        row.push_back(value == nullptr ? "NULL" : reinterpret_cast<const char*>(value));
      }
      all.push_back(std::move(row));
    }
    if (state != SQLITE_DONE) all = {{std::string("SQL: ") + sqlite3_errmsg(database_)}};
    sqlite3_finalize(statement);
    return all;
  }
  std::string one(const std::string& sql, const std::vector<std::string>& more = {}) const {
    const std::vector<Row> all = rows(sql, more);
    return all.size() == 1 && all[0].size() == 1 ? all[0][0] : "not one value";
  }
  // The value at a path: "$.run.kind"; "NULL" if it is null or not there.
  std::string at(const std::string& path) const { return one("SELECT json_extract(?1, ?2)", {path}); }
  // Exactly one document: json_valid() takes nothing behind it.
  bool valid() const { return one("SELECT json_valid(?1)") == "1"; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  sqlite3* database_ = nullptr;
};

}  // namespace stave
