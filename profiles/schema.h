// The tables of a run file, schema 1. docs/store.md explains them.
//
// Times are picoseconds from the run's start. Ids count from 1 over the whole
// file; a run's rows in a table are the ids from STAVE_FIRST.first_id up to the
// next run's. Blobs are little-endian, fixed width, not compressed. Nothing is
// STRICT: a reader with SQLite before 3.37 could not open the file at all.
#pragma once

#include <cstdint>
#include <iterator>
#include <span>

namespace stave::store_schema {

inline constexpr std::int64_t version = 1;                  // PRAGMA user_version
inline constexpr std::int64_t application_id = 0x53544156;  // "STAV"

inline constexpr int page_size = 4096;

struct Table {
  const char* name;
  const char* sql;  // what sqlite_schema.sql holds, to the byte
};

// A file of this version holds these tables exactly so; others are not ours.
std::span<const Table> tables();
// For people and other tools. Stave's own connections cannot use views.
std::span<const char* const> views();

// The names in STAVE_FIRST of the tables that number their rows over all runs.
inline constexpr const char* numbered[] = {"STAVE_SOURCE", "STAVE_TRACK", "STAVE_COMMAND", "STAVE_SLICE",
                                           "STAVE_FLOW",   "STAVE_COST",  "STAVE_COUNTER"};
enum Numbered { Source, Track, Command, Slice, Flow, Cost, Counter };
inline constexpr std::size_t numbered_count = std::size(numbered);

}  // namespace stave::store_schema
