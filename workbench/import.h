// Reads other tools' traces into a run file, and says what was read.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "profiles/import/importer.h"

namespace stave {

struct ImportJob {
  std::vector<std::string> files;  // several are several ranks
  std::string output;              // the run file
  bool replace = false;            // an output that is no run file, too
  bool with_nsys = false;          // run `nsys export` for .nsys-rep files
  ImportOptions options{};
};

struct Imported {
  ImportReport report;
  RunInfo run;
  std::vector<SourceInfo> sources{};
};

// The output grows as NAME.partial. STV0730-STV0739: cannot be imported.
// STV0913: the output is no run file. STV0950: cancelled; what was read until
// then stays in NAME.partial. Another error names the output's file if writing
// it failed.
Result<Imported> import_traces(const ImportJob& job, Progress* progress);

// Whether the problem is the output's, not an input's.
bool is_output_problem(const Problem& problem, const ImportJob& job);

// Counts, one a line.
std::string import_text(const Imported& imported, const ImportJob& job);
// schema stave.import/1.
std::string import_json(const Imported& imported, const ImportJob& job);

}  // namespace stave
