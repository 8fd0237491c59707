#include "core/machine/table_csv.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <tuple>

#include "core/machine/fields.h"

namespace stave {
namespace {

constexpr std::int64_t max_dimension = std::int64_t{1} << 40;
// 27 hours: a number beyond it is in the wrong unit.
constexpr std::int64_t max_time_ps = 100'000'000'000'000'000;

Place at(const std::string& file, std::size_t line, std::size_t column) {
  return {.file = file, .line = static_cast<std::uint32_t>(line), .column = static_cast<std::uint32_t>(column + 1)};
}

struct Cells {
  std::array<std::string_view, 8> text;
  std::array<std::size_t, 8> column{};
  std::size_t count = 0;
};

Cells split(std::string_view line) {
  Cells cells;
  std::size_t begin = 0;
  while (cells.count < cells.text.size()) {
    const std::size_t comma = line.find(',', begin);
    cells.text[cells.count] = line.substr(begin, comma == std::string_view::npos ? comma : comma - begin);
    cells.column[cells.count++] = begin;
    if (comma == std::string_view::npos) break;
    begin = comma + 1;
  }
  return cells;
}

// Reads lines under `header` and hands each one's cells on.
template <class Row>
Result<void> for_each_row(const std::string& file, std::string_view text, std::string_view header, const Row& row) {
  const std::size_t columns = static_cast<std::size_t>(std::count(header.begin(), header.end(), ',')) + 1;
  std::size_t line_number = 0, begin = 0, rows = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin = end + 1;
    if (++line_number == 1) {
      if (line != header) return error_at(at(file, 1, 0), "STV0607", "the first line must be \"{}\"", header);
      continue;
    }
    const Cells cells = split(line);
    if (cells.count != columns)
      return error_at(at(file, line_number, 0), "STV0607", "a row has {} cells ({}), got {}{}", columns, header,
                      cells.count, end == text.size() ? " at the end of the file: is it cut short?" : "");
    TRY_VOID(row(cells, line_number));
    ++rows;
  }
  if (rows == 0) return error_at({.file = file}, "STV0607", "a table needs the header \"{}\" and rows", header);
  if (!text.ends_with('\n'))
    return error_at(at(file, line_number, 0), "STV0607", "the last row has no newline: is the file cut short?");
  return {};
}

Result<std::int64_t> number(const std::string& file, const Cells& cells, std::size_t cell, std::size_t line,
                            std::string_view name, std::int64_t low, std::int64_t high) {
  const std::string_view text = cells.text[cell];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high)
    return error_at(at(file, line, cells.column[cell]), "STV0607",
                    "{} must be a whole number from {} to {}, got \"{}\"", name, low, high, text.substr(0, 40));
  return value;
}

template <class Row, class Key>
Result<void> no_row_twice(const std::string& file, const std::vector<Row>& rows, const Key& key) {
  std::vector<std::pair<decltype(key(rows[0])), std::size_t>> keys;
  for (std::size_t i = 0; i < rows.size(); ++i) keys.emplace_back(key(rows[i]), i);
  std::sort(keys.begin(), keys.end());
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys[i].first == keys[i - 1].first)
      return error_at(at(file, keys[i].second + 2, 0), "STV0610", "this row is given before, in line {}",
                      keys[i - 1].second + 2);
  return {};
}

}  // namespace

Result<std::vector<GemmRow>> parse_gemm_csv(const std::string& file, std::string_view text) {
  std::vector<GemmRow> rows;
  constexpr std::int64_t max_sms = 1 << 20;
  TRY_VOID(for_each_row(file, text, "m,n,k,sm_count,ctas,time_ps",
                        [&](const Cells& cells, std::size_t line) -> Result<void> {
                          GemmRow row;
                          TRY(row.m, number(file, cells, 0, line, "m", 1, max_dimension));
                          TRY(row.n, number(file, cells, 1, line, "n", 1, max_dimension));
                          TRY(row.k, number(file, cells, 2, line, "k", 1, max_dimension));
                          TRY(const std::int64_t sms, number(file, cells, 3, line, "sm_count", 0, max_sms));
                          TRY(const std::int64_t ctas, number(file, cells, 4, line, "ctas", 0, max_sms * 1024));
                          TRY(row.time_ps, number(file, cells, 5, line, "time_ps", 1, max_time_ps));
                          row.sm_count = static_cast<std::int32_t>(sms);
                          row.ctas = static_cast<std::int32_t>(ctas);
                          rows.push_back(row);
                          return {};
                        }));
  TRY_VOID(no_row_twice(file, rows, [](const GemmRow& r) { return std::tuple(r.m, r.n, r.k, r.sm_count); }));
  return rows;
}

Result<std::vector<CollectiveRow>> parse_collective_csv(const std::string& file, std::string_view text) {
  std::vector<CollectiveRow> rows;
  TRY_VOID(
      for_each_row(file, text, "op,ranks,bytes,time_ps", [&](const Cells& cells, std::size_t line) -> Result<void> {
        CollectiveRow row;
        const auto& known = machine_fields::collective_ops;
        if (std::find(std::begin(known), std::end(known), cells.text[0]) == std::end(known))
          return error_at(at(file, line, 0), "STV0612", "no collective is called \"{}\"", cells.text[0].substr(0, 40));
        row.op = cells.text[0];
        TRY(const std::int64_t ranks, number(file, cells, 1, line, "ranks", 1, 1 << 20));
        TRY(row.bytes, number(file, cells, 2, line, "bytes", 1, std::numeric_limits<std::int64_t>::max() / 4));
        TRY(row.time_ps, number(file, cells, 3, line, "time_ps", 1, max_time_ps));
        row.ranks = static_cast<std::int32_t>(ranks);
        rows.push_back(std::move(row));
        return {};
      }));
  TRY_VOID(no_row_twice(file, rows, [](const CollectiveRow& r) { return std::tuple(r.op, r.ranks, r.bytes); }));
  return rows;
}

}  // namespace stave
