// The tables and columns that an export has. Versions differ: everything is
// optional, names are found in any case and with a suffix _V2, _V3.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/sqlite.h"

namespace stave {

class NsysTables {
 public:
  // STV0731: it holds no table of an export. Views and triggers are not looked at.
  static Result<NsysTables> read(sqlite::Database& database);

  // The name to select from; "" if there is none.
  std::string table(std::string_view name) const;
  bool has(std::string_view table, std::string_view column) const;

  // "SELECT a, NULL, c FROM t": NULL for a column that is not there. "" without the table.
  std::string select(std::string_view table, std::span<const std::string_view> columns) const;

  // EXPORT_SCHEMA_VERSION, or "".
  const std::string& schema_version() const { return schema_version_; }

 private:
  struct Table {
    std::string name;
    std::set<std::string> columns;  // in lower case
  };
  std::map<std::string, Table, std::less<>> tables_;  // by lower-case name without suffix
  std::string schema_version_;
};

}  // namespace stave
