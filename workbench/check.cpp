#include "workbench/check.h"

#include <algorithm>
#include <tuple>

#include "analysis/check/check_plan.h"
#include "workbench/report_json.h"
#include "workbench/silence.h"

namespace stave {

namespace {

void add(const Problems& problems, Findings& findings) {
  for (const Problem& problem : problems) findings.push_back({problem, {}, {}, {}, {}});
}

}  // namespace

Result<CheckReport> check_schedule(const Schedule& schedule, const ParamValues& params, Mode mode, Progress* progress) {
  CheckReport report;
  Result<Expansion> expansion = expand_and_verify(schedule.module, {.params = params});
  if (!expansion) {
    add(expansion.problems(), report.findings);
  } else if (Result<Plan> plan = lower(*std::move(expansion), mode); !plan) {
    add(plan.problems(), report.findings);
  } else {
    TRY(PlanCheck checked, check_plan(*plan, {.progress = progress}));
    report.peak_device_bytes = checked.peak_device_bytes;
    report.peak_device_bytes_shared = checked.peak_device_bytes_shared;
    report.findings = std::move(checked.findings);
    silence(schedule.file, schedule.text, report.findings);
    if (!checked.exact)
      add({{Severity::Note,
            "STV1099",
            "too many ways through its control flow to look at all: what was not found may still be there",
            {.file = schedule.file},
            {}}},
          report.findings);
  }
  std::stable_sort(report.findings.begin(), report.findings.end(), [](const Finding& a, const Finding& b) {
    const Problem &x = a.problem, &y = b.problem;
    return std::tie(x.place.line, x.place.column, x.code) < std::tie(y.place.line, y.place.column, y.code);
  });
  for (const Finding& finding : report.findings) {
    const bool counts = finding.silenced.empty();
    report.silenced += !counts;
    report.errors += counts && finding.problem.severity == Severity::Error;
    report.warnings += counts && finding.problem.severity == Severity::Warning;
  }
  return report;
}

std::string to_text(const Finding& finding, std::string_view source) {
  std::string text = to_text(finding.problem, source);
  if (!finding.fix.empty()) text += fmt::format("fix: {}\n", finding.fix);
  return text;
}

namespace {

void write_finding(JsonWriter& json, const Finding& found) {
  const Problem& finding = found.problem;
  json.begin_object().field("code", finding.code).field("severity", name_of(finding.severity));
  json.key("rule").null();
  json.field("message", finding.message);
  json.key("value").null();
  json.field("file", finding.place.file).field("line", unless_zero(finding.place.line));
  json.field("column", unless_zero(finding.place.column)).field("end_line", unless_zero(finding.place.end_line));
  json.field("end_column", unless_zero(finding.place.end_column));
  json.field("command", unless_empty(found.command));
  json.key("ranks").begin_array();
  for (const Rank rank : found.ranks) json.value(rank);
  json.end_array();
  json.key("notes").begin_array();
  for (const Note& note : finding.notes) {
    json.begin_object().field("message", note.message).field("file", note.place.file);
    json.field("line", unless_zero(note.place.line)).field("column", unless_zero(note.place.column)).end_object();
  }
  json.end_array();
  json.field("fix", unless_empty(found.fix)).field("silenced_reason", unless_empty(found.silenced));
  json.end_object();
}

void write_check(JsonWriter& json, const Schedule& schedule, const CheckReport& report) {
  json.field("file", schedule.file).field("schedule_sha256", schedule.sha256).field("verdict", report.verdict());
  json.field("errors_count", report.errors)
      .field("warnings_count", report.warnings)
      .field("silenced_count", report.silenced);
  json.key("findings").begin_array();
  for (const Finding& finding : report.findings) write_finding(json, finding);
  json.end_array();
  json.field("peak_device_bytes", report.peak_device_bytes);
  json.field("peak_device_bytes_shared", report.peak_device_bytes_shared);
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
    all.silenced += file.report.silenced;
  }
  JsonWriter json;
  begin_document(json, "stave.checks/1", {});
  json.field("verdict", all.verdict()).field("errors_count", all.errors).field("warnings_count", all.warnings);
  json.field("silenced_count", all.silenced).key("files").begin_array();
  for (const CheckedFile& file : files) {
    json.begin_object();
    write_check(json, file.schedule, file.report);
    json.end_object();
  }
  json.end_array().end_object();
  return std::move(json).finish();
}

}  // namespace stave
