// The tables of Nsight Systems' SQLite export, schema 3.24.14 (2026.1), as its
// program writes them: the names, order, types and NOT NULL of their columns.
#pragma once

#include <cstdint>
#include <span>

namespace stave::nsys_schema {

inline constexpr const char* version = "3.24.14";

std::span<const char* const> tables();

// Rows of an ENUM_ table.
struct Word {
  std::int64_t id;
  const char* name;
  const char* label;
};
struct Words {
  const char* table;
  std::span<const Word> rows;
};
std::span<const Words> words();

}  // namespace stave::nsys_schema
