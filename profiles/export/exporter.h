// What writes a stored run in another tool's format: one file a format, one
// line in the table. A format that cannot hold something leaves it out and says so.
//
// Codes: STV0960 no such format, STV0961 nothing to write, STV0962 the output
// exists, STV0963 no such rank, STV0002 or STV0701 the disk; STV0964 and
// STV0965 are notes of what is not as in the run.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "profiles/export/run_cursor.h"

namespace stave {

struct ExportOptions {
  std::string title{};                         // of the run, for people
  std::optional<std::int64_t> base_unix_ns{};  // when time 0 was
  std::uint32_t world_size = 1;
  std::uint32_t width = 1280;  // of a picture, in pixels
};

struct ExportReport {
  std::int64_t slices = 0;
  std::int64_t edges = 0;
  std::int64_t samples = 0;                        // of counters
  std::int64_t shift_ns = 0;                       // was added to all times
  std::map<std::string, std::int64_t> left_out{};  // what the format has no place for: how many
};

struct Exporter {
  std::string_view name;       // "perfetto"; what --format takes
  std::string_view summary;    // for help
  std::string_view extension;  // ".pftrace"; files so named are of this format
  // Writes all of `path`, which nobody reads yet.
  Result<ExportReport> (*write)(RunCursor& run, const ExportOptions& options, const std::string& path,
                                Progress* progress);
};

std::span<const Exporter> exporters();

// By name, or if that is empty by the end of the file's name. STV0960 lists what there is.
Result<const Exporter*> find_exporter(std::string_view name, const std::string& path);

// For formats that have no place for the arguments of events.
Result<void> count_arguments(RunCursor& run, ExportReport& report);

// Steps for which a run has no range of the same time: in formats that know a step by its range, they go.
class StepRanges {
 public:
  explicit StepRanges(const RunCursor& run);
  void see(const SliceRow& row, const Track& track);
  void count(ExportReport& report) const;

 private:
  std::set<std::tuple<std::uint32_t, std::int64_t, std::int64_t>> left_;  // rank, start, end in ns
};

Result<ExportReport> export_perfetto(RunCursor& run, const ExportOptions& options, const std::string& path,
                                     Progress* progress);
Result<ExportReport> export_perfetto_gpu(RunCursor& run, const ExportOptions& options, const std::string& path,
                                         Progress* progress);
Result<ExportReport> export_nsys(RunCursor& run, const ExportOptions& options, const std::string& path,
                                 Progress* progress);
Result<ExportReport> export_chrome(RunCursor& run, const ExportOptions& options, const std::string& path,
                                   Progress* progress);
Result<ExportReport> export_csv(RunCursor& run, const ExportOptions& options, const std::string& path,
                                Progress* progress);
Result<ExportReport> export_svg(RunCursor& run, const ExportOptions& options, const std::string& path,
                                Progress* progress);

}  // namespace stave
