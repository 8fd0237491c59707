#include "workbench/check.h"

#include <algorithm>
#include <tuple>

#include "workbench/report_json.h"

namespace stave {

CheckReport check_schedule(const Schedule& schedule, const ParamValues& params, Mode mode) {
  CheckReport report;
  Result<Expansion> expansion = expand_and_verify(schedule.module, {.params = params});
  if (!expansion) {
    report.findings = expansion.problems();
  } else if (Result<Plan> plan = lower(*std::move(expansion), mode); !plan) {
    report.findings = plan.problems();
  } else {
    std::int64_t peak = 0;
    for (const RankClass& rank_class : plan->classes) peak = std::max(peak, device_bytes(rank_class.expanded));
    report.peak_device_bytes = peak;
  }
  report.findings.push_back({Severity::Note,
                             "STV0900",
                             "ordering across streams and ranks, races and deadlocks are not analysed yet",
                             {.file = schedule.file},
                             {}});
  std::stable_sort(report.findings.begin(), report.findings.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.place.line, a.place.column, a.code) < std::tie(b.place.line, b.place.column, b.code);
  });
  for (const Problem& finding : report.findings) {
    report.errors += finding.severity == Severity::Error;
    report.warnings += finding.severity == Severity::Warning;
  }
  return report;
}

namespace {

void write_finding(JsonWriter& json, const Problem& finding) {
  json.begin_object().field("code", finding.code).field("severity", name_of(finding.severity));
  json.key("rule").null();
  json.field("message", finding.message);
  json.key("value").null();
  json.field("file", finding.place.file).field("line", unless_zero(finding.place.line));
  json.field("column", unless_zero(finding.place.column)).field("end_line", unless_zero(finding.place.end_line));
  json.field("end_column", unless_zero(finding.place.end_column));
  json.key("command").null();
  json.key("ranks").begin_array().end_array();
  json.key("notes").begin_array();
  for (const Note& note : finding.notes) {
    json.begin_object().field("message", note.message).field("file", note.place.file);
    json.field("line", unless_zero(note.place.line)).field("column", unless_zero(note.place.column)).end_object();
  }
  json.end_array();
  json.key("fix").null();
  json.key("silenced_reason").null();
  json.end_object();
}

void write_check(JsonWriter& json, const Schedule& schedule, const CheckReport& report) {
  json.field("file", schedule.file).field("schedule_sha256", schedule.sha256).field("verdict", report.verdict());
  json.field("errors_count", report.errors).field("warnings_count", report.warnings).field("silenced_count", 0);
  json.key("findings").begin_array();
  for (const Problem& finding : report.findings) write_finding(json, finding);
  json.end_array();
  json.field("peak_device_bytes", report.peak_device_bytes);
}

}  // namespace

std::string check_json(const CheckedFile& checked) {
  JsonWriter json;
  begin_document(json, "stave.check/1", {});
  write_check(json, checked.schedule, checked.report);
  json.end_object();
  return std::move(json).finish();
}

std::string checks_json(std::span<const CheckedFile> files) {
  CheckReport all;
  for (const CheckedFile& file : files) {
    all.errors += file.report.errors;
    all.warnings += file.report.warnings;
  }
  JsonWriter json;
  begin_document(json, "stave.checks/1", {});
  json.field("verdict", all.verdict()).field("errors_count", all.errors).field("warnings_count", all.warnings);
  json.field("silenced_count", 0).key("files").begin_array();
  for (const CheckedFile& file : files) {
    json.begin_object();
    write_check(json, file.schedule, file.report);
    json.end_object();
  }
  json.end_array().end_object();
  return std::move(json).finish();
}

}  // namespace stave
