#include "profiles/import/kineto.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiles/import/kineto_rows.h"
#include "profiles/import/take_events.h"
#include "profiles/import/trace_texts.h"

namespace stave {
namespace {

// Between 2001 and 2100 a time counts from 1970.
constexpr WideTime unix_from = WideTime{978'307'200} * 1'000'000'000'000;
constexpr WideTime unix_to = WideTime{4'102'444'800} * 1'000'000'000'000;

class KinetoImport final : public Import {
 public:
  KinetoImport(TraceTexts texts, const ImportOptions& options) : texts_(std::move(texts)), options_(options) {}

  Result<void> probe(Progress* progress) {
    begin(progress, "looking through");
    std::atomic<std::int64_t> read{0};
    TRY_VOID(texts_.each(
        [&](const TraceText& text) -> Result<void> {
          KinetoProbe& probe = probes_.emplace_back();
          probe.name = text.name;
          probe.source = text.source;
          return probe_kineto(*text.bytes, text.display, probe, progress, &read);
        },
        [](const std::string&, const Problem&) {}, &read));
    std::int64_t events = 0;
    for (const KinetoProbe& probe : probes_) events += probe.events;
    if (events == 0)
      return error_at({.file = probes_.empty() ? "" : probes_[0].display}, "STV0731",
                      "nothing can be read: it holds no whole event");
    number_ranks();
    return {};
  }

  RunInfo run() const override {
    RunInfo run;
    run.label = options_.label;
    run.kind = RunKind::Imported;
    run.world_size = static_cast<std::uint32_t>(probes_.size());
    for (std::size_t i = 0; i < probes_.size(); ++i)
      run.world_size = std::max({run.world_size, probes_[i].world_size.value_or(0), ranks_[i].rank + 1});
    run.tool = "stave";
    run.tool_version = STAVE_VERSION;
    if (origin_ > unix_from && origin_ < unix_to) run.base_unix_ns = static_cast<std::int64_t>(origin_ / ps_per_ns);
    return run;
  }

  Result<ImportReport> read(TimelineSink& sink, Progress* progress) override {
    begin(progress, "importing");
    ImportReport report;
    report.format = "kineto";
    report.format_version = probes_[0].schema_version;
    report.files = texts_.sources().size();
    report.ranks = static_cast<std::uint32_t>(probes_.size());
    TRY_VOID(send_head(sink, report));
    RowBatches rows(sink);
    std::atomic<std::int64_t> read{0};
    std::size_t next = 0;
    TRY_VOID(texts_.each(
        [&](const TraceText& text) -> Result<void> {
          KinetoProbe& probe = probes_[next];
          TRY_VOID(read_text(text, probe, next, rows, report, progress, read));
          ++next;
          probe.launches = {};
          return {};
        },
        [&](const std::string& file, const Problem& why) {
          problems_.say(problem_kinds::damaged, {.file = file}, why.message);
        },
        &read));
    TRY_VOID(rows.flush());
    TRY_VOID(send_steps(sink, report));
    texts_.count_unread(report.format, problems_);
    TRY_VOID(finish_import(rows, problems_, sink, report));
    return report;
  }

 private:
  void begin(Progress* progress, const char* what) const {
    if (progress != nullptr) progress->begin(what, texts_.total_bytes());
  }

  void number_ranks() {
    std::vector<RankHint> hints;
    for (KinetoProbe& probe : probes_) {
      hints.push_back({probe.name, probe.said_rank});
      clocks_.push_back({.collectives = std::move(probe.collectives), .start = probe.start});
    }
    ranks_ = rank_numbers(hints, problems_);
    match_collectives(clocks_, problems_);
    origin_ = clocks_[0].start;
    for (const RankClock& clock : clocks_) origin_ = std::min(origin_, clock.start + clock.offset);
  }

  Result<void> send_head(TimelineSink& sink, const ImportReport& report) {
    std::vector<SourceInfo> sources = texts_.sources();
    for (SourceInfo& source : sources) {
      source.format = report.format;
      source.format_version = report.format_version;
    }
    TRY_VOID(sink.on_sources(sources));
    std::vector<RankInfo> ranks;
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      RankInfo rank;
      rank.rank = ranks_[i].rank;
      rank.rank_from = ranks_[i].from;
      rank.device = probes_[i].device;
      rank.gpu = probes_[i].gpu;
      rank.source = probes_[i].source;
      rank.clock_offset = shift(clocks_[i].offset);
      rank.clock_error = clocks_[i].error;
      rank.clock_from = clocks_[i].from;
      ranks.push_back(std::move(rank));
    }
    return sink.on_ranks(ranks);
  }

  static Picoseconds shift(WideTime time) {
    return Picoseconds{static_cast<std::int64_t>(std::clamp(time, -most_apart, most_apart))};
  }

  Result<void> read_text(const TraceText& text, KinetoProbe& probe, std::size_t i, RowBatches& rows,
                         ImportReport& report, Progress* progress, const std::atomic<std::int64_t>& read) {
    JsonEvents events(*text.bytes, text.display, &problems_);
    KinetoRows out(probe, clocks_[i], ranks_[i].rank, shift(probe.start + clocks_[i].offset - origin_), options_, rows,
                   problems_, report);
    return take_events<TraceEvent>(events, out, rows, progress, read);
  }

  Result<void> send_steps(TimelineSink& sink, ImportReport& report) {
    std::vector<StepSpan> spans;
    std::size_t most = 0;
    for (std::size_t i = 0; i < probes_.size(); ++i) {
      const Time by = shift(probes_[i].start + clocks_[i].offset - origin_);
      most = std::max(most, probes_[i].steps.size());
      for (const ProbedStep& step : probes_[i].steps)
        spans.push_back({.step = step.step,
                         .rank = ranks_[i].rank,
                         .label = fmt::format("ProfilerStep#{}", step.step),
                         .start = step.start + by,
                         .end = step.end + by});
    }
    report.steps = static_cast<std::uint32_t>(most);
    for (std::size_t at = 0; at < spans.size(); at += max_batch_rows)
      TRY_VOID(sink.on_steps(std::span(spans).subspan(at, std::min(max_batch_rows, spans.size() - at))));
    return {};
  }

  TraceTexts texts_;
  ImportOptions options_;
  ProblemCounts problems_;
  std::vector<KinetoProbe> probes_;
  std::vector<RankNumber> ranks_;
  std::vector<RankClock> clocks_;
  WideTime origin_ = 0;
};

}  // namespace

bool is_chrome_json(std::string_view head) {
  if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
  const std::size_t first = head.find_first_not_of(" \n\r\t");
  if (first == std::string_view::npos || (head[first] != '{' && head[first] != '[')) return false;
  for (const std::string_view key : {"\"traceEvents\"", "\"schemaVersion\"", "\"distributedInfo\"",
                                     "\"deviceProperties\"", "\"displayTimeUnit\"", "\"ph\""})
    if (head.find(key) != std::string_view::npos) return true;
  return false;
}

Result<std::unique_ptr<Import>> open_chrome_json(std::span<const std::string> paths, const ImportOptions& options,
                                                 Progress* progress) {
  TRY(TraceTexts texts, TraceTexts::find(paths, importer_named("kineto").suffixes));
  auto import = std::make_unique<KinetoImport>(std::move(texts), options);
  TRY_VOID(import->probe(progress));
  return std::unique_ptr<Import>(std::move(import));
}

}  // namespace stave
