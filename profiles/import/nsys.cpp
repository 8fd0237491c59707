#include "profiles/import/nsys.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <future>

#include "profiles/import/byte_source.h"
#include "profiles/import/nsys_rows.h"
#include "profiles/import/rank_numbers.h"

namespace stave {
namespace {

class NsysImport final : public Import {
 public:
  explicit NsysImport(const ImportOptions& options) : options_(options) {}
  NsysImport(const NsysImport&) = delete;
  NsysImport& operator=(const NsysImport&) = delete;
  ~NsysImport() override { unwanted_ = true; }

  Result<void> open(std::span<const std::string> paths, Progress* progress) {
    if (progress != nullptr) progress->begin("looking through");
    // A hash takes as long as the look at the rows.
    for (const std::string& path : paths)
      facts_.push_back(std::async(std::launch::async, [this, path] { return facts_of(path); }));
    for (const std::string& path : paths) {
      TRY(NsysFile file, NsysFile::open(path, progress));
      files_.push_back(std::move(file));
    }
    std::int64_t rows = 0;
    for (const NsysFile& file : files_) rows += file.rows();
    if (rows == 0)
      return error_at({.file = paths.empty() ? "" : paths[0]}, "STV0731",
                      "nothing can be read: its tables of kernels, copies, API calls and ranges are empty or missing");
    number_ranks();
    return {};
  }

  RunInfo run() const override {
    RunInfo run;
    run.label = options_.label;
    run.kind = RunKind::Imported;
    for (const std::uint32_t rank : ranks_) run.world_size = std::max(run.world_size, rank + 1);
    run.tool = "stave";
    run.tool_version = STAVE_VERSION;
    if (with_dates_) run.base_unix_ns = static_cast<std::int64_t>(origin_ / ps_per_ns);
    return run;
  }

  Result<ImportReport> read(TimelineSink& sink, Progress* progress) override {
    std::int64_t rows_count = 0;
    for (const NsysFile& file : files_) rows_count += file.rows();
    if (progress != nullptr) progress->begin("importing", rows_count);
    ImportReport report;
    report.format = "nsys";
    report.format_version = files_[0].tables().schema_version();
    report.files = files_.size();
    report.ranks = static_cast<std::uint32_t>(ranks_.size());
    TRY_VOID(send_head(sink, report));
    RowBatches rows(sink);
    std::size_t first = 0;
    for (NsysFile& file : files_) {
      const std::size_t n = file.processes().size();
      NsysRows out(file, std::span(ranks_).subspan(first, n), std::span(clocks_).subspan(first, n),
                   std::span(shifts_).subspan(first, n), options_, rows, problems_, report, progress);
      TRY_VOID(out.read());
      first += n;
    }
    TRY_VOID(rows.flush());
    TRY_VOID(send_steps(sink, report));
    TRY_VOID(finish_import(rows, problems_, sink, report));
    return report;
  }

 private:
  // Ranks are processes with device work, by file and device. Files are compared
  // by their dates where all have one, else they start together.
  void number_ranks() {
    with_dates_ = std::all_of(files_.begin(), files_.end(), [](const NsysFile& file) { return file.unix_ns(); });
    std::vector<RankHint> hints;
    for (NsysFile& file : files_) {
      const WideTime date = with_dates_ ? WideTime{*file.unix_ns()} * ps_per_ns : -WideTime{file.start().count()};
      for (NsysProcess& process : file.processes()) {
        RankClock clock{.collectives = std::move(process.collectives), .start = date + file.start().count()};
        for (CollectiveSpan& span : clock.collectives.spans) {
          span.start += date;
          span.end += date;
        }
        clocks_.push_back(std::move(clock));
        dates_.push_back(date);
        const std::string name = std::filesystem::path(file.path()).filename().string();
        hints.push_back({files_.size() > 1 && file.processes().size() == 1 ? name : "", {}});
      }
    }
    ProblemCounts unsaid;  // one file's processes have no numbers to say
    numbers_ = rank_numbers(hints, files_.size() > 1 ? problems_ : unsaid);
    for (RankNumber& number : numbers_) {
      if (files_.size() == 1) number.from = "device order";
      ranks_.push_back(number.rank);
    }
    match_collectives(clocks_, problems_);
    origin_ = clocks_[0].start;
    for (const RankClock& clock : clocks_) origin_ = std::min(origin_, clock.start + clock.offset);
    for (std::size_t i = 0; i < clocks_.size(); ++i) {
      shifts_.push_back(shift(dates_[i] + clocks_[i].offset - origin_));
      // The rows look collectives up by the file's own times.
      for (CollectiveSpan& span : clocks_[i].collectives.spans) {
        span.start -= dates_[i];
        span.end -= dates_[i];
      }
    }
  }

