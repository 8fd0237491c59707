// What all verbs share: exit codes, options of one meaning, and how problems
// reach the person or the program that asked.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "workbench/schedule.h"

namespace stave::cli {

// The contract's exit codes.
inline constexpr int exit_ok = 0;
inline constexpr int exit_finding = 1;        // an error finding, a difference, a deadlock, a failed case
inline constexpr int exit_input = 2;          // cannot be read or parsed, breaks a rule, unknown name or option
inline constexpr int exit_machine = 3;        // disk, device, watchdog
inline constexpr int exit_interrupted = 130;  // Ctrl-C

struct OutputOptions {
  bool json = false;
  bool quiet = false;
};
void add_output_options(CLI::App& app, OutputOptions& options);

// --param NAME=VALUE, any number of times.
void add_params(CLI::App& app, std::vector<std::string>& texts);
Result<ParamValues> params_of(const std::vector<std::string>& texts);

// --mode: eager, captured or captured_serial.
void add_mode(CLI::App& app, std::string& mode);

// Opens a schedule; when it cannot be read or parsed, that is told already.
Result<Schedule> open_checked(const std::string& path, const OutputOptions& output);

// "name=value" split at the first '='; `option` stands in the error (STV0901).
Result<std::pair<std::string, std::string>> split_assignment(std::string_view option, const std::string& text);

// Problems as text on stderr, or as a stave.error/1 document on stdout with
// --json. Those that stand in `file` show their line of `text`. Returns `exit_code`.
int fail(const Problems& problems, const OutputOptions& output, int exit_code, std::string_view file = {},
         std::string_view text = {});
int fail(const Problems& problems, const OutputOptions& output, int exit_code, const Schedule& schedule);
int usage_error(std::string message, const OutputOptions& output = {});

// What is known about a run that could be read: with --quiet errors only.
void print_problems(const Problems& problems, const OutputOptions& output);

void print(std::string_view text);  // to stdout
void note(std::string_view text);   // to stderr

}  // namespace stave::cli
