#include "cli/common.h"

#include <cstdio>

#include "core/base/files.h"
#include "workbench/report_json.h"

namespace stave::cli {

void add_output_options(CLI::App& app, OutputOptions& options) {
  app.add_flag("--json", options.json, "One JSON document on standard output, whatever the exit code");
  app.add_flag("-q,--quiet", options.quiet, "Print nothing but errors");
}

void add_params(CLI::App& app, std::vector<std::string>& texts) {
  app.add_option("--param", texts, "NAME=VALUE: a value for a param of the schedule; may be given again")
      ->allow_extra_args(false);
}

void add_mode(CLI::App& app, std::string& mode) {
  app.add_option("--mode", mode, "eager, captured (one CUDA graph) or captured_serial")
      ->check(CLI::IsMember({"eager", "captured", "captured_serial"}))
      ->capture_default_str();
}

Result<Schedule> open_checked(const std::string& path, const OutputOptions& output) {
  Result<Schedule> schedule = open_schedule(path);
  if (schedule) return schedule;
  // Standard input cannot be read twice: its messages come without the line.
  const Result<std::string> text = path == "-" ? Result<std::string>(std::string()) : read_file(path);
  fail(schedule.problems(), output, exit_input, path, text ? *text : "");
  return schedule;
}

Result<std::pair<std::string, std::string>> split_assignment(std::string_view option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return error_at({}, "STV0901", "{} {}: write it as NAME=VALUE", option, text);
  return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

Result<ParamValues> params_of(const std::vector<std::string>& texts) {
  ParamValues values;
  for (const std::string& text : texts) {
    TRY(auto pair, split_assignment("--param", text));
    for (const auto& [name, value] : values)
      if (name == pair.first) return error_at({}, "STV0901", "--param {}: given twice", name);
    values.push_back(std::move(pair));
  }
  return values;
}

int fail(const Problems& problems, const OutputOptions& output, int exit_code, std::string_view file,
         std::string_view text) {
  if (output.json) {
    print(error_json(problems));
    return exit_code;
  }
  for (const Problem& problem : problems)
    note(to_text(problem, problem.place.file == file ? text : std::string_view{}));
  return exit_code;
}

int fail(const Problems& problems, const OutputOptions& output, int exit_code, const Schedule& schedule) {
  return fail(problems, output, exit_code, schedule.file, schedule.text);
}

int usage_error(std::string message, const OutputOptions& output) {
  return fail({{Severity::Error, "STV0901", std::move(message), {}, {}}}, output, exit_input);
}

void print_problems(const Problems& problems, const OutputOptions& output) {
  for (const Problem& problem : problems)
    if (!output.quiet || problem.severity == Severity::Error) note(to_text(problem));
}

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }
void note(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace stave::cli