  static Picoseconds shift(WideTime time) {
    return Picoseconds{static_cast<std::int64_t>(std::clamp(time, -most_apart, most_apart))};
  }

  Result<FileFacts> facts_of(const std::string& path) const {
    FileFacts facts;
    TRY(const std::unique_ptr<ByteSource> bytes, open_bytes(path, &facts));
    std::vector<char> buffer(1U << 20);
    while (!unwanted_) {
      TRY(const std::size_t n, bytes->read(buffer));
      if (n == 0) break;
    }
    return facts;
  }

  Result<void> send_head(TimelineSink& sink, const ImportReport& report) {
    std::vector<SourceInfo> sources;
    std::vector<RankInfo> ranks;
    for (NsysFile& file : files_) {
      TRY(const FileFacts facts, facts_[sources.size()].get());
      for (const NsysProcess& process : file.processes()) {
        const std::size_t i = ranks.size();
        RankInfo rank;
        rank.rank = ranks_[i];
        rank.rank_from = numbers_[i].from;
        if (process.id != 0) rank.pid = process.id >> 24 & thread_mask;
        rank.device = process.device;
        if (process.device) {
          rank.gpu = file.gpu(*process.device, "name");
          rank.gpu_uuid = file.gpu(*process.device, "uuid");
        }
        rank.source = static_cast<std::uint32_t>(sources.size());
        rank.clock_offset = shift(clocks_[i].offset);
        rank.clock_error = clocks_[i].error;
        rank.clock_from = clocks_[i].from;
        ranks.push_back(std::move(rank));
      }
      sources.push_back({.name = std::filesystem::path(file.path()).filename().string(),
                         .sha256 = facts.sha256,
                         .bytes = facts.bytes,
                         .format = report.format,
                         .format_version = file.tables().schema_version()});
    }
    TRY_VOID(sink.on_sources(sources));
    return sink.on_ranks(ranks);
  }

  Result<void> send_steps(TimelineSink& sink, ImportReport& report) {
    std::vector<StepSpan> spans;
    std::size_t i = 0, most = 0;
    for (NsysFile& file : files_) {
      for (const NsysProcess& process : file.processes()) {
        most = std::max(most, process.steps.size());
        for (const ProbedStep& step : process.steps)
          spans.push_back({.step = step.step,
                           .rank = ranks_[i],
                           .label = fmt::format("{}", step.step),
                           .start = step.start + shifts_[i],
                           .end = step.end + shifts_[i]});
        ++i;
      }
    }
    report.steps = static_cast<std::uint32_t>(most);
    for (std::size_t at = 0; at < spans.size(); at += max_batch_rows)
      TRY_VOID(sink.on_steps(std::span(spans).subspan(at, std::min(max_batch_rows, spans.size() - at))));
    return {};
  }

  ImportOptions options_;
  ProblemCounts problems_;
  std::vector<NsysFile> files_;
  // One for each process of each file:
  std::vector<RankNumber> numbers_;
  std::vector<std::uint32_t> ranks_;
  std::vector<RankClock> clocks_;
  std::vector<WideTime> dates_;  // time 0 of the file
  std::vector<Time> shifts_;
  WideTime origin_ = 0;
  bool with_dates_ = false;
  std::atomic<bool> unwanted_{false};
  std::vector<std::future<Result<FileFacts>>> facts_;  // by file; waits for its threads when it goes
};

}  // namespace

bool is_sqlite(std::string_view head) { return head.starts_with(std::string_view("SQLite format 3\0", 16)); }

Result<std::unique_ptr<Import>> open_nsys(std::span<const std::string> paths, const ImportOptions& options,
                                          Progress* progress) {
  auto import = std::make_unique<NsysImport>(options);
  TRY_VOID(import->open(paths, progress));
  return std::unique_ptr<Import>(std::move(import));
}

}  // namespace stave
