// Writes a stored run in another tool's format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "profiles/export/exporter.h"
#include "workbench/report_json.h"

namespace stave {

struct ExportJob {
  std::string run_file{};
  std::optional<std::string> label{};  // of the run, where the file holds several
  std::string output{};
  std::string format{};  // empty: from the output's name
  std::string window{};  // as for window_of()
  std::vector<std::uint32_t> ranks{};
  std::uint32_t width = 1280;
  bool replace = false;  // an output that is there
};

struct Exported {
  const Exporter* exporter = nullptr;
  ExportReport report{};
  RunLabel run{};
  std::string window{};
  Problems problems{};  // warnings and notes: STV0712, STV0964, STV0965
};

// The output grows as NAME.partial. STV0960-STV0963: cannot be done. STV0950:
// cancelled, nothing is kept. Another error names the output if writing failed.
Result<Exported> export_run(const ExportJob& job, Progress* progress);

// Whether the problem is the output's, not the input's.
bool is_output_problem(const Problem& problem, const ExportJob& job);

// What was written, a line each.
std::string export_text(const Exported& exported, const ExportJob& job);
// schema stave.export/1.
std::string export_json(const Exported& exported, const ExportJob& job);

}  // namespace stave
