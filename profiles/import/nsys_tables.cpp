#include "profiles/import/nsys_tables.h"

#include <algorithm>

namespace stave {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

// Without _v2, _v3, ...
std::string_view stem(std::string_view name) {
  const std::size_t mark = name.rfind("_v");
  if (mark == std::string_view::npos || mark + 2 == name.size()) return name;
  const std::string_view digits = name.substr(mark + 2);
  return digits.find_first_not_of("0123456789") == std::string_view::npos ? name.substr(0, mark) : name;
}

std::string sql_name(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

}  // namespace

Result<NsysTables> NsysTables::read(sqlite::Database& database) {
  NsysTables out;
  std::vector<std::string> names;
  {
    // A virtual table has no page of its own; what it does is some module's code.
    TRY(sqlite::Statement list, database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                                                 "rootpage > 0 AND name NOT LIKE 'sqlite%' ORDER BY name"));
    while (true) {
      TRY(const bool row, list.step());
      if (!row) break;
      names.emplace_back(list.text(0));
    }
  }
  for (const std::string& name : names) {
    const std::string key = lower(name);
    const std::string base(stem(key));
    // The plain name wins over one with a suffix, a higher suffix over a lower.
    if (base == key || !out.tables_.contains(base) || lower(out.tables_[base].name) != base)
      out.tables_[base] = {name, {}};
  }
  for (auto& [key, table] : out.tables_) {
    TRY(sqlite::Statement columns, database.prepare("SELECT name FROM pragma_table_info(?)"));
    columns.start(table.name);
    while (true) {
      TRY(const bool row, columns.step());
      if (!row) break;
      table.columns.insert(lower(columns.text(0)));
    }
  }
  const bool ours = std::any_of(out.tables_.begin(), out.tables_.end(), [](const auto& table) {
    return table.first.starts_with("cupti_activity_kind_") || table.first == "nvtx_events";
  });
  if (!ours && !out.tables_.contains("meta_data_export"))
    return error_at({.file = database.path()}, "STV0731",
                    "nothing can be read: an SQLite database, but no export of Nsight Systems");
  if (out.has("META_DATA_EXPORT", "name") && out.has("META_DATA_EXPORT", "value")) {
    TRY(sqlite::Statement version,
        database.prepare(fmt::format("SELECT value FROM {} WHERE name = 'EXPORT_SCHEMA_VERSION'",
                                     sql_name(out.table("META_DATA_EXPORT")))));
    const Result<bool> row = version.step();
    if (row && *row) out.schema_version_ = version.text(0);
  }
  return out;
}

std::string NsysTables::table(std::string_view name) const {
  const auto at = tables_.find(lower(name));
  return at == tables_.end() ? "" : at->second.name;
}

bool NsysTables::has(std::string_view table, std::string_view column) const {
  const auto at = tables_.find(lower(table));
  return at != tables_.end() && at->second.columns.contains(lower(column));
}

std::string NsysTables::select(std::string_view table, std::span<const std::string_view> columns) const {
  const std::string name = this->table(table);
  if (name.empty()) return "";
  std::string sql = "SELECT ";
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) sql += ", ";
    sql += has(table, columns[i]) ? sql_name(columns[i]) : "NULL";
  }
  return sql + " FROM " + sql_name(name);
}

}  // namespace stave
