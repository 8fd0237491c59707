// The columns of one row of a run file, taken in order.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "core/timeline/rows.h"
#include "profiles/run_rows.h"

namespace stave {

// What does not fit its type, as a hostile or damaged file may have, is
// remembered and refused at the end.
class RowColumns {
 public:
  explicit RowColumns(const sqlite::Statement& row) : row_(row) {}

  std::int64_t i64() { return row_.integer(next_++); }
  std::uint32_t u32() { return narrow<std::uint32_t>(i64()); }
  std::uint16_t u16() { return narrow<std::uint16_t>(i64()); }
  std::uint8_t u8() { return narrow<std::uint8_t>(i64()); }
  double real() { return row_.real(next_++); }
  std::string text() { return std::string(row_.text(next_++)); }
  Picoseconds time() { return Picoseconds{i64()}; }
  std::optional<std::int64_t> maybe_i64() { return row_.maybe_integer(next_++); }
  std::optional<std::uint32_t> maybe_u32() {
    const auto value = maybe_i64();
    return value ? std::optional(narrow<std::uint32_t>(*value)) : std::nullopt;
  }
  std::optional<Picoseconds> maybe_time() {
    const auto value = maybe_i64();
    return value ? std::optional(Picoseconds{*value}) : std::nullopt;
  }
  // The file's ids from `first` on are ids from 0 here, `count` of them if that is known; NULL is none.
  template <class AnyId>
  AnyId id(std::int64_t first = 1, std::size_t count = std::numeric_limits<std::uint32_t>::max()) {
    const auto value = maybe_i64();
    if (!value) return AnyId{};
    const std::uint32_t at = offset(*value, first);
    fits_ = fits_ && at < count;
    return AnyId{at};
  }
  SliceId slice(const RowRange& range) { return SliceId{offset(i64(), range.first) + 1}; }
  template <class Enum>
  Enum word(std::optional<Enum> (*named)(std::string_view)) {
    const auto value = named(row_.text(next_++));
    fits_ = fits_ && value;
    return value.value_or(Enum{});
  }
  std::optional<LaunchDims> dims() {
    const auto x = maybe_u32(), y = maybe_u32(), z = maybe_u32();
    return x && y && z ? std::optional(LaunchDims{*x, *y, *z}) : std::nullopt;
  }
  std::uint32_t offset(std::int64_t value, std::int64_t first) {
    fits_ = fits_ && value >= first && value - first < std::numeric_limits<std::uint32_t>::max();
    return fits_ ? static_cast<std::uint32_t>(value - first) : 0;
  }
  bool null() const { return row_.is_null(next_); }  // the next one
  void skip(int columns) { next_ += columns; }
  bool fits() const { return fits_; }

 private:
  template <class T>
  T narrow(std::int64_t value) {
    fits_ = fits_ && value >= 0 && value <= std::numeric_limits<T>::max();
    return static_cast<T>(value);
  }

  const sqlite::Statement& row_;
  int next_ = 0;
  bool fits_ = true;
};

// The columns of STAVE_KERNEL and STAVE_COPY behind slice_id, in the tables' order; `names`: how many the file has.
inline KernelDetail kernel_detail(RowColumns& c, SliceId slice,
                                  std::size_t names = std::numeric_limits<std::uint32_t>::max()) {
  return {slice,         c.maybe_i64(), c.maybe_i64(), c.maybe_i64(),           c.dims(), c.dims(), c.dims(),
          c.maybe_u32(), c.maybe_u32(), c.maybe_u32(), c.id<StringId>(1, names)};
}
inline constexpr int kernel_detail_columns = 16;

inline CopyDetail copy_detail(RowColumns& c, SliceId slice) {
  return {slice,         c.i64() != 0,  c.maybe_i64(), c.maybe_i64(), c.maybe_i64(), c.maybe_u32(),
          c.maybe_u32(), c.maybe_u32(), c.maybe_u32(), c.maybe_u32(), c.maybe_u32()};
}
inline constexpr int copy_detail_columns = 10;

}  // namespace stave
