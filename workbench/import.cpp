#include "workbench/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/utf8.h"
#include "profiles/store_reader.h"
#include "profiles/store_writer.h"
#include "workbench/nsys_export.h"
#include "workbench/outputs.h"
#include "workbench/report_json.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

// Keeps what passes through that a report of the import wants.
class Watched final : public TimelineSink {
 public:
  explicit Watched(StoreWriter& to) : to_(to) {}
  const std::vector<SourceInfo>& sources() const { return sources_; }

  Result<void> on_sources(std::span<const SourceInfo> batch) override {
    sources_.insert(sources_.end(), batch.begin(), batch.end());
    return to_.on_sources(batch);
  }
  Result<void> on_ranks(std::span<const RankInfo> batch) override { return to_.on_ranks(batch); }
  Result<void> on_names(std::span<const std::string_view> batch) override { return to_.on_names(batch); }
  Result<void> on_tracks(std::span<const Track> batch) override { return to_.on_tracks(batch); }
  Result<void> on_commands(std::span<const TimelineCommand> batch) override { return to_.on_commands(batch); }
  Result<void> on_slices(std::span<const Slice> batch) override { return to_.on_slices(batch); }
  Result<void> on_flows(std::span<const SliceFlow> batch) override { return to_.on_flows(batch); }
  Result<void> on_kernels(std::span<const KernelDetail> batch) override { return to_.on_kernels(batch); }
  Result<void> on_copies(std::span<const CopyDetail> batch) override { return to_.on_copies(batch); }
  Result<void> on_calls(std::span<const ApiDetail> batch) override { return to_.on_calls(batch); }
  Result<void> on_args(std::span<const ArgsDetail> batch) override { return to_.on_args(batch); }
  Result<void> on_collectives(std::span<const CollectiveDetail> batch) override { return to_.on_collectives(batch); }
  Result<void> on_costs(std::span<const CostPart> batch) override { return to_.on_costs(batch); }
  Result<void> on_counters(std::span<const CounterSample> batch) override { return to_.on_counters(batch); }
  Result<void> on_steps(std::span<const StepSpan> batch) override { return to_.on_steps(batch); }
  Result<void> on_problems(std::span<const TimelineProblem> batch) override { return to_.on_problems(batch); }

 private:
  StoreWriter& to_;
  std::vector<SourceInfo> sources_;
};

// What needs no list of formats to be told.
Result<void> check_trace(const std::string& file) {
  std::error_code error;
  if (fs::is_fifo(file, error))
    return error_at({.file = file}, "STV0731", "it is a pipe, and a trace is read more than once; name a file");
  if (fs::is_regular_file(file, error) && fs::file_size(file, error) == 0)
    return error_at({.file = file}, "STV0731", "it is empty");
  if (open_store(file))
    return error_at({.file = file}, "STV0731", "it is a run file already; try: stave report {}", file);
  return {};
}

// "1,234,567"
std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace

bool is_output_problem(const Problem& problem, const ImportJob& job) {
  return problem.code != "STV0913" && problem.place.file.starts_with(job.output) &&
         std::find(job.files.begin(), job.files.end(), problem.place.file) == job.files.end();
}

Result<Imported> import_traces(const ImportJob& job, Progress* progress) {
  std::error_code error;
  for (const std::string& file : job.files)
    if (fs::equivalent(file, job.output, error))
      return error_at({.file = file}, "STV0733", "the run file would replace it; name another with -o");
  TRY_VOID(check_output({"-o", job.output, OutputKind::Run}, job.replace));

  for (const std::string& file : job.files) TRY_VOID(check_trace(file));
  NsysExports exports;
  std::vector<std::string> files = job.files;
  if (job.with_nsys) {
    if (progress != nullptr) progress->begin("nsys export");
    TRY_VOID(exports.replace_reports(files, progress));
  }
  TRY(const Importer* const importer, find_importer(files));
  TRY(const std::unique_ptr<Import> trace, importer->open(files, job.options, progress));
  Imported imported{.report = {}, .run = trace->run()};
  TRY(StoreWriter writer, StoreWriter::create(job.output, imported.run));
  Watched sink(writer);
  const auto written = [&]() -> Result<void> {
    TRY(imported.report, trace->read(sink, progress));
    if (progress != nullptr) progress->begin("storing");
    return writer.close();
  }();
  if (!written) {
    if (written.problems()[0].code != "STV0950") writer.discard();
    return Failure(written.problems());
  }
  imported.sources = sink.sources();
  return imported;
}

std::string import_text(const Imported& imported, const ImportJob& job) {
  const ImportReport& report = imported.report;
  std::string out = fmt::format("{}{}{}, {}", report.format, report.format_version.empty() ? "" : " ",
                                printable(report.format_version), count_text(report.ranks, "rank"));
  if (report.steps > 0) out += ", " + count_text(report.steps, "step");
  out += '\n';
  const auto line = [&](std::string_view what, std::int64_t n, std::string_view more = "") {
    if (n > 0) out += fmt::format("  {:10}{:>12}{}\n", what, grouped(n), more);
  };
  line("kernels", report.kernels);
  line("copies", report.copies);
  line("API calls", report.calls);
  line("slices", report.slices);
  line("edges", report.flows,
       report.inferred_flows > 0 ? fmt::format(", {} of them inferred", grouped(report.inferred_flows)) : "");
  line("orphans", report.orphans, ", GPU records whose launch was not recorded");
  line("overlaps", report.overlaps, ", on one stream");
  out += fmt::format("stored in {0}; try: stave report {0}\n", printable(job.output));
  return out;
}

std::string import_json(const Imported& imported, const ImportJob& job) {
  const ImportReport& report = imported.report;
  const auto unless_empty = [](const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<std::string>(text);
  };
  JsonWriter json;
  json.begin_object();
  json.field("schema", "stave.import/1").field("stave_version", STAVE_VERSION);
  json.key("problems").begin_array();
  for (const TimelineProblem& problem : report.problems) {
    json.begin_object();
    json.field("code", problem.code).field("severity", name_of(problem.severity)).field("count", problem.count);
    json.field("message", problem.message).field("file", unless_empty(problem.file));
    json.key("line").null().key("column").null();
    json.field("byte", problem.byte).end_object();
  }
  json.end_array();
  json.key("run");
  write_run(json, {.label = imported.run.label,
                   .kind = std::string(name_of(imported.run.kind)),
                   .mode = imported.run.mode,
                   .file = job.output,
                   .schedule = "",
                   .schedule_sha256 = "",
                   .machine = "",
                   .machine_sha256 = "",
                   .ranks_count = report.ranks,
                   .world_ranks_count = std::max<std::size_t>(imported.run.world_size, report.ranks),
                   .steps_count = report.steps});
  json.field("format", report.format).field("format_version", unless_empty(report.format_version));
  json.key("sources").begin_array();
  for (const SourceInfo& source : imported.sources) {
    json.begin_object().field("name", source.name).field("size_bytes", source.bytes);
    json.field("sha256", source.sha256).end_object();
  }
  json.end_array();
  json.field("slices_count", report.slices).field("kernels_count", report.kernels);
  json.field("copies_count", report.copies).field("calls_count", report.calls);
  json.field("orphans_count", report.orphans).field("overlaps_count", report.overlaps);
  json.field("edges_count", report.flows).field("inferred_edges_count", report.inferred_flows);
  json.field("data_lost", report.data_lost).field("output", job.output).end_object();
  return std::move(json).finish();
}

}  // namespace stave
