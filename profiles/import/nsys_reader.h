// The rows of one table of an export, read ahead in blocks: SQLite takes half of
// the time of an import, so a long table is read on a thread of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/import/nsys_tables.h"

namespace stave {

// Longer texts of a file are cut.
inline constexpr std::size_t most_text = 65536;

struct NsysBlock {
  // Texts, reals and blobs, with what SQLite makes of one that is asked for as a number.
  struct Other {
    std::int64_t integer = 0;
    double real = 0;
    std::size_t text = 0;  // in `texts`
    std::size_t size = 0;
  };
  std::size_t rows = 0;
  std::vector<std::int64_t> values{};  // row by row; an Other's position in `others`
  std::vector<sqlite::Kind> kinds{};   // of the values
  std::vector<Other> others{};
  std::string texts{};
};

// A row of a block. Columns count as they were asked for; one that the table lacks is NULL.
class NsysRecord {
 public:
  NsysRecord(const NsysBlock& block, std::span<const int> places, std::size_t first)
      : block_(&block), places_(places.data()), first_(first) {}

  bool is_null(int column) const { return kind(column) == sqlite::Kind::Null; }
  bool is_integer(int column) const { return kind(column) == sqlite::Kind::Integer; }
  std::int64_t integer(int column) const {
    const sqlite::Kind is = kind(column);
    return is == sqlite::Kind::Integer ? value(column) : is == sqlite::Kind::Null ? 0 : other(column).integer;
  }
  std::optional<std::int64_t> maybe_integer(int column) const {
    if (is_null(column)) return std::nullopt;
    return integer(column);
  }
  // None where it is no number, and no text of one.
  std::optional<std::int64_t> number(int column) const;
  bool is_told(int column) const { return places_[column] >= 0; }  // the table has it
  double real(int column) const {
    const sqlite::Kind is = kind(column);
    if (is == sqlite::Kind::Other) return other(column).real;
    return is == sqlite::Kind::Null ? 0 : static_cast<double>(value(column));
  }
  // "" for NULL and for integers.
  std::string_view text(int column) const {
    if (kind(column) != sqlite::Kind::Other) return {};
    return std::string_view(block_->texts).substr(other(column).text, other(column).size);
  }
  // The same, and an integer's digits.
  std::string written(int column) const {
    return is_integer(column) ? std::to_string(value(column)) : std::string(text(column));
  }

 private:
  std::size_t at(int column) const { return first_ + static_cast<std::size_t>(places_[column]); }
  sqlite::Kind kind(int column) const { return places_[column] < 0 ? sqlite::Kind::Null : block_->kinds[at(column)]; }
  std::int64_t value(int column) const { return block_->values[at(column)]; }
  const NsysBlock::Other& other(int column) const { return block_->others[static_cast<std::size_t>(value(column))]; }

  const NsysBlock* block_;
  const int* places_;
  std::size_t first_;
};

class NsysReader {
 public:
  // The database is the reader's until it goes. `by_first`: in the order of the first column.
  // Without the table there are no rows.
  static Result<NsysReader> open(sqlite::Database& database, const NsysTables& tables, std::string_view table,
                                 std::span<const std::string_view> columns, bool by_first = false);
  NsysReader(NsysReader&&) noexcept;
  NsysReader& operator=(NsysReader&&) = delete;
  ~NsysReader();

  // The next rows, which live until the next call; null at the end. An error comes after the rows before it.
  Result<const NsysBlock*> next();
  NsysRecord row(const NsysBlock& block, std::size_t i) const { return {block, places_, i * width_}; }

 private:
  class Ahead;
  NsysReader();

  std::vector<int> places_;  // by column asked for: that of the SELECT, or -1
  std::size_t width_ = 0;    // columns of the SELECT
  std::unique_ptr<Ahead> ahead_;
};

}  // namespace stave
