#include "workbench/export.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/report.h"
#include "core/base/utf8.h"
#include "profiles/store_file.h"
#include "workbench/open_run.h"

namespace stave {
namespace {

Result<TimeSpan> window_in(RunCursor& cursor, const std::string& text) {
  if (text.starts_with("range:")) {
    TRY(const std::optional<TimeSpan> range, cursor.range(text.substr(6)));
    if (!range) return error_at({}, "STV1900", "--window {}: the run has no range of that name", text);
    return *range;
  }
  TRY(const Window window, window_of(cursor.head(), text));
  return TimeSpan{window.span.begin, window.span.end};
}

Result<void> check_ranks(const RunCursor& cursor) {
  for (const std::uint32_t rank : cursor.filter().ranks) {
    const auto& tracks = cursor.head().tracks();
    if (std::none_of(tracks.begin(), tracks.end(), [&](const Track& track) { return track.rank == rank; }))
      return error_at({}, "STV0963", "--rank {}: the run has no such rank", rank);
  }
  return {};
}

// Removes what an export left, unless it got its name.
class Partial {
 public:
  explicit Partial(std::string path) : path_(std::move(path)) {}
  Partial(const Partial&) = delete;
  Partial& operator=(const Partial&) = delete;
  ~Partial() {
    std::error_code ignored;
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

bool is_output_problem(const Problem& problem, const ExportJob& job) {
  return problem.code != "STV0962" && problem.code != "STV0960" && problem.place.file.starts_with(job.output) &&
         problem.place.file != job.run_file;
}

Result<Exported> export_run(const ExportJob& job, Progress* progress) {
  Exported exported;
  TRY(exported.exporter, find_exporter(job.format, job.output));
  std::error_code error;
  if (std::filesystem::equivalent(job.run_file, job.output, error))
    return error_at({.file = job.output}, "STV0962", "it is the run that would be read; name another with -o");
  if (!job.replace && std::filesystem::exists(job.output, error))
    return error_at({.file = job.output}, "STV0962", "it exists; --yes replaces it");
  TRY_VOID(check_folder_of(job.output));
  TRY(const StoreReader reader, open_store(job.run_file));
  if (reader.runs().empty()) return error_at({.file = job.run_file}, "STV0709", "it holds no run");
  StoredRun run = reader.runs().front();
  if (job.label) {
    TRY(run, reader.run_labelled(*job.label));
  }
  exported.problems = reader.problems();
  TRY(RunCursor cursor, RunCursor::open(job.run_file, run.id, {.ranks = job.ranks}));
  exported.run = label_of(run, cursor.head(), job.run_file);
  TRY_VOID(check_ranks(cursor));
  exported.window = job.window.empty() ? "all" : job.window;
  if (exported.window != "all") {
    TRY(const TimeSpan window, window_in(cursor, job.window));
    cursor.set_window(window);
  }
  TRY(const RunCursor::Extent extent, cursor.extent());
  if (extent.slices == 0)
    return error_at({.file = job.run_file}, "STV0961", "nothing to write: no slice of the run is in {}{}",
                    job.window.empty() ? "it" : "--window " + job.window, job.ranks.empty() ? "" : " on these ranks");
  if (progress != nullptr) progress->begin("exporting", extent.slices);
  const Partial partial(job.output + ".partial");
  TRY_VOID(remove_database(partial.path()));
  const ExportOptions options{.title = run.info.label,
                              .base_unix_ns = run.info.base_unix_ns,
                              .world_size = run.info.world_size,
                              .width = job.width};
  Result<ExportReport> written = exported.exporter->write(cursor, options, partial.path(), progress);
  if (!written) return Failure(told_of(job.output, partial.path(), std::move(written).problems()));
  exported.report = *std::move(written);
  TRY_VOID(publish_file(partial.path(), job.output));
  if (exported.report.shift_ns != 0)
    exported.problems.push_back(
        {Severity::Note,
         "STV0964",
         fmt::format("the format has no times before 0: all are later by {} ns", exported.report.shift_ns),
         {.file = job.output},
         {}});
  for (const auto& [what, count] : exported.report.left_out)
    exported.problems.push_back(
        {Severity::Note,
         "STV0965",
         fmt::format("left out, as {} has no place for them: {} {}", exported.exporter->name, count, what),
         {.file = job.output},
         {}});
  return exported;
}

std::string export_text(const Exported& exported, const ExportJob& job) {
  const ExportReport& report = exported.report;
  std::string out = fmt::format("{}: {} slices", exported.exporter->name, report.slices);
  if (report.edges > 0) out += fmt::format(", {} edges", report.edges);
  if (report.samples > 0) out += fmt::format(", {} samples of counters", report.samples);
  return out + fmt::format("\nwritten to {}\n", printable(job.output));
}

std::string export_json(const Exported& exported, const ExportJob& job) {
  const ExportReport& report = exported.report;
  JsonWriter json;
  begin_document(json, "stave.export/1", exported.problems);
  json.key("run");
  write_run(json, exported.run);
  json.field("format", exported.exporter->name).field("window", exported.window);
  json.key("ranks").begin_array();
  for (const std::uint32_t rank : job.ranks) json.value(rank);
  json.end_array();
  json.field("slices_count", report.slices).field("edges_count", report.edges);
  json.field("samples_count", report.samples).field("shift_ps", report.shift_ns * 1000);
  json.key("left_out").begin_array();
  for (const auto& [what, count] : report.left_out) {
    json.begin_object();
    json.field("what", what).field("count", count).end_object();
  }
  json.end_array();
  json.field("output", job.output).end_object();
  return std::move(json).finish();
}

}  // namespace stave
