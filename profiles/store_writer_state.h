// What a StoreWriter holds. Used by store_writer.cpp (the life of the file) and
// store_writer_rows.cpp (its rows) only.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "profiles/bulk_insert.h"
#include "profiles/schema.h"
#include "profiles/slice_chunk.h"
#include "profiles/store_file.h"
#include "profiles/store_writer.h"

namespace stave {

struct Inserts {
  sqlite::BulkInsert source{"STAVE_SOURCE", 7};
  sqlite::BulkInsert rank{"STAVE_RANK", 12};
  sqlite::BulkInsert track{"STAVE_TRACK", 12};
  sqlite::BulkInsert command{"STAVE_COMMAND", 10};
  sqlite::BulkInsert slice{"STAVE_SLICE", 11};
  sqlite::BulkInsert flow{"STAVE_FLOW", 5};
  sqlite::BulkInsert kernel{"STAVE_KERNEL", 17};
  sqlite::BulkInsert copy{"STAVE_COPY", 11};
  sqlite::BulkInsert call{"STAVE_API", 3};
  sqlite::BulkInsert args{"STAVE_ARGS", 2};
  sqlite::BulkInsert collective{"STAVE_COLLECTIVE", 14};
  sqlite::BulkInsert cost{"STAVE_COST", 8};
  sqlite::BulkInsert counter{"STAVE_COUNTER", 4};
  sqlite::BulkInsert step{"STAVE_STEP", 10};
  sqlite::BulkInsert problem{"STAVE_PROBLEM", 10};
  std::optional<sqlite::Statement> find_name{};
  std::optional<sqlite::Statement> name{};
};

struct StoreWriter::State {
  std::string path;
  std::string partial;
  FileIdentity identity;
  std::int64_t run = 0;
  std::array<std::int64_t, store_schema::numbered_count> first{};  // this run's first ids
  std::int64_t next_name = 1;
  bool shared_names = false;            // the file had names before this run
  std::vector<std::uint32_t> name_ids;  // the file's, by the run's
  std::vector<Slice> pending;           // for the next chunk; names are the file's
  std::int64_t pending_first = 0;
  ChunkColumns columns;
  BatchCheck check;
  bool failed = false;
  bool closed = false;
  std::optional<sqlite::Database> database;  // before its statements, so that they go first
  std::optional<Inserts> insert;

  std::optional<std::uint32_t> name_id(StringId id) const {
    return id ? std::optional(name_ids[id.value]) : std::nullopt;
  }
  std::int64_t slice_id(SliceId id) const { return first[store_schema::Slice] + id.row(); }
  std::int64_t track_id(TrackId id) const { return first[store_schema::Track] + id.value; }
  std::int64_t command_id(TimelineCommandId id) const { return first[store_schema::Command] + id.value; }

  Result<void> add_run(const RunInfo& info);
  Result<void> add_names(std::span<const std::string_view> names);
  Result<void> add_to_chunks(std::span<const Slice> slices);
  Result<void> flush_chunk();
  Result<void> finish();
  // An error if the writer takes nothing any more.
  Result<void> open() const;
};

inline std::optional<std::string_view> text_or_null(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

}  // namespace stave
