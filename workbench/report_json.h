// The JSON of `sim` and `report` (docs/json/): key order and meaning are the
// contract; within a schema's number only additions.
#pragma once

#include <optional>
#include <string>

#include "analysis/report.h"
#include "core/base/json.h"
#include "core/base/result.h"

namespace stave {

// RUN of the contract. Empty strings print as null.
struct RunLabel {
  std::string label;
  std::string kind;
  std::string mode;
  std::string file;  // as given on the command line
  std::string schedule;
  std::string schedule_sha256;
  std::string machine;
  std::string machine_sha256;
  std::size_t ranks_count = 0;        // in the file
  std::size_t world_ranks_count = 0;  // of the program
  std::size_t steps_count = 0;
};

// Begins the document: schema, stave_version, problems, without closing it.
void begin_document(JsonWriter& json, std::string_view schema, const Problems& problems);
// schema stave.error/1.
std::string error_json(const Problems& problems);

// An empty text prints as null.
inline std::optional<std::string_view> unless_empty(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
// Lines and columns count from 1; 0, not known, prints as null.
std::optional<std::uint32_t> unless_zero(std::uint32_t value);
void write_problems(JsonWriter& json, const Problems& problems);
// With its notes as further lines of its message: `problems[]` has no notes.
Problem flattened(Problem problem);
void write_run(JsonWriter& json, const RunLabel& run);
void write_ranks(JsonWriter& json, const Report& report);
void write_path(JsonWriter& json, const Timeline& timeline, const Report& report);

// schema stave.report/1.
std::string report_json(const Timeline& timeline, const Report& report, const RunLabel& run, const Problems& problems);

}  // namespace stave
