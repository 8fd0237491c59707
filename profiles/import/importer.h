// What reads other tools' traces into a timeline: one file a format, one line
// in the table. A trace is suspicious data: what cannot be read is counted,
// located, and left out; only a file of which nothing can be read is an error.
//
// Codes: STV0730 unknown format, STV0731 nothing readable, STV0732 a report
// that its own program must export first, STV0733 files that do not go
// together; what is counted has STV0740 and up (problem_counts.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/timeline/run_info.h"
#include "core/timeline/sink.h"

namespace stave {

struct ImportOptions {
  std::string label = "imported";  // of the run
  bool args = true;                // keep each event's own arguments
};

// What was read, beside the rows that the sink got.
struct ImportReport {
  std::string format;
  std::string format_version;
  std::size_t files = 0;
  std::int64_t slices = 0;
  std::int64_t kernels = 0;   // GPU kernels, collectives among them
  std::int64_t copies = 0;    // copies and memsets on a device
  std::int64_t calls = 0;     // of the CUDA or HIP API
  std::int64_t orphans = 0;   // kernels, copies and memsets whose call the file does not have
  std::int64_t overlaps = 0;  // kernels that start before another of their stream ended
  std::int64_t flows = 0;
  std::int64_t inferred_flows = 0;  // of `flows`: from the rules of docs/import.md, not from the file
  std::uint32_t ranks = 0;
  std::uint32_t steps = 0;
  bool data_lost = false;  // something of the files is not in the timeline
  std::vector<TimelineProblem> problems{};
};

// Files of one format, looked through once: what is known before the first row.
class Import {
 public:
  virtual ~Import() = default;
  virtual RunInfo run() const = 0;
  // Sends all rows. Call once. STV0950: cancelled; the rows so far were sent.
  virtual Result<ImportReport> read(TimelineSink& sink, Progress* progress) = 0;
};

struct Importer {
  std::string_view name;                       // "kineto"; the `format` of a SourceInfo
  std::string_view summary;                    // for lists: what it is, and the usual file names
  std::span<const std::string_view> suffixes;  // of its files in folders and archives
  // From the first bytes of a file, decompressed.
  bool (*recognise)(std::string_view head);
  // `paths`: several are several ranks.
  Result<std::unique_ptr<Import>> (*open)(std::span<const std::string> paths, const ImportOptions& options,
                                          Progress* progress);
};

std::span<const Importer> importers();
const Importer& importer_named(std::string_view name);  // must be there

inline constexpr std::size_t head_bytes = 65536;

// The importer of all the files. STV0730 lists the formats there are; STV0732
// says how to make a readable file.
Result<const Importer*> find_importer(std::span<const std::string> paths);

}  // namespace stave
