// RUN: check [mode=M] [NAME=VALUE ...]: what `stave check` prints, and "clean" or the counts. `mode=` is eager by
// default; NAME=VALUE arguments set params.
#include <fmt/format.h>

#include "core/text/parse.h"
#include "tests/modes/modes.h"
#include "workbench/check.h"

namespace stave {

std::string run_check(const FileTest& test) {
  Result<Module> module = parse(test.name, test.input);
  if (!module) return text_of(module.problems());
  ParamValues params;
  Mode mode = Mode::Eager;
  for (const std::string& arg : test.args) {
    const std::size_t equals = arg.find('=');
    const std::string name = arg.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : arg.substr(equals + 1);
    if (name == "mode")
      mode = mode_named(value).value_or(Mode::Eager);
    else
      params.emplace_back(name, value);
  }
  const Schedule schedule{test.name, test.input, "", std::make_shared<const Module>(*std::move(module))};
  const Result<CheckReport> report = check_schedule(schedule, params, mode);
  if (!report) return text_of(report.problems());
  std::string text;
  for (const Finding& finding : report->findings)
    text += finding.silenced.empty() ? to_text(finding, {})
                                     : fmt::format("silenced {}: {}\n", finding.problem.code, finding.silenced);
  return text + fmt::format("{}, errors: {}, warnings: {}\n", report->verdict(), report->errors, report->warnings);
}

}  // namespace stave
