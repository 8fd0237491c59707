// What the importers of protobuf formats do alike, once their files were probed.
#pragma once

#include <atomic>
#include <string>
#include <utility>

#include "profiles/import/import_ranks.h"
#include "profiles/import/importer.h"
#include "profiles/import/kineto_probe.h"
#include "profiles/import/row_batches.h"
#include "profiles/import/take_events.h"
#include "profiles/import/trace_texts.h"

namespace stave {

// Sends sources, ranks, the rows of each text and steps. read_text(text, i, rows, report, read) of the i-th.
template <class ReadText>
Result<ImportReport> read_texts(TraceTexts& texts, ImportRanks& ranks, ProblemCounts& problems, ImportReport report,
                                TimelineSink& sink, Progress* progress, ReadText&& read_text) {
  if (progress != nullptr) progress->begin("importing", texts.total_bytes());
  report.files = texts.sources().size();
  report.ranks = static_cast<std::uint32_t>(ranks.all.size());
  std::vector<SourceInfo> sources = texts.sources(report.format);
  for (SourceInfo& source : sources) source.format_version = report.format_version;
  TRY_VOID(sink.on_sources(sources));
  TRY_VOID(ranks.send(sink));
  RowBatches rows(sink);
  std::atomic<std::int64_t> read{0};
  std::size_t next = 0;
  const auto damaged = [&](const std::string& file, const Problem& why) {
    problems.say(problem_kinds::damaged, {.file = file}, why.message);
  };
  const auto one = [&](const TraceText& text) -> Result<void> { return read_text(text, next++, rows, report, read); };
  TRY_VOID(texts.each(one, damaged, &read));
  TRY_VOID(rows.flush());
  TRY_VOID(ranks.send_steps(sink, report.steps));
  texts.count_unread(report.format, problems);
  TRY_VOID(finish_import(rows, problems, sink, report));
  return report;
}

}  // namespace stave
